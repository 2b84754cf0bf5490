package ask

import (
	"context"
	"time"

	"github.com/refract-eval/refract/cache"
)

// How often to look whether another process has the answer it asks for.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = 2 * time.Second
)

// claim claims what nobody asks for yet. What it is granted stands in claimed,
// for the first question of each key; others of the same key look again, or
// share its call.
func (a *Asker) claim(ctx context.Context, absent []cache.Key) error {
	var keys []cache.Key
	a.mu.Lock()
	for _, key := range absent {
		if _, taken := a.claimed[key]; !taken {
			a.claimed[key] = false
			keys = append(keys, key)
		}
	}
	a.mu.Unlock()
	if len(keys) == 0 {
		return nil
	}
	granted, err := a.cfg.Store.Claim(ctx, keys)
	a.mu.Lock()
	defer a.mu.Unlock()
	for n, key := range keys {
		if err == nil && granted[n] {
			a.claimed[key] = true
		} else {
			delete(a.claimed, key)
		}
	}
	return err
}

// elsewhere waits for an answer that somebody else asks for, or has just got,
// and takes over if it does not come. It holds no slot while it waits.
func (r *run) elsewhere(w waiter) error {
	key := w.question().Key
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		r.mu.Lock()
		joined := r.join(w)
		abandoned := r.calls[key]
		mine, taken := r.claimed[key]
		if !taken {
			r.claimed[key] = false
		}
		r.mu.Unlock()
		if joined {
			return nil
		}
		if abandoned != nil {
			// Its answer may be on its way into the store.
			if err := r.wait(abandoned.done); err != nil {
				return err
			}
			continue
		}
		if !taken {
			var ans cache.Answer
			var found bool
			var err error
			ans, found, mine, err = r.look(r.ctx, key)
			r.mu.Lock()
			if mine {
				r.claimed[key] = true
			} else {
				delete(r.claimed, key)
			}
			r.mu.Unlock()
			if err != nil {
				if ended := r.ctx.Err(); ended != nil {
					return ended
				}
				return w.task.at(w.i, err)
			}
			if found {
				w.deliver(Result{Answer: ans})
				return nil
			}
		}
		if mine {
			if placed, err := r.place(w); placed || err != nil {
				return err
			}
			continue
		}
		select {
		case <-time.After(pause):
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	}
}

// look claims a key, or finds its answer. Who holds no claim and finds none
// looks again.
func (a *Asker) look(ctx context.Context, key cache.Key) (ans cache.Answer, found, mine bool, err error) {
	keys := []cache.Key{key}
	// A claim is refused where there is an answer, so that none is missed.
	granted, err := a.cfg.Store.Claim(ctx, keys)
	if err != nil || granted[0] {
		return ans, false, err == nil, err
	}
	answers, has, err := a.answers.Get(ctx, keys)
	if err != nil || !has[0] {
		return ans, false, false, err
	}
	return answers[0], true, false, nil
}

// release lets other processes ask. The store tries a release that failed
// again.
func (a *Asker) release(ctx context.Context, keys ...cache.Key) {
	if len(keys) == 0 {
		return
	}
	ctx, cancel := outlast(ctx, grace)
	defer cancel()
	_ = a.cfg.Store.Release(ctx, keys)
}
