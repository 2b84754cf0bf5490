package llm

import (
	"context"
	"sync/atomic"
)

// Interrupt ends a run in two steps. After Stop no attempt of a call begins, and those in flight
// finish; GiveUp ends these, too.
type Interrupt struct {
	stopped, givenUp context.Context
	// Stop ends the context of the run, and GiveUp the calls still in flight.
	Stop, GiveUp context.CancelFunc
	calls        atomic.Int64
}

type interruptKey struct{}

// Interruptible returns a context for a run, and the Interrupt that ends it.
func Interruptible(ctx context.Context) (context.Context, *Interrupt) {
	i := &Interrupt{}
	i.givenUp, i.GiveUp = context.WithCancel(ctx)
	i.stopped, i.Stop = context.WithCancel(i.givenUp)
	return context.WithValue(i.stopped, interruptKey{}, i), i
}

// Calls returns the number of attempts in flight.
func (i *Interrupt) Calls() int { return int(i.calls.Load()) }

// Interrupted reports whether the run of a context was stopped. Calls in flight then continue until
// the channel givenUp is closed.
func Interrupted(ctx context.Context) (givenUp <-chan struct{}, interrupted bool) {
	i, _ := ctx.Value(interruptKey{}).(*Interrupt)
	if i == nil {
		return nil, false
	}
	return i.givenUp.Done(), i.stopped.Err() != nil
}

// Lasting returns a context for calls. It ends when ctx ends, except that Stop does not end it.
func Lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	end := context.AfterFunc(ctx, func() {
		if givenUp, interrupted := Interrupted(ctx); interrupted {
			select {
			case <-givenUp:
			case <-longer.Done():
			}
		}
		cancel()
	})
	return longer, func() { end(); cancel() }
}

// beginning returns a context that ends when attempts may no longer begin.
func beginning(ctx context.Context) (context.Context, context.CancelFunc) {
	i, _ := ctx.Value(interruptKey{}).(*Interrupt)
	if i == nil {
		return ctx, func() {}
	}
	begin, cancel := context.WithCancel(ctx)
	end := context.AfterFunc(i.stopped, cancel)
	return begin, func() { end(); cancel() }
}

// inFlight counts an attempt until done is called.
func inFlight(ctx context.Context) (done func()) {
	i, _ := ctx.Value(interruptKey{}).(*Interrupt)
	if i == nil {
		return func() {}
	}
	i.calls.Add(1)
	return func() { i.calls.Add(-1) }
}
