package refract

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/refract-eval/refract/internal/ordered"
	"github.com/refract-eval/refract/metrics"
)

// Incomplete says which metrics of a run failed while others went on. All
// segments were yielded; the cells that a metric did not come to have the
// status Ended.
type Incomplete struct {
	Metrics []string
	Errs    []error // of each metric: each names it
}

// Error joins the errors of the metrics.
func (e *Incomplete) Error() string {
	all := make([]string, len(e.Errs))
	for i, err := range e.Errs {
		all[i] = err.Error()
	}
	return strings.Join(all, "; ")
}

// Unwrap returns the errors of the metrics.
func (e *Incomplete) Unwrap() []error { return e.Errs }

// Run scores all segments of a dataset and calls yield with each, in order and
// from one goroutine. Every metric goes at its own pace. Run holds a bounded
// number of segments at a time, so that a fast metric is ahead of a slow one by
// no more than that.
//
// A metric that fails ends alone: the error is then an *Incomplete, once all
// segments were yielded. Run stops sooner after ctx ends, the dataset or yield
// returns an error, or no metric is left.
func (e *Engine) Run(ctx context.Context, ds Dataset, yield func(*SegmentScores) error) error {
	g, ctx := errgroup.WithContext(ctx)
	lanes, held := e.lanes()
	order := make(chan *SegmentScores, held) // as the dataset has them
	g.Go(func() error {
		defer close(order)
		for _, l := range lanes {
			defer close(l.in)
		}
		for s, err := range ds.Segments(ctx) {
			if err != nil {
				return err
			}
			scores, err := e.blank(s)
			if err != nil {
				return err
			}
			if err := send(ctx, order, scores); err != nil {
				return err
			}
			for _, l := range lanes { // which have room for all that order holds
				if err := send(ctx, l.in, scores); err != nil {
					return err
				}
			}
		}
		return ctx.Err() // a dataset may end without an error because the context did
	})
	failed := &Incomplete{}
	var mu sync.Mutex
	for _, l := range lanes {
		g.Go(func() error {
			err := l.run(ctx)
			if err == nil || ctx.Err() != nil {
				return err
			}
			mu.Lock()
			failed.Metrics, failed.Errs = append(failed.Metrics, l.info.Name), append(failed.Errs, err)
			none := len(failed.Errs) == len(lanes)
			mu.Unlock()
			if none {
				return errors.Join(failed.Errs...)
			}
			return l.end(ctx)
		})
	}
	g.Go(func() error {
		for s := range order {
			for _, l := range lanes {
				select {
				case <-l.done:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := yield(s); err != nil {
				return err
			}
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return err
	}
	if len(failed.Errs) > 0 {
		return failed
	}
	return nil
}

func send[T any](ctx context.Context, c chan<- T, v T) error {
	select {
	case c <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lane is the way of the segments of a run through one metric.
type lane struct {
	*demand
	pace    metrics.Pace
	in      chan *SegmentScores
	pending chan *SegmentScores // taken from in, and not done
	done    chan struct{}       // has a token for each segment, in order
	calls   chan struct{}       // holds one element for each call that runs
	learned chan struct{}       // closed once the order of columns is known
	order   []int
}

// lanes returns a lane for each metric, and how many segments a run holds: two
// batches for each call of the metric that takes most.
func (e *Engine) lanes() ([]*lane, int) {
	held := 1
	lanes := make([]*lane, len(e.demands))
	for k := range e.demands {
		l := &lane{demand: &e.demands[k], pace: metrics.Pace{Batch: e.options.Batch, Calls: e.options.Workers}}
		if p, ok := l.metric.(metrics.Paced); ok {
			own := p.Pace()
			if own.Batch > 0 {
				l.pace.Batch = own.Batch
			}
			if own.Calls > 0 {
				l.pace.Calls = own.Calls
			}
		}
		held = max(held, 2*l.pace.Calls*l.pace.Batch)
		lanes[k] = l
	}
	for _, l := range lanes {
		// One segment is in the hands of the reader, and one of yield.
		l.in, l.pending, l.done = make(chan *SegmentScores, held), make(chan *SegmentScores, held+2), make(chan struct{}, held+2)
		l.calls = make(chan struct{}, l.pace.Calls)
		if l.learns() {
			l.learned = make(chan struct{})
		}
	}
	return lanes, held
}

// part is what one call of a metric scores.
type part struct {
	segments []*SegmentScores
	first    bool
}

// run scores what comes into the lane. When it returns, nothing of it runs any
// more; after an error, the segments that are not done are pending.
func (l *lane) run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	err := ordered.Map(ctx, l.pace.Calls, l.parts(ctx, ended), func(p part) (part, error) {
		err := l.scorePart(ctx, p)
		if err != nil {
			stop(err) // no further call begins
		}
		return p, err
	}, func(p part) error {
		for range p.segments {
			<-l.pending
			l.done <- struct{}{}
		}
		return nil
	})
	if err != nil {
		err = context.Cause(ctx)
	}
	stop(nil)
	<-ended
	for range l.pace.Calls {
		l.calls <- struct{}{} // once no call holds the place
	}
	return err
}

// parts yields the segments of the lane in batches, and then closes ended.
func (l *lane) parts(ctx context.Context, ended chan struct{}) iter.Seq2[part, error] {
	return func(yield func(part, error) bool) {
		defer close(ended)
		p := part{first: true}
		for {
			select {
			case s, more := <-l.in:
				if more {
					l.pending <- s
					p.segments = append(p.segments, s)
				}
				if len(p.segments) == l.pace.Batch || !more && len(p.segments) > 0 {
					if !yield(p, nil) {
						return
					}
					p = part{}
				}
				if !more {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// scorePart scores a part. Where there is anything to learn of the first one,
// the others wait for it: what is scored does not depend on how many calls run
// at a time.
func (l *lane) scorePart(ctx context.Context, p part) error {
	if err := send(ctx, l.calls, struct{}{}); err != nil {
		return err
	}
	defer func() { <-l.calls }()
	if l.learned != nil && !p.first {
		select {
		case <-l.learned:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := l.score(ctx, p.segments, l.order); err != nil {
		return err
	}
	if l.learned != nil && p.first {
		l.order = byRate(p.segments, l.index, *l.stop())
		close(l.learned)
	}
	return nil
}

// end gives the segments that a failed metric did not come to their status.
func (l *lane) end(ctx context.Context) error {
	finish := func(s *SegmentScores) {
		s.Metrics[l.index] = MetricScores{}
		f := newFrame(s.Segment)
		s.Metrics[l.index].init(s.Segment, &f, l.info, metrics.Ended)
		l.done <- struct{}{}
	}
	for len(l.pending) > 0 {
		finish(<-l.pending)
	}
	for {
		select {
		case s, more := <-l.in:
			if !more {
				return nil
			}
			finish(s)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
