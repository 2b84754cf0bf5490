package diversify

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/budget"
)

// grace is how long an answer that has arrived may take to be stored after
// the run was cancelled.
const grace = 500 * time.Millisecond

// flight is one call, shared by all who have the same request while it runs.
// It belongs to none of them: it is cancelled when the last one has left, and
// not when the one that began it does.
type flight struct {
	cancel context.CancelFunc
	// Who shares it, guarded by Expander.mu.
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
// The caller holds x.mu.
func (x *Expander) share(r *run, j *job, a *ask) *flight {
	f := x.flights[a.key]
	if f == nil || f.aboard == f.left {
		return nil
	}
	f.join(x, r, j, a)
	return f
}

func (f *flight) join(x *Expander, r *run, j *job, a *ask) {
	f.aboard++
	f.fail = append(f.fail, func(err error) { r.end(x.fail(j, a, err)) })
}

// board takes a slot and begins the flight of a request, or joins the one that
// there is by then.
func (x *Expander) board(r *run, j *job, a *ask) (*flight, error) {
	select {
	case x.slots <- struct{}{}:
	case <-r.ctx.Done():
		return nil, r.ctx.Err()
	}
	if err := r.ctx.Err(); err != nil {
		<-x.slots // both were ready
		return nil, err
	}
	for {
		x.mu.Lock()
		if f := x.share(r, j, a); f != nil {
			x.mu.Unlock()
			<-x.slots // the flight has one of its own
			return f, nil
		}
		abandoned := x.flights[a.key]
		if abandoned == nil {
			break
		}
		// Its answer may be on its way into the store.
		x.mu.Unlock()
		<-abandoned.done
	}
	own, cancel := context.WithCancel(context.WithoutCancel(r.ctx))
	f := &flight{cancel: cancel, done: make(chan struct{})}
	f.join(x, r, j, a)
	x.flights[a.key] = f
	again := !x.mine[a.key] // its claim has been made use of, if there was one
	workers := x.workers
	x.mu.Unlock()
	workers.run(func() { x.fly(own, f, a, again) })
	return f, nil
}

// wait waits for a flight. The error is that of the run; that of the call is
// in the flight.
func (x *Expander) wait(r *run, f *flight) error {
	select {
	case <-f.done:
		return nil
	case <-r.ctx.Done():
	}
	if x.drain(r, f) {
		return nil
	}
	x.mu.Lock()
	f.left++
	last := f.left == f.aboard
	x.mu.Unlock()
	if last && f.cancel != nil {
		f.cancel()
		<-f.done
		if f.err == nil {
			return nil // it came in time after all, and counts
		}
	}
	return r.ctx.Err()
}

// drain waits for a call after its run has ended for another reason than the
// caller's wish, and reports whether it is done.
func (x *Expander) drain(r *run, f *flight) bool {
	if x.cfg.Drain < 0 || !drains(context.Cause(r.ctx)) {
		return false
	}
	enough := time.NewTimer(x.cfg.Drain)
	defer enough.Stop()
	select {
	case <-f.done:
		return true
	case <-r.caller.Done():
	case <-enough.C:
	}
	return false
}

// drains reports whether the calls in flight may well succeed after one has
// ended the run with err.
func drains(err error) bool {
	for _, kind := range []error{llm.ErrAuth, llm.ErrQuota, llm.ErrNotFound, llm.ErrUnavailable} {
		if errors.Is(err, kind) {
			return false
		}
	}
	var failed *Error
	return errors.As(err, &failed) || errors.Is(err, budget.ErrSpent)
}

// fly makes the call and stores the answer; again says that it is to look
// first whether there is one by now.
func (x *Expander) fly(ctx context.Context, f *flight, a *ask, again bool) {
	var e cache.Entry
	f.answer, e, f.called, f.err = x.fetch(ctx, a, again)
	if f.err == nil {
		x.answered.Store(true)
	} else if ctx.Err() == nil {
		f.tolerated = x.tolerates(f.err)
		x.mu.Lock()
		fail := f.fail
		x.mu.Unlock()
		if !f.tolerated {
			// Before the slot is free: nobody is to begin another call.
			for _, end := range fail {
				end(f.err)
			}
		}
	}
	if f.err == nil && f.called {
		f.answer, f.err = x.keep(ctx, e)
	} else {
		<-x.slots
	}
	if f.err != nil {
		x.release(ctx, a.key)
	}
	f.cancel()
	x.mu.Lock()
	delete(x.flights, a.key)
	delete(x.mine, a.key)
	x.mu.Unlock()
	close(f.done)
}

// tolerates reports whether the run goes on after a failure.
func (x *Expander) tolerates(err error) bool {
	own := errors.Is(err, llm.ErrContextLength) || errors.Is(err, llm.ErrInvalidRequest) || errors.Is(err, llm.ErrBadAnswer)
	return own && x.answered.Load() && x.tolerated.Add(1) <= int64(x.cfg.Tolerate)
}

// fetch gets an answer from the model, unless it is to look again and the
// store has it. If it is called, the entry is what the store is to keep.
func (x *Expander) fetch(ctx context.Context, a *ask, again bool) (ans cache.Answer, e cache.Entry, called bool, err error) {
	if again {
		ans, ok, err := x.lookAgain(ctx, a.key)
		if err != nil || ok {
			return ans, e, false, err
		}
	}
	resp, err := x.client(a).Complete(ctx, x.wire(a))
	if err != nil {
		return ans, e, !errors.Is(err, budget.ErrSpent), err
	}
	return ans, Entry(a.request, resp), true, nil
}

// keep stores an answer and returns the one that counts: another process may
// have stored its own first. What was paid for is kept, even if the run has
// just been cancelled. The slot of the call is free as soon as there is room
// for another answer on its way into the store.
func (x *Expander) keep(ctx context.Context, e cache.Entry) (cache.Answer, error) {
	ctx, cancel := outlast(ctx, grace)
	defer cancel()
	select {
	case x.puts <- struct{}{}:
		<-x.slots
		defer func() { <-x.puts }()
	case <-ctx.Done():
		<-x.slots
		return cache.Answer{}, fmt.Errorf("the answer cannot be stored: %w", ctx.Err())
	}
	ans, err := cache.Keep(ctx, x.cfg.Store, e)
	if err != nil {
		return cache.Answer{}, fmt.Errorf("the answer cannot be stored: %w", err)
	}
	return ans, nil
}

// Entry is what the store keeps of an answer.
func Entry(r cache.Request, resp llm.Response) cache.Entry {
	return cache.Entry{Request: r, Answer: cache.Answer{
		Text: resp.Text, HasText: resp.HasText,
		FinishReason: resp.FinishReason, ServedModel: resp.Model,
		// A count below 0 is none, and no reason to lose the answer.
		PromptTokens: max(0, resp.PromptTokens), CompletionTokens: max(0, resp.CompletionTokens),
		Created: time.Now(),
	}}
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
