// Package pool keeps engines for requests that come one by one, each a few segments
// to score by some settings.
//
// Requests with equal settings that wait at the same time are scored in one run of
// the engine: what asks a server or a program asks once for all of them. Each gets
// the scores, and the errors, that it had alone. A metric that ends is made anew for
// the next request.
package pool

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/metrics"
)

// Config says how metrics and engines come about.
type Config struct {
	// Metric makes the metric of a spec, whose use ends with the context. It is called
	// by one goroutine at a time.
	Metric func(ctx context.Context, spec string) (metrics.Metric, error)
	Warn   func(error) // is told of metrics that do not end well
	Most   int         // engines that are kept
}

// Pool keeps engines, and the metrics that they share. It is safe for concurrent use.
type Pool struct {
	Config
	ctx context.Context

	making sync.Mutex // of metrics
	mu     sync.Mutex
	kept   *simplelru.LRU[string, *lane]
	held   map[string]*held // metrics by spec
	wait   sync.WaitGroup   // for runs, and for metrics to end
}

// held is a metric that lanes share.
type held struct {
	metrics.Metric
	spec  string
	lanes int
}

// New returns an empty pool, whose runs end with the context. Close it.
func New(ctx context.Context, c Config) *Pool {
	p := &Pool{Config: c, ctx: ctx, held: map[string]*held{}}
	p.kept, _ = simplelru.NewLRU(c.Most, func(_ string, l *lane) { p.release(l) }) // which fails below 1
	return p
}

// Close ends the use of all metrics, once nothing runs any more.
func (p *Pool) Close() {
	p.mu.Lock()
	p.kept.Purge()
	p.mu.Unlock()
	p.wait.Wait()
}

// Recipe says what a run is made of. Requests with equal keys share an engine.
type Recipe struct {
	Key     string
	Metrics []string // specs
	// Settings are those of the metrics, and Engine is one for them; warn is nil, or is
	// told what concerns the segments of a run.
	Settings func([]metrics.Metric) ([]refract.Setting, error)
	Engine   func(settings []refract.Setting, warn func(message string)) (*refract.Engine, error)
}

// Scores are those of a request.
type Scores struct {
	Engine   *refract.Engine
	Segments []*refract.SegmentScores
	Ended    *refract.Incomplete // nil where all metrics scored all
	Warnings []string
}

// Score scores segments. The error may be that of refract.Engine.Check.
func (p *Pool) Score(ctx context.Context, r *Recipe, segments []*refract.Segment) (*Scores, error) {
	for again := false; ; again = true {
		l, err := p.lane(ctx, r)
		if err != nil {
			return nil, err
		}
		out, err := l.score(ctx, segments, again)
		p.done(l)
		if !errors.Is(err, errAgain) {
			return out, err
		}
	}
}

// lane finds or makes the lane of a recipe. Release it.
func (p *Pool) lane(ctx context.Context, r *Recipe) (*lane, error) {
	p.mu.Lock()
	l, ok := p.kept.Get(r.Key)
	if !ok {
		l = &lane{pool: p, key: r.Key, made: make(chan struct{}), users: 1}
		p.kept.Add(r.Key, l)
		l.use(func() { p.make(l, r) })
	}
	l.users++
	p.mu.Unlock()
	var err error
	select {
	case <-l.made:
		err = l.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		p.done(l)
	}
	return l, err
}

// use has a goroutine use a lane. It is called with the lock.
func (l *lane) use(work func()) {
	l.users++
	l.pool.wait.Go(func() {
		work()
		l.pool.done(l)
	})
}

// done ends a use of a lane.
func (p *Pool) done(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.release(l)
}

// make makes the metrics and the engine of a lane.
func (p *Pool) make(l *lane, r *Recipe) {
	defer close(l.made)
	ms := make([]metrics.Metric, len(r.Metrics))
	for i, spec := range r.Metrics {
		var h *held
		if h, l.err = p.hold(spec); l.err != nil {
			break
		}
		l.metrics, ms[i] = append(l.metrics, h), h.Metric
	}
	if l.err == nil {
		l.err = l.equip(r, ms)
	}
	if l.err != nil {
		p.retire(l, nil)
	}
}

// hold finds or makes the metric of a spec. Drop it.
func (p *Pool) hold(spec string) (*held, error) {
	p.making.Lock()
	defer p.making.Unlock()
	p.mu.Lock()
	h := p.held[spec]
	if h != nil {
		h.lanes++
	}
	p.mu.Unlock()
	if h != nil {
		return h, nil
	}
	m, err := p.Metric(p.ctx, spec)
	if err != nil {
		return nil, err
	}
	h = &held{Metric: m, spec: spec, lanes: 1}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[spec] = h
	return h, nil
}

// Lend gives the metric of a spec, and what ends its use, which says whether the metric
// failed.
func (p *Pool) Lend(spec string) (m metrics.Metric, back func(failed bool), err error) {
	h, err := p.hold(spec)
	if err != nil {
		return nil, nil, err
	}
	l := &lane{pool: p, users: 1, metrics: []*held{h}} // of no key
	return h.Metric, func(failed bool) {
		if failed {
			p.retire(l, []string{h.Info().Name})
		}
		p.done(l)
	}, nil
}

// retire lets no further request into a lane, nor to those of its metrics that ended.
func (p *Pool) retire(l *lane, ended []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now, ok := p.kept.Peek(l.key); ok && now == l {
		p.kept.Remove(l.key)
	}
	for _, h := range l.metrics {
		if !slices.Contains(ended, h.Info().Name) || p.held[h.spec] != h {
			continue
		}
		delete(p.held, h.spec)
		for _, key := range p.kept.Keys() {
			if other, _ := p.kept.Peek(key); other.holds(h) {
				p.kept.Remove(key)
			}
		}
	}
}

// release ends a use of a lane, of which being kept is one. It is called with the lock.
func (p *Pool) release(l *lane) {
	if l.users--; l.users > 0 {
		return
	}
	for _, h := range l.metrics {
		if h.lanes--; h.lanes > 0 {
			continue
		}
		if p.held[h.spec] == h {
			delete(p.held, h.spec)
		}
		c, ok := h.Metric.(io.Closer)
		if !ok {
			continue
		}
		p.wait.Go(func() {
			if err := c.Close(); err != nil {
				p.Warn(err)
			}
		})
	}
}
