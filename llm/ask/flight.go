package ask

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/refract-eval/refract/cache"
)

// grace is how long an answer that has arrived may take to be stored after
// the run was cancelled.
const grace = 500 * time.Millisecond

// flight is one call, shared by all who have the same request while it runs.
// It belongs to none of them: it is cancelled when the last one has left, and
// not when the one that began it does.
type flight struct {
	cancel context.CancelFunc
	// Who shares it, guarded by Asker.mu.
	aboard int
	left   int           // of those, who have left; all of them abandon it
	fail   []func(error) // end the runs of those who wait for it
	done   chan struct{}

	// The result, once done is closed.
	answer    cache.Answer
	called    bool // the model was asked
	err       error
	tolerated bool // err concerns this request alone

	told atomic.Bool // somebody has counted the call
}

// landed is a flight that is over, with an answer that was stored.
func landed(ans cache.Answer) *flight {
	f := &flight{answer: ans, aboard: 1, done: make(chan struct{})}
	close(f.done)
	return f
}

// share joins the flight of a request, if there is one that is not abandoned.
// The caller holds a.mu.
func (a *Asker) share(r *Run, w *waiting) *flight {
	f := a.flights[w.Key]
	if f == nil || f.aboard == f.left {
		return nil
	}
	f.join(r, w)
	return f
}

func (f *flight) join(r *Run, w *waiting) {
	f.aboard++
	f.fail = append(f.fail, func(err error) { r.end(w.wrap(err)) })
}

// board takes a slot and begins the flight of a request, or joins the one that
// there is by then.
func (a *Asker) board(r *Run, w *waiting) (*flight, error) {
	select {
	case a.slots <- struct{}{}:
	case <-r.ctx.Done():
		return nil, r.ctx.Err()
	}
	if err := r.ctx.Err(); err != nil {
		<-a.slots // both were ready
		return nil, err
	}
	for {
		a.mu.Lock()
		if f := a.share(r, w); f != nil {
			a.mu.Unlock()
			<-a.slots // the flight has one of its own
			return f, nil
		}
		abandoned := a.flights[w.Key]
		if abandoned == nil {
			break
		}
		// Its answer may be on its way into the store.
		a.mu.Unlock()
		<-abandoned.done
	}
	own, cancel := context.WithCancel(context.WithoutCancel(r.ctx))
	f := &flight{cancel: cancel, done: make(chan struct{})}
	f.join(r, w)
	a.flights[w.Key] = f
	again := !a.mine[w.Key] // its claim has been made use of, if there was one
	workers := a.workers
	a.mu.Unlock()
	workers.run(func() { a.fly(own, f, w, again) })
	return f, nil
}

// drain waits for a call after its run has ended for another reason than the
// caller's wish, and reports whether it is done.
func (r *Run) drain(f *flight) bool {
	if r.asker.cfg.Drain < 0 || !drains(context.Cause(r.ctx)) {
		return false
	}
	enough := time.NewTimer(r.asker.cfg.Drain)
	defer enough.Stop()
	select {
	case <-f.done:
		return true
	case <-r.caller.Done():
	case <-enough.C:
	}
	return false
}

// fly makes the call and stores the answer; again says that it is to look
// first whether there is one by now.
func (a *Asker) fly(ctx context.Context, f *flight, w *waiting, again bool) {
	var e cache.Entry
	f.answer, e, f.called, f.err = a.fetch(ctx, w, again)
	if f.err == nil {
		a.answered.Store(true)
	} else if ctx.Err() == nil {
		f.tolerated = a.tolerates(f.err)
		a.mu.Lock()
		fail := f.fail
		a.mu.Unlock()
		if !f.tolerated {
			// Before the slot is free: nobody is to begin another call.
			for _, end := range fail {
				end(f.err)
			}
		}
	}
	if f.err == nil && f.called {
		f.answer, f.err = a.keep(ctx, e)
	} else {
		<-a.slots
	}
	if f.err != nil {
		a.release(ctx, w.Key)
	}
	f.cancel()
	a.mu.Lock()
	delete(a.flights, w.Key)
	delete(a.mine, w.Key)
	a.mu.Unlock()
	close(f.done)
}

// keep stores an answer and returns the one that counts: another process may
// have stored its own first. What was paid for is kept, even if the run has
// just been cancelled. The slot of the call is free as soon as there is room
// for another answer on its way into the store.
func (a *Asker) keep(ctx context.Context, e cache.Entry) (cache.Answer, error) {
	ctx, cancel := outlast(ctx, grace)
	defer cancel()
	select {
	case a.puts <- struct{}{}:
		<-a.slots
		defer func() { <-a.puts }()
	case <-ctx.Done():
		<-a.slots
		return cache.Answer{}, fmt.Errorf("the answer cannot be stored: %w", ctx.Err())
	}
	kept, err := a.answers.Put(ctx, e)
	if err != nil {
		return cache.Answer{}, fmt.Errorf("the answer cannot be stored: %w", err)
	}
	return kept[0], nil
}

// outlast returns a context that ends a while after ctx does.
func outlast(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(d, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}
