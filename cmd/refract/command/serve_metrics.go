package command

import (
	"context"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/refract-eval/refract/metrics"
)

// mostMetrics is how many metrics a server keeps.
const mostMetrics = 64

// pooledSpec is what a metric is made of: its spec and, of a judge, whose prompts name them, the
// languages of the request.
type pooledSpec struct{ spec, from, to string }

// metricPool keeps the metrics that were used last and all that are in use, for the
// requests of a server. It is safe for concurrent use.
type metricPool struct {
	ctx  context.Context // under which metrics run
	open func(context.Context, pooledSpec) (metrics.Metric, error)
	warn func(error) // reports an error from closing a metric

	opening sync.Mutex // metrics are made one at a time
	mu      sync.Mutex
	kept    *simplelru.LRU[pooledSpec, *pooled]
	ending  sync.WaitGroup
}

// pooled is a metric with its users.
type pooled struct {
	metrics.Metric
	of    pooledSpec
	users sync.WaitGroup // grows only while the metric is kept
}

func newMetricPool(ctx context.Context, most int, open func(context.Context, pooledSpec) (metrics.Metric, error), warn func(error)) *metricPool {
	p := &metricPool{ctx: ctx, open: open, warn: warn}
	p.kept, _ = simplelru.NewLRU(most, func(_ pooledSpec, m *pooled) { // fails only for a size below 1
		p.ending.Go(func() {
			m.users.Wait()
			if err := metrics.Close(m.Metric); err != nil {
				p.warn(err)
			}
		})
	})
	return p
}

// lend returns a metric, in use until it is given back.
func (p *metricPool) lend(of pooledSpec) (*pooled, error) {
	p.opening.Lock()
	defer p.opening.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	m, kept := p.kept.Get(of)
	if !kept {
		p.mu.Unlock() // requests go on while it is made
		made, err := p.open(p.ctx, of)
		p.mu.Lock()
		if err != nil {
			return nil, err
		}
		m = &pooled{Metric: made, of: of}
		p.kept.Add(of, m)
	}
	m.users.Add(1)
	return m, nil
}

// giveBack ends the use of a metric. A failed metric is made again for the next request.
func (p *metricPool) giveBack(m *pooled, failed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now, ok := p.kept.Peek(m.of); ok && now == m && failed {
		p.kept.Remove(m.of)
	}
	m.users.Done()
}

// close closes all metrics. No request may be running.
func (p *metricPool) close() {
	p.mu.Lock()
	p.kept.Purge()
	p.mu.Unlock()
	p.ending.Wait()
}
