package refract

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Incomplete says which metrics of a run failed. All segments were yielded; the cells
// that a failed metric did not reach have the status Ended.
type Incomplete struct {
	Metrics []string
	Errs    []error // one for each of Metrics, which it names
}

// Error joins the errors of the metrics.
func (e *Incomplete) Error() string {
	all := make([]string, len(e.Errs))
	for i, err := range e.Errs {
		all[i] = err.Error()
	}
	return strings.Join(all, "; ")
}

// Reasons returns a short reason for each metric that failed; nil for a nil receiver.
func (e *Incomplete) Reasons() map[string]string {
	if e == nil {
		return nil
	}
	out := map[string]string{}
	for i, name := range e.Metrics {
		out[name] = e.reason(i)
	}
	return out
}

func (e *Incomplete) reason(metric int) string {
	reason := strings.TrimLeft(strings.TrimPrefix(e.Errs[metric].Error(), e.Metrics[metric]), ",: ")
	if start := (*metrics.StartError)(nil); errors.As(e.Errs[metric], &start) {
		reason = "did not start: " + start.Err.Error()
	}
	const most = 200 // characters
	if all := []rune(reason); len(all) > most {
		reason = string(all[:most]) + "…"
	}
	return reason
}

// Unwrap returns the errors of the metrics.
func (e *Incomplete) Unwrap() []error { return e.Errs }

// Run scores all segments of a dataset and calls yield with each, in order and
// from one goroutine. Every metric runs at its own pace. Run holds a bounded number of
// segments at a time, so a fast metric can be ahead of a slow one by no more than that.
//
// A metric that fails does not stop the others: once all segments were yielded, Run
// returns an *Incomplete. A metric that needs sources fails with a *NoSourceError if no
// segment has one. Run stops early if ctx ends, if the dataset or yield returns an
// error, or if every metric has failed and Options.ContinueWithoutMetrics is not set.
func (e *Engine) Run(ctx context.Context, ds Dataset, yield func(*SegmentScores) error) error {
	if e.inline {
		return e.runInline(ctx, ds, yield)
	}
	g, ctx := errgroup.WithContext(ctx)
	workers, most := e.workers()
	order := make(chan *segmentWork, most) // in the dataset's order
	segments, unsourced := 0, 0
	var remarks []string
	g.Go(func() error {
		defer close(order)
		var shown []string // texts of the first segments, for a metrics.Remarker
		for _, l := range workers {
			defer close(l.in)
		}
		for s, err := range ds.Segments(ctx) {
			if err != nil {
				return err
			}
			f, err := e.newWork(s)
			if err != nil {
				return err
			}
			if segments++; !s.Source.Valid {
				unsourced++
			}
			if segments <= remarkSegments && e.options.Warn != nil {
				shown = s.appendTexts(shown)
			}
			f.open.Add(len(workers))
			for _, l := range workers {
				l.in <- f // never blocks: it has room for all segments that the run holds
			}
			select {
			case order <- f:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		remarks = metrics.Remarks(e.Metrics(), shown) // while the metrics score the last segments
		return ctx.Err()                              // a dataset may end without an error when the context ends
	})
	failed := &Incomplete{}
	var mu sync.Mutex
	for _, l := range workers {
		g.Go(func() error {
			err := l.run(ctx)
			g.Go(l.end)
			if err == nil || ctx.Err() != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			failed.Metrics, failed.Errs = append(failed.Metrics, l.info.Name), append(failed.Errs, err)
			if len(failed.Errs) == len(workers) && !e.options.ContinueWithoutMetrics {
				return errors.Join(failed.Errs...)
			}
			return nil
		})
	}
	lost := make([]unanswered, len(e.needs))
	g.Go(func() error {
		for f := range order {
			f.open.Wait()
			if err := ctx.Err(); err != nil {
				return err
			}
			for k := range lost {
				lost[k].add(&e.needs[k], f.scores)
			}
			if err := yield(f.scores); err != nil {
				return err
			}
		}
		return nil
	})
	err := g.Wait()
	for k := range lost {
		if l := &lost[k]; l.cells > 0 && e.options.Warn != nil {
			e.options.Warn(fmt.Sprintf("%s has no score of %s, as its requests failed: %s", e.needs[k].info.Name, english.Count(l.cells, "cell"), l))
		}
	}
	if err != nil {
		return err
	}
	for _, remark := range remarks {
		e.options.Warn(remark)
	}
	for _, l := range workers {
		switch warn := e.options.Warn; {
		case !l.info.NeedsSource || unsourced == 0 || slices.Contains(failed.Metrics, l.info.Name):
		case unsourced == segments:
			failed.Metrics, failed.Errs = append(failed.Metrics, l.info.Name), append(failed.Errs, &NoSourceError{l.info.Name})
		case warn != nil:
			warn(fmt.Sprintf("%d of %s have no source, which %s needs: it has no score of them", unsourced, english.Count(segments, "segment"), l.info.Name))
		}
	}
	switch {
	case len(failed.Errs) == 0:
		return nil
	case len(failed.Errs) == len(workers) && !e.options.ContinueWithoutMetrics:
		return errors.Join(failed.Errs...)
	}
	return failed
}

// unanswered names the cells of a metric whose requests failed, as its reports say.
type unanswered struct {
	cells int
	named []string // the first
}

func (u *unanswered) add(d *metricNeeds, s *SegmentScores) {
	for i, r := range s.Metrics[d.index].Reports {
		if r == nil || r.Outcome != analysis.Missing {
			continue
		}
		if u.cells++; len(u.named) < 3 {
			u.named = append(u.named, fmt.Sprintf("%s: %s", d.name(s.Segment, i/s.Metrics[d.index].Columns, i%s.Metrics[d.index].Columns), r.Detail))
		}
	}
}

func (u *unanswered) String() string {
	more := ""
	if n := u.cells - len(u.named); n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	return strings.Join(u.named, "; ") + more
}

// remarkSegments is the number of segments that are shown to a metrics.Remarker.
const remarkSegments = 100

// appendTexts appends the hypotheses and references that are not missing.
func (s *Segment) appendTexts(dst []string) []string {
	for _, h := range s.Hypotheses {
		dst = append(dst, h.Text.Value)
	}
	for _, t := range s.AllReferences(nil) {
		dst = append(dst, t.Value)
	}
	return slices.DeleteFunc(dst, func(s string) bool { return s == "" })
}

// metricWorker scores the segments of a run with one metric.
type metricWorker struct {
	*metricNeeds
	pace metrics.Pace
	in   chan *segmentWork
	done func(m metrics.Metric, segments int)
}

// minQueued is the minimum number of segments buffered, so that workers never starve
// while the reader is not scheduled.
const minQueued = 256

// workers returns a worker for each metric, and the number of segments to buffer: minQueued,
// or two batches for every concurrent call of the metric that takes most, if that is more.
func (e *Engine) workers() (workers []*metricWorker, most int) {
	most = minQueued
	for k := range e.needs {
		l := &metricWorker{metricNeeds: &e.needs[k], pace: metrics.Pace{Batch: e.options.Batch, Calls: e.options.Workers}, done: e.options.Observe}
		if own := l.info.Pace.Batch; own > 0 {
			l.pace.Batch = own
		}
		if own := l.info.Pace.Calls; own > 0 {
			l.pace.Calls = own
		}
		most = max(most, 2*l.pace.Calls*l.pace.Batch)
		workers = append(workers, l)
	}
	for _, l := range workers {
		// The reader and yield hold one more segment each.
		l.in = make(chan *segmentWork, most+2)
	}
	return workers, most
}

// run scores the worker's input until it ends, a call fails or the context ends. When it
// returns, all its goroutines have ended.
func (l *metricWorker) run(ctx context.Context) error {
	calls, ctx := errgroup.WithContext(ctx)
	calls.SetLimit(l.pace.Calls)
	for batch := range l.batches(ctx) {
		calls.Go(func() error {
			whole, err := l.score(ctx, batch)
			for _, f := range batch {
				if err != nil && !slices.Contains(whole, f) {
					l.init(f, metrics.Ended)
				}
				f.open.Done()
			}
			if err == nil && l.done != nil {
				l.done(l.metric, len(batch))
			}
			return err
		})
	}
	return calls.Wait()
}

// batches yields the worker's input in batches, until it or the context ends.
func (l *metricWorker) batches(ctx context.Context) iter.Seq[[]*segmentWork] {
	return func(yield func([]*segmentWork) bool) {
		var batch []*segmentWork
		for more := true; more; {
			var f *segmentWork
			select {
			case f, more = <-l.in:
			case <-ctx.Done():
				more = false
			}
			if f != nil {
				batch = append(batch, f)
			}
			if len(batch) == l.pace.Batch || !more && len(batch) > 0 {
				if !yield(batch) {
					return
				}
				batch = nil
			}
		}
	}
}

// end sets the status of the segments that the metric did not reach.
func (l *metricWorker) end() error {
	for f := range l.in {
		l.init(f, metrics.Ended)
		f.open.Done()
	}
	return nil
}
