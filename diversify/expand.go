package diversify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	refract "github.com/refract-eval/refract"
)

// window is how many segments may have calls in flight, or wait for one that
// has. It leaves room for many quick segments behind a slow one.
func (x *Expander) window() int { return max(64, 4*x.cfg.Concurrency) }

// Expand expands all segments of a dataset and calls yield with each, in
// order and from the caller's goroutine. A yielded segment is a copy with the
// new Variants after those it had, ordered by reference, prompt and sample;
// only originals are expanded. References that are missing, or have no text,
// are not.
//
// A variant's text is the answer without white space around it. Where the
// model's finish reason is "length" the text is cut. A text that was withheld,
// and one that is nothing but white space, is missing.
//
// The error is yield's, the dataset's, an [*Error] that says which request
// failed, or wraps ctx.Err(). The answers that came before it are stored, and
// running Expand again goes on from there.
func (x *Expander) Expand(ctx context.Context, ds refract.Dataset, yield func(*refract.Segment) error) (Summary, error) {
	t := &tally{mu: &x.observing, observe: x.cfg.Observe}
	err := x.stream(ctx, ds, t, yield)
	s := t.summary()
	if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
		err = fmt.Errorf("expansion interrupted after %d segments; the answers received are stored: %w", s.Segments, ended)
	}
	return s, err
}

func (x *Expander) stream(ctx context.Context, ds refract.Dataset, t *tally, yield func(*refract.Segment) error) error {
	caller := ctx
	ctx, stop := context.WithCancel(ctx)
	g, ctx := errgroup.WithContext(ctx)
	defer func() {
		stop()
		_ = g.Wait() // if yield failed or panicked; else it was waited for
	}()

	lookers := runtime.GOMAXPROCS(0)
	read := make(chan *job)
	ahead := make(chan *job, 2*lookers)    // the same jobs in order, for the calls
	begun := make(chan *job, x.window()-1) // in order, for the caller

	g.Go(func() error {
		defer close(read)
		defer close(ahead)
		for seg, err := range ds.Segments(ctx) {
			if err != nil {
				return err
			}
			j := newJob(seg)
			if err := send(ctx, ahead, j); err != nil {
				return err
			}
			if err := send(ctx, read, j); err != nil {
				return err
			}
		}
		// A dataset may just end when it is cancelled. If it watches the
		// caller's context, ours may not have heard of that yet.
		return cmp.Or(ctx.Err(), caller.Err())
	})
	for range lookers {
		g.Go(func() error {
			for j := range read {
				if err := x.lookUp(ctx, j, t); err != nil {
					return err
				}
			}
			return nil
		})
	}
	g.Go(func() error {
		defer close(begun)
		for j := range ahead {
			if err := wait(ctx, j.looked); err != nil {
				return err
			}
			if err := x.call(ctx, g, j, t); err != nil {
				return err
			}
			if err := send(ctx, begun, j); err != nil {
				return err
			}
		}
		return nil
	})

	for j := range begun {
		if err := wait(ctx, j.done); err != nil {
			if reason := g.Wait(); reason != nil {
				err = reason
			}
			return err
		}
		if err := yield(x.result(j)); err != nil {
			return err
		}
		t.update(func(p *Progress) { p.yielded(j) })
	}
	return g.Wait()
}

// ExpandSegment expands one segment as Expand does, and returns a copy with
// the new variants. It depends on its arguments, the store and the model
// alone; concurrent calls share the Expander's bound on calls. It does not
// call Observe.
func (x *Expander) ExpandSegment(ctx context.Context, seg *refract.Segment) (*refract.Segment, Summary, error) {
	t := &tally{mu: &x.observing}
	j := newJob(seg)
	if err := x.lookUp(ctx, j, t); err != nil {
		return nil, t.summary(), err
	}
	g, inner := errgroup.WithContext(ctx)
	g.Go(func() error { return x.call(inner, g, j, t) })
	if err := g.Wait(); err != nil {
		return nil, t.summary(), err
	}
	t.update(func(p *Progress) { p.yielded(j) })
	return x.result(j), t.summary(), nil
}

func send(ctx context.Context, to chan<- *job, j *job) error {
	select {
	case to <- j:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wait returns nil once c is closed, unless ctx ends first.
func wait(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
