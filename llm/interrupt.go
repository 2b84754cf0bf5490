package llm

import (
	"context"
	"math"
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

type runKey struct{}

// Lasting returns a context for the calls of a run, whose context derives from its caller's. Once the
// run ends, no attempt begins, and those in flight finish, because they are paid for. If the caller's
// context ends, they end, too, unless a failure ended it or an Interrupt stopped it; then they
// continue until the Interrupt gives them up.
func Lasting(caller, run context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(caller), runKey{}, run))
	end := context.AfterFunc(caller, func() {
		var givenUp <-chan struct{}
		i, _ := caller.Value(interruptKey{}).(*Interrupt)
		if i != nil {
			givenUp = i.givenUp.Done()
		}
		cause := context.Cause(caller)
		failed := cause != context.Canceled && cause != context.DeadlineExceeded
		if failed || i != nil && i.stopped.Err() != nil {
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
	run, _ := ctx.Value(runKey{}).(context.Context)
	if run == nil {
		return ctx, func() {}
	}
	begin, cancel := context.WithCancel(ctx)
	end := context.AfterFunc(run, cancel)
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

type brieflyKey struct{}

// Briefly returns a context whose calls are retried at most twice, unless the server limits the rate:
// for calls that only tell whether it works.
func Briefly(ctx context.Context) context.Context { return context.WithValue(ctx, brieflyKey{}, true) }

// patience returns the maximum number of retries that a context allows after a failure.
func patience(ctx context.Context, e *Error) int {
	if ctx.Value(brieflyKey{}) == nil || e.Kind == ErrRateLimited {
		return math.MaxInt
	}
	return fewRetries
}
