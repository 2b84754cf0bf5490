package ask

import (
	"context"
	"time"

	"github.com/refract-eval/refract/cache"
)

// How often to look whether another process has the answer it asks for.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = 500 * time.Millisecond
)

// Claim takes it upon this process to ask for what the store lacks, as far as
// no other process does. What it gets stands in mine, for the first question of
// each key; others of the same key look again, or share its call.
func (r *Run) Claim(absent []cache.Key) error {
	a := r.asker
	if !a.claims() {
		return nil
	}
	var keys []cache.Key
	a.mu.Lock()
	for _, key := range absent {
		_, taken := a.mine[key]
		if _, flies := a.flights[key]; taken || flies {
			continue
		}
		a.mine[key] = false
		keys = append(keys, key)
	}
	a.mu.Unlock()
	if len(keys) == 0 {
		return nil
	}
	granted, err := a.cfg.Store.Claim(r.ctx, keys)
	a.mu.Lock()
	for n, key := range keys {
		if err == nil && granted[n] {
			a.mine[key] = true
		} else {
			delete(a.mine, key)
		}
	}
	a.mu.Unlock()
	return err
}

// may reports whether this process may ask for an answer without another look
// at the store. The caller holds a.mu.
func (a *Asker) may(key cache.Key) bool { return !a.claims() || a.mine[key] }

// elsewhere waits for an answer that another process asks for, or has just
// given, and takes over if it does not come. It holds no slot while it waits.
func (a *Asker) elsewhere(r *Run, w *waiting) (*flight, error) {
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		a.mu.Lock()
		f := a.share(r, w)
		may, taken := a.mine[w.Key]
		if f == nil && !taken {
			a.mine[w.Key] = false
		}
		a.mu.Unlock()
		if f != nil {
			return f, nil
		}
		if !taken {
			ans, state, err := a.look(r.ctx, w.Key)
			may = state == mayAsk
			a.mu.Lock()
			if may {
				a.mine[w.Key] = true
			} else {
				delete(a.mine, w.Key)
			}
			a.mu.Unlock()
			switch {
			case err != nil:
				return nil, err
			case state == answered:
				return landed(ans), nil
			}
		}
		if may {
			return a.board(r, w)
		}
		select {
		case <-time.After(pause):
		case <-r.ctx.Done():
			return nil, r.ctx.Err()
		}
	}
}

// What a look at the store may find.
type state uint8

const (
	asked    state = iota // another process asks
	answered              // there is an answer
	mayAsk                // the claim is granted
)

// look claims a key, or finds its answer.
func (a *Asker) look(ctx context.Context, key cache.Key) (cache.Answer, state, error) {
	// Claiming tells of an answer too, so that there is no gap between the two.
	granted, err := a.cfg.Store.Claim(ctx, []cache.Key{key})
	switch {
	case err != nil:
		return cache.Answer{}, asked, err
	case granted[0]:
		return cache.Answer{}, mayAsk, nil
	}
	ans, ok, err := a.stored(ctx, key)
	if err != nil || !ok {
		return cache.Answer{}, asked, err
	}
	return ans, answered, nil
}

// lookAgain returns the answer to a request, or takes it upon this process to
// ask for it.
func (a *Asker) lookAgain(ctx context.Context, key cache.Key) (cache.Answer, bool, error) {
	if !a.claims() {
		return a.stored(ctx, key)
	}
	for {
		ans, state, err := a.look(ctx, key)
		if err != nil || state != asked {
			return ans, state == answered, err
		}
		select {
		case <-time.After(firstLook):
		case <-ctx.Done():
			return cache.Answer{}, false, ctx.Err()
		}
	}
}

// stored looks for one answer.
func (a *Asker) stored(ctx context.Context, key cache.Key) (cache.Answer, bool, error) {
	answers, found, err := a.answers.Get(ctx, []cache.Key{key})
	if err != nil {
		return cache.Answer{}, false, err
	}
	return answers[0], found[0], nil
}

// release lets other processes ask. The store tries a release that failed
// again.
func (a *Asker) release(ctx context.Context, keys ...cache.Key) {
	if !a.claims() || len(keys) == 0 {
		return
	}
	ctx, cancel := outlast(ctx, grace)
	defer cancel()
	_ = a.cfg.Store.Release(ctx, keys)
}
