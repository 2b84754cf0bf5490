package page

import (
	"cmp"
	"context"
	"iter"
	"runtime"
)

// InOrder does something with each item, on all cores, and yields the results in order, up to the
// first error. No goroutine is left when it ends.
func InOrder[I, O any](ctx context.Context, items iter.Seq2[I, error], do func(I) (O, error)) iter.Seq2[O, error] {
	type result struct {
		value O
		err   error
	}
	return func(yield func(O, error) bool) {
		var begun []chan result // one of each goroutine, with room for its result
		defer func() {
			for _, done := range begun {
				<-done
			}
		}()
		next := func() bool {
			r := <-begun[0]
			begun, r.err = begun[1:], cmp.Or(r.err, ctx.Err())
			return yield(r.value, r.err) && r.err == nil
		}
		for item, err := range items {
			done := make(chan result, 1)
			begun = append(begun, done)
			if err = cmp.Or(err, ctx.Err()); err != nil {
				done <- result{err: err}
				break
			}
			go func() {
				value, err := do(item)
				done <- result{value, err}
			}()
			if len(begun) > 2*runtime.GOMAXPROCS(0) && !next() {
				return
			}
		}
		for len(begun) > 0 && next() {
		}
	}
}
