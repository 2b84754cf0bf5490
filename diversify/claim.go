package diversify

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

// claimRounds takes it upon this process to ask for what the jobs lack, as far
// as no other process does. What it gets stands in x.mine, for the first ask
// of each key; others of the same key look again, or share its call.
func (x *Expander) claimRounds(ctx context.Context, jobs ...*job) error {
	if x.claims == nil {
		return nil
	}
	var keys []cache.Key
	var first *job
	x.mu.Lock()
	for _, j := range jobs {
		for _, i := range j.absent {
			key := j.asks[i].key
			_, taken := x.mine[key]
			if _, flies := x.flights[key]; taken || flies {
				continue
			}
			x.mine[key] = false
			keys = append(keys, key)
			if first == nil {
				first = j
			}
		}
	}
	x.mu.Unlock()
	if len(keys) == 0 {
		return nil
	}
	granted, err := x.claims.Claim(ctx, keys)
	x.mu.Lock()
	for n, key := range keys {
		if err == nil && granted[n] {
			x.mine[key] = true
		} else {
			delete(x.mine, key)
		}
	}
	x.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		err = x.fail(first, &first.asks[first.absent[0]], err)
	}
	return err
}

// may reports whether this process may ask for an answer without another look
// at the store. The caller holds x.mu.
func (x *Expander) may(key cache.Key) bool { return x.claims == nil || x.mine[key] }

// elsewhere waits for an answer that another process asks for, or has just
// given, and takes over if it does not come. It holds no slot while it waits.
func (x *Expander) elsewhere(r *run, j *job, a *ask) (*flight, error) {
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		x.mu.Lock()
		f := x.share(r, j, a)
		may, taken := x.mine[a.key]
		if f == nil && !taken {
			x.mine[a.key] = false
		}
		x.mu.Unlock()
		if f != nil {
			return f, nil
		}
		if !taken {
			ans, state, err := x.look(r.ctx, a.key)
			may = state == mayAsk
			x.mu.Lock()
			if may {
				x.mine[a.key] = true
			} else {
				delete(x.mine, a.key)
			}
			x.mu.Unlock()
			switch {
			case err != nil:
				return nil, err
			case state == answered:
				return landed(ans), nil
			}
		}
		if may {
			return x.board(r, j, a)
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
func (x *Expander) look(ctx context.Context, key cache.Key) (cache.Answer, state, error) {
	// Claiming tells of an answer too, so that there is no gap between the two.
	granted, err := x.claims.Claim(ctx, []cache.Key{key})
	switch {
	case err != nil:
		return cache.Answer{}, asked, err
	case granted[0]:
		return cache.Answer{}, mayAsk, nil
	}
	ans, ok, err := x.stored(ctx, key)
	if err != nil || !ok {
		return cache.Answer{}, asked, err
	}
	return ans, answered, nil
}

// lookAgain returns the answer to a request, or takes it upon this process to
// ask for it.
func (x *Expander) lookAgain(ctx context.Context, key cache.Key) (cache.Answer, bool, error) {
	if x.claims == nil {
		return x.stored(ctx, key)
	}
	for {
		ans, state, err := x.look(ctx, key)
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
func (x *Expander) stored(ctx context.Context, key cache.Key) (cache.Answer, bool, error) {
	answers, found, err := cache.GetMany(ctx, x.cfg.Store, []cache.Key{key})
	if err != nil {
		return cache.Answer{}, false, err
	}
	return answers[0], found[0], nil
}

// release lets other processes ask. The store tries a release that failed
// again.
func (x *Expander) release(ctx context.Context, keys ...cache.Key) {
	if x.claims == nil || len(keys) == 0 {
		return
	}
	ctx, cancel := outlast(ctx, grace)
	defer cancel()
	_ = x.claims.Release(ctx, keys)
}
