package pool

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/metrics"
)

// lane is an engine with the requests that wait for it.
type lane struct {
	pool    *Pool
	key     string
	users   int           // under the pool's lock
	made    chan struct{} // closed once the rest is there
	err     error         // why it cannot be
	metrics []*held

	recipe   *Recipe
	settings []refract.Setting
	engine   *refract.Engine // nil where metrics are fitted to the references of each request
	sourced  bool            // a metric needs sources

	mu      sync.Mutex
	waiting []*job
	running bool
}

// job is what a request has scored.
type job struct {
	Scores
	ctx      context.Context
	segments []*refract.Segment
	err      error
	done     chan struct{} // closed once it has what it gets
}

const (
	mostTogether = 256  // segments of a request that is scored with others
	mostAtOnce   = 4096 // segments of them all
)

// errAgain says that a request is to be scored anew, without others: a metric ended,
// and perhaps on account of them.
var errAgain = errors.New("a metric ended in a run of several requests")

func (l *lane) equip(r *Recipe, ms []metrics.Metric) (err error) {
	l.recipe = r
	if l.settings, err = r.Settings(ms); err != nil {
		return err
	}
	l.sourced = slices.ContainsFunc(ms, func(m metrics.Metric) bool { return m.Info().NeedsSource })
	if !refract.NeedsFit(l.settings) {
		l.engine, err = r.Engine(l.settings, nil)
	}
	return err
}

// holds reports whether a lane has a metric.
func (l *lane) holds(h *held) bool {
	select {
	case <-l.made:
		return slices.Contains(l.metrics, h)
	default:
		return false
	}
}

// score scores a request, with others that wait unless it is to be alone: where it is
// long, and where what is said of it depends on what is scored with it.
func (l *lane) score(ctx context.Context, segments []*refract.Segment, alone bool) (*Scores, error) {
	for _, s := range segments {
		if l.engine == nil {
			break // the run says so
		}
		if err := l.engine.Check(s); err != nil {
			return nil, err
		}
	}
	j := &job{ctx: ctx, segments: segments, done: make(chan struct{})}
	lacks := func(s *refract.Segment) bool { return !s.Source.Valid }
	alone = alone || l.engine == nil || len(segments) > mostTogether || l.sourced && slices.ContainsFunc(segments, lacks)
	work := l.together
	l.mu.Lock()
	if alone {
		work = func() { l.alone(j) }
	} else {
		l.waiting = append(l.waiting, j)
	}
	start := alone || !l.running
	l.running = l.running || !alone
	l.mu.Unlock()
	if start {
		l.pool.mu.Lock()
		l.use(work)
		l.pool.mu.Unlock()
	}
	select {
	case <-j.done:
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &j.Scores, j.err
}

// together scores what waits, as long as something does.
func (l *lane) together() {
	for {
		l.mu.Lock()
		n, segments := 0, 0
		for n < len(l.waiting) && segments < mostAtOnce {
			segments += len(l.waiting[n].segments)
			n++
		}
		jobs := slices.Clone(l.waiting[:n])
		if l.waiting = slices.Delete(l.waiting, 0, n); n == 0 {
			l.running = false
		}
		l.mu.Unlock()
		if n == 0 {
			return
		}
		ctx, cancel := context.WithCancel(l.pool.ctx)
		left := sync.WaitGroup{}
		left.Add(n)
		var stops []func() bool
		for _, j := range jobs {
			stops = append(stops, context.AfterFunc(j.ctx, left.Done))
		}
		go func() {
			left.Wait() // nobody waits for the scores any more
			cancel()
		}()
		l.run(ctx, l.engine, jobs)
		for _, stop := range stops {
			if stop() {
				left.Done()
			}
		}
	}
}

// alone scores a request in a run of its own.
func (l *lane) alone(j *job) {
	settings, err := refract.Fit(j.ctx, jobs{j}, l.settings)
	var mu sync.Mutex
	var eng *refract.Engine
	if err == nil {
		eng, err = l.recipe.Engine(settings, func(message string) {
			mu.Lock()
			defer mu.Unlock()
			j.Warnings = append(j.Warnings, message)
		})
	}
	if err != nil {
		j.err = err
		close(j.done)
		return
	}
	l.run(j.ctx, eng, jobs{j})
}

// run scores jobs, and ends them.
func (l *lane) run(ctx context.Context, eng *refract.Engine, all jobs) {
	at := 0
	err := eng.Run(ctx, all, func(s *refract.SegmentScores) error {
		for !all[at].next(s.Segment) {
			at++ // the rest of one that was cancelled did not come
		}
		all[at].Segments = append(all[at].Segments, s)
		return nil
	})
	var ended *refract.Incomplete
	if errors.As(err, &ended) {
		err = nil
	}
	if ctx.Err() == nil {
		l.pool.retireEnded(l, ended, err)
	}
	for _, j := range all {
		whole := len(j.Segments) == len(j.segments)
		switch j.Engine = eng; {
		case len(all) == 1:
			j.Ended, j.err = ended, err
		case j.ctx.Err() != nil:
			j.err = j.ctx.Err()
		case !whole || (ended != nil || err != nil) && slices.ContainsFunc(j.Segments, hasEnded):
			j.err = errAgain
		}
		close(j.done)
	}
}

// retireEnded retires a lane whose metrics ended, but for those that only lack sources.
func (p *Pool) retireEnded(l *lane, ended *refract.Incomplete, err error) {
	var names []string
	sourceless := func(err error) bool { return errors.As(err, new(*refract.NoSourceError)) }
	switch {
	case ended != nil:
		for i, name := range ended.Metrics {
			if !sourceless(ended.Errs[i]) {
				names = append(names, name)
			}
		}
	case err != nil && !sourceless(err):
		for _, h := range l.metrics {
			names = append(names, h.Info().Name)
		}
	}
	if names != nil {
		p.retire(l, names)
	}
}

func hasEnded(s *refract.SegmentScores) bool {
	return slices.ContainsFunc(s.Metrics, func(m refract.MetricScores) bool { return slices.Contains(m.Status, metrics.Ended) })
}

// next reports whether a segment is the next one of the job.
func (j *job) next(s *refract.Segment) bool {
	n := len(j.Segments)
	return n < len(j.segments) && j.segments[n] == s
}

// jobs are the dataset of a run: the segments of all, but for those that are cancelled.
type jobs []*job

// Segments implements refract.Dataset.
func (all jobs) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		for _, j := range all {
			for _, s := range j.segments {
				if j.ctx.Err() != nil {
					break
				}
				if !yield(s, nil) {
					return
				}
			}
		}
	}
}
