package refract

import (
	"cmp"
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

func (e *Incomplete) add(s *scorer, err error) {
	e.Metrics, e.Errs = append(e.Metrics, s.info.Name), append(e.Errs, err)
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
	r := &run{Engine: e}
	score := r.concurrently
	if e.inline {
		score = r.oneByOne
	}
	if err := score(ctx, ds, yield); err != nil {
		return err
	}
	return r.end()
}

// concurrently reads, scores with each metric and yields in goroutines.
func (r *run) concurrently(ctx context.Context, ds Dataset, yield func(*SegmentScores) error) error {
	g, inner := errgroup.WithContext(ctx)
	lost := make([]unanswered, len(r.scorers)) // by metric
	workers, most := r.workers()
	order := make(chan *segmentWork, most) // in the dataset's order
	g.Go(func() error { return r.read(inner, ds, workers, order) })
	for _, w := range workers {
		g.Go(func() error {
			err := w.run(inner)
			g.Go(w.end)
			if err == nil || inner.Err() != nil {
				return err
			}
			return r.fail(w.scorer, err)
		})
	}
	g.Go(func() error {
		for w := range order {
			w.open.Wait()
			if err := inner.Err(); err != nil {
				return err
			}
			for k := range lost {
				lost[k].add(&r.scorers[k], w.scores)
			}
			if err := yield(w.scores); err != nil {
				return err
			}
		}
		return nil
	})
	err := g.Wait()
	for k := range lost {
		if l := &lost[k]; l.cells > 0 {
			r.warn("%s has no score of %s, as its requests failed: %s", r.scorers[k].info.Name, english.Count(l.cells, "cell"), l)
		}
	}
	return err
}

// run is one run of an engine.
type run struct {
	*Engine

	segments, unsourced int      // read so far
	shown               []string // texts of the first segments, for a metrics.Remarker
	remarks             []string

	mu     sync.Mutex
	failed Incomplete
}

// prepare takes the next segment of a dataset.
func (r *run) prepare(s *Segment, err error) (*segmentWork, error) {
	if err != nil {
		return nil, err
	}
	if r.segments++; !s.Source.Valid {
		r.unsourced++
	}
	if r.segments <= remarkSegments && r.options.Warn != nil {
		r.shown = s.appendTexts(r.shown)
	}
	return r.newWork(s)
}

// read gives every segment of a dataset to all workers, and to order.
func (r *run) read(ctx context.Context, ds Dataset, workers []*worker, order chan<- *segmentWork) error {
	defer close(order)
	for _, w := range workers {
		defer close(w.in)
	}
	for s, err := range ds.Segments(ctx) {
		work, err := r.prepare(s, err)
		if err != nil {
			return err
		}
		work.open.Add(len(workers))
		for _, w := range workers {
			w.in <- work // never blocks: it has room for all segments that the run holds
		}
		select {
		case order <- work:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	r.remarks = metrics.Remarks(r.Metrics(), r.shown) // while the metrics score the last segments
	return ctx.Err()                                  // a dataset may end without an error when the context ends
}

// fail records that a metric failed, and returns an error if no metric is left.
func (r *run) fail(s *scorer, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed.add(s, err)
	return r.allFailed()
}

func (r *run) allFailed() error {
	if len(r.failed.Errs) == len(r.scorers) && !r.options.ContinueWithoutMetrics {
		return errors.Join(r.failed.Errs...)
	}
	return nil
}

// end warns of what was seen in the whole dataset, and returns the error of the run.
func (r *run) end() error {
	for _, remark := range r.remarks {
		r.options.Warn(remark)
	}
	for k := range r.scorers {
		switch s := &r.scorers[k]; {
		case !s.info.NeedsSource || r.unsourced == 0 || slices.Contains(r.failed.Metrics, s.info.Name):
		case r.unsourced == r.segments:
			r.failed.add(s, &NoSourceError{s.info.Name})
		default:
			r.warn("without a source, which %s needs, and so without its score: %d of %s", s.info.Name, r.unsourced, english.Count(r.segments, "segment"))
		}
	}
	if len(r.failed.Errs) == 0 {
		return nil
	}
	if err := r.allFailed(); err != nil {
		return err
	}
	return &r.failed
}

func (e *Engine) warn(format string, args ...any) {
	if e.options.Warn != nil {
		e.options.Warn(fmt.Sprintf(format, args...))
	}
}

// oneByOne reads, scores and yields without goroutines.
func (r *run) oneByOne(ctx context.Context, ds Dataset, yield func(*SegmentScores) error) error {
	ended := make([]bool, len(r.scorers))
	for s, err := range ds.Segments(ctx) {
		w, err := r.prepare(s, err)
		if err != nil {
			return err
		}
		for k := range r.scorers {
			m := &r.scorers[k]
			if !ended[k] {
				if _, err := m.score(ctx, []*segmentWork{w}); err != nil {
					if err := r.fail(m, err); err != nil {
						return err
					}
					ended[k] = true
				}
			}
			if ended[k] {
				m.init(w, metrics.Ended)
			} else if r.options.Observe != nil {
				r.options.Observe(m.metric, 1)
			}
		}
		if err := cmp.Or(ctx.Err(), yield(w.scores)); err != nil {
			return err
		}
	}
	r.remarks = metrics.Remarks(r.Metrics(), r.shown)
	return ctx.Err()
}

// unanswered names the cells of a metric whose requests failed, as its reports say.
type unanswered struct {
	cells int
	named []string // the first
}

func (u *unanswered) add(m *scorer, s *SegmentScores) {
	for i, r := range s.Metrics[m.index].Reports {
		if r == nil || r.Outcome != analysis.Missing {
			continue
		}
		if u.cells++; len(u.named) < 3 {
			u.named = append(u.named, fmt.Sprintf("%s: %s", m.name(s.Segment, i/s.Metrics[m.index].Columns, i%s.Metrics[m.index].Columns), r.Detail))
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

// worker scores the segments of a run with one metric.
type worker struct {
	*scorer
	pace metrics.Pace
	in   chan *segmentWork
	done func(m metrics.Metric, segments int)
}

// minQueued is the minimum number of segments buffered, so that workers never starve
// while the reader is not scheduled.
const minQueued = 256

// workers returns a worker for each metric, and the number of segments to buffer: minQueued,
// or two batches for every concurrent call of the metric that takes most, if that is more.
func (e *Engine) workers() (workers []*worker, most int) {
	most = minQueued
	for k := range e.scorers {
		w := &worker{scorer: &e.scorers[k], pace: metrics.Pace{Batch: e.options.Batch, Calls: e.options.Workers}, done: e.options.Observe}
		if own := w.info.Pace.Batch; own > 0 {
			w.pace.Batch = own
		}
		if own := w.info.Pace.Calls; own > 0 {
			w.pace.Calls = own
		}
		most = max(most, 2*w.pace.Calls*w.pace.Batch)
		workers = append(workers, w)
	}
	for _, w := range workers {
		// The reader and yield hold one more segment each.
		w.in = make(chan *segmentWork, most+2)
	}
	return workers, most
}

// run scores the worker's input until it ends, a call fails or the context ends. When it
// returns, all its goroutines have ended.
func (w *worker) run(ctx context.Context) error {
	calls, ctx := errgroup.WithContext(ctx)
	calls.SetLimit(w.pace.Calls)
	for batch := range w.batches(ctx) {
		calls.Go(func() error {
			whole, err := w.score(ctx, batch)
			for _, s := range batch {
				if err != nil && !slices.Contains(whole, s) {
					w.init(s, metrics.Ended)
				}
				s.open.Done()
			}
			if err == nil && w.done != nil {
				w.done(w.metric, len(batch))
			}
			return err
		})
	}
	return calls.Wait()
}

// batches yields the worker's input in batches, until it or the context ends.
func (w *worker) batches(ctx context.Context) iter.Seq[[]*segmentWork] {
	return func(yield func([]*segmentWork) bool) {
		var batch []*segmentWork
		for more := true; more; {
			var s *segmentWork
			select {
			case s, more = <-w.in:
			case <-ctx.Done():
				more = false
			}
			if s != nil {
				batch = append(batch, s)
			}
			if len(batch) == w.pace.Batch || !more && len(batch) > 0 {
				if !yield(batch) {
					return
				}
				batch = nil
			}
		}
	}
}

// end sets the status of the segments that the metric did not reach.
func (w *worker) end() error {
	for s := range w.in {
		w.init(s, metrics.Ended)
		s.open.Done()
	}
	return nil
}
