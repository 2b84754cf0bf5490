package diversify

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm"
)

// grace is how long an answer that has arrived may take to be stored after
// the run was cancelled.
const grace = 500 * time.Millisecond

// flight is one call, shared by all who have the same request while it runs.
// It belongs to none of them: it is cancelled when the last one has left, and
// not when the one that began it does.
type flight struct {
	cancel  context.CancelFunc
	waiting int // who waits for it, guarded by Expander.mu; 0 once abandoned
	done    chan struct{}

	// The result, once done is closed.
	answer answer
	called bool // the store still lacked the answer, so the model was asked
	err    error

	told atomic.Bool // somebody has counted the call
}

// join waits for the call of a request, and begins it unless it is in flight.
// The caller has taken a slot, which join gives back. The error is that of
// ctx; that of the call is in the flight.
func (x *Expander) join(ctx context.Context, r cache.Request, key cache.Key) (*flight, error) {
	x.mu.Lock()
	f := x.flights[key]
	for f != nil && f.waiting == 0 {
		// Abandoned, but its answer may be on its way into the store.
		x.mu.Unlock()
		<-f.done
		x.mu.Lock()
		f = x.flights[key]
	}
	if f == nil {
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		f = &flight{cancel: cancel, waiting: 1, done: make(chan struct{})}
		x.flights[key] = f
		x.mu.Unlock()
		go x.fly(own, f, r, key)
	} else {
		f.waiting++
		x.mu.Unlock()
		<-x.slots // the flight has one of its own
	}

	select {
	case <-f.done:
		return f, nil
	case <-ctx.Done():
	}
	x.mu.Lock()
	f.waiting--
	last := f.waiting == 0
	x.mu.Unlock()
	if last {
		f.cancel()
		<-f.done
		if f.err == nil {
			return f, nil // it came in time after all, and counts
		}
	}
	return nil, ctx.Err()
}

func (x *Expander) fly(ctx context.Context, f *flight, r cache.Request, key cache.Key) {
	f.answer, f.called, f.err = x.fetch(ctx, r, key)
	f.cancel()
	x.mu.Lock()
	delete(x.flights, key)
	x.mu.Unlock()
	<-x.slots
	close(f.done)
}

// fetch gets an answer from the store, where a call that has just ended may
// have left it, or from the model by way of the store.
func (x *Expander) fetch(ctx context.Context, r cache.Request, key cache.Key) (a answer, called bool, err error) {
	e, ok, err := x.cfg.Store.Get(ctx, key)
	if err != nil {
		return answer{}, false, err
	}
	if ok {
		return newAnswer(e), false, nil
	}
	resp, err := x.cfg.Client.Complete(ctx, llm.Request{
		Model: r.Model, Prompt: r.Prompt,
		Temperature: x.cfg.Temperature, TopP: x.cfg.TopP, MaxTokens: x.cfg.MaxTokens,
	})
	if err != nil {
		return answer{}, true, err
	}
	// What was paid for is kept, even if the run has just been cancelled.
	ctx, cancel := outlast(ctx, grace)
	defer cancel()
	err = x.cfg.Store.Put(ctx, cache.Entry{
		Request: r,
		Text:    resp.Text, HasText: resp.HasText,
		FinishReason: resp.FinishReason, ServedModel: resp.Model,
		// A count below 0 is none, and no reason to lose the answer.
		PromptTokens: max(0, resp.PromptTokens), CompletionTokens: max(0, resp.CompletionTokens),
		Created: time.Now(),
	})
	if err != nil {
		return answer{}, true, fmt.Errorf("the answer cannot be stored: %w", err)
	}
	// Another process may have stored its answer first: that one counts.
	e, ok, err = x.cfg.Store.Get(ctx, key)
	if err == nil && !ok {
		err = errors.New("the store has lost the answer it was given")
	}
	if err != nil {
		return answer{}, true, fmt.Errorf("the answer cannot be read back: %w", err)
	}
	return newAnswer(e), true, nil
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
