package evidence

import (
	"context"
	"iter"
)

// inOrder calls f with the values of in, on at most workers goroutines, and yield with the
// results in the order of in, from one goroutine. It holds a bounded number of values. It
// stops at the first error in that order, after yielding the results before it. If the
// context ends, it stops at once with the context's error, even while in blocks; calls in
// progress end on their own.
func inOrder[In, Out any](ctx context.Context, workers int, in iter.Seq2[In, error], f func(In) (Out, error), yield func(Out) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	type result struct {
		out Out
		err error
	}
	order := make(chan chan result, 2*workers)
	running := make(chan struct{}, workers)
	go func() {
		defer close(order)
		for v, err := range in {
			done := make(chan result, 1)
			select {
			case order <- done:
			case <-ctx.Done():
				return
			}
			if err != nil {
				done <- result{err: err}
				return
			}
			select {
			case running <- struct{}{}:
			case <-ctx.Done():
				return
			}
			go func() {
				out, err := f(v)
				done <- result{out, err}
				<-running
			}()
		}
	}()
	for {
		var done chan result
		var r result
		more := true
		select {
		case done, more = <-order:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil || !more {
			return err
		}
		select {
		case r = <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if r.err != nil {
			return r.err
		}
		if err := yield(r.out); err != nil {
			return err
		}
	}
}
