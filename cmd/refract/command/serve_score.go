package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/audit"
	"github.com/refract-eval/refract/cmd/refract/internal/serve"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/metrics"
)

// Limits of a request: see docs/reference/protocols.md.
const (
	mostListed   = 64   // texts of a parameter
	mostSpec     = 4096 // bytes of one
	someSegments = 10_000
	shortRequest = 8 << 10 // bytes, below which no goroutine is worth its start
	leastSegment = 40      // bytes, of which a request of more than someSegments has one each
)

// Estimates of the memory that a request takes, in bytes.
const (
	scoreBytes = 32  // for a score with its status
	rowBytes   = 512 // for a row of a table, or a system with its signature
	rowWidth   = 32  // numbers that a segment adds to a score
)

// readRequest reads parameters: segments, and what values are set to, a list where there
// may be several. null means not given. An error is a usage error.
func readRequest(params []byte, method string, values settable) ([]*refract.Segment, error) {
	var in map[string]jsontext.Value
	err := jsonline.Unmarshal(params, &in, "the parameters")
	values["metrics"] = values["metric"] // a request may name several
	delete(values, "metric")
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if err != nil || name == "segments" {
			continue
		}
		value := values[name]
		if value == nil {
			err = jsonline.Unknown(name, append(slices.Sorted(maps.Keys(values)), "segments"))
			continue
		}
		texts, wrong := textsOf(in[name])
		for _, text := range texts {
			wrong = cmp.Or(wrong, numberError(value.Set(text)))
		}
		if wrong != nil {
			err = jsonline.Fault("%s: %v", name, wrong)
		}
	}
	if v := in["segments"]; err == nil && (v == nil || v.Kind() == 'n') {
		err = fmt.Errorf("%s needs segments", method)
	}
	var segments []*refract.Segment
	if err == nil {
		segments, err = dataset.ReadSegments(in["segments"], max(someSegments, len(params)/leastSegment))
	}
	if err != nil {
		return nil, &serve.Usage{Err: err}
	}
	return segments, nil
}

// textsOf reads a text or a number, or a list of them.
func textsOf(v jsontext.Value) ([]string, error) {
	all := []jsontext.Value{v}
	switch v.Kind() {
	case 0, 'n':
		return nil, nil
	case '[':
		all = nil
		if err := json.Unmarshal(v, &all); err != nil {
			return nil, err
		}
	}
	var out []string
	for _, v := range all {
		if len(v) > mostSpec || len(all) > mostListed {
			return nil, fmt.Errorf("is too long: at most %d texts of %d bytes are taken", mostListed, mostSpec)
		}
		text := v.String()
		switch v.Kind() {
		case '"':
			if err := json.Unmarshal(v, &text); err != nil {
				return nil, err
			}
		case '0', 't', 'f':
		default:
			return nil, errors.New("must be a string, a number or true, or a list of them")
		}
		out = append(out, text)
	}
	return out, nil
}

// demand is what a request is about, and its size.
type demand struct {
	segments []*refract.Segment
	systems  []string       // as they appear
	index    map[string]int // of systems
	cells    int            // of hypotheses and references
	columns  int            // references, at least 1 a segment
	names    int            // bytes of the names of systems
}

func demandOf(segments []*refract.Segment) *demand {
	d := &demand{segments: segments, index: map[string]int{}}
	for _, s := range segments {
		columns := max(1, len(s.References))
		d.columns += columns
		d.cells += columns * len(s.Hypotheses)
		for i := range s.Hypotheses {
			name := s.Hypotheses[i].System
			if _, known := d.index[name]; !known {
				d.index[name], d.systems, d.names = len(d.systems), append(d.systems, name), d.names+len(name)
			}
		}
	}
	return d
}

// perSegment is the number of scores of each segment and system under some settings.
func (d *demand) perSegment(settings int) int { return settings * len(d.segments) * len(d.systems) }

// score is the method of this name.
func (s *serveRun) score(ctx context.Context, params []byte) (result []byte, err error) {
	q, v := &scoring{}, &scored{}
	values := q.values()
	values["per"] = listOf(&v.asked, "system,segment", wordOf("system", "segment", "cell", perStatistics), strings.Clone)
	segments, err := readRequest(params, "score", values)
	if err != nil {
		return nil, err
	}
	v.demand = demandOf(segments)
	q.metrics = q.specs(defaultMetrics...)
	if err := s.check(q.metrics); err != nil {
		return nil, err
	}
	if len(v.systems) == 0 {
		return nil, &serve.Usage{Err: dataset.ErrNoSystems}
	}
	settings, scores := len(q.metrics)*max(1, len(q.aggregators)), len(q.metrics)*v.cells
	if v.per("segment") {
		scores += v.perSegment(settings)
	}
	if v.per("cell") {
		scores += len(q.metrics) * v.columns * len(v.systems)
	}
	if v.per(perStatistics) {
		scores += v.perSegment(settings) * rowWidth
	}
	if err := serve.Expect(ctx, int64(scores*scoreBytes+settings*(rowBytes+rowBytes*len(v.systems)+3*v.names))); err != nil {
		return nil, err
	}
	from, target := q.languages(nil)
	borrowed := &borrowedMetrics{pool: s.pool, from: from, to: target}
	defer func() { borrowed.giveBack(ctx, v.ended, err) }()
	ms, err := q.parse(func(spec string) (metrics.Metric, error) { return borrowed.metric(ctx, spec) })
	if err != nil {
		return nil, err
	}
	l := dataset.Localize(ms, target, segments, func(message string) { v.warnings = append(v.warnings, message) })
	for _, s := range segments {
		if err := l.Check(s); err != nil && target == "" {
			return nil, &serve.Usage{Err: err}
		}
	}
	ms = l.Metrics
	chosen, err := q.settings(ms, true)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	o := s.judging.options(refract.Options{EveryCell: v.per("cell")})
	if len(params) < shortRequest {
		o.Workers = 1
	}
	o.Warn = func(message string) {
		mu.Lock()
		defer mu.Unlock()
		v.warnings = append(v.warnings, message)
	}
	if v.engine, err = q.engine(ctx, refract.InMemory(segments), chosen, v.per("system"), o); err != nil {
		return nil, err
	}
	gather := audit.NewReports(v.engine.Metrics())
	err = v.engine.Run(ctx, refract.InMemory(segments), func(s *refract.SegmentScores) error {
		v.scores = append(v.scores, s)
		return gather.Add(s, nil)
	})
	if err != nil && !errors.As(err, &v.ended) {
		return nil, err
	}
	if err := gather.Trust.Covered(mostUnparsed); err != nil && v.ended == nil {
		v.warnings = append(v.warnings, err.Error())
	}
	return v.marshal()
}

// compare is the method of this name.
func (s *serveRun) compare(ctx context.Context, params []byte) (result []byte, err error) {
	c := &compareRun{}
	segments, err := readRequest(params, "compare", c.parameters())
	if err != nil {
		return nil, err
	}
	if err := s.check(c.scoring.metrics); err != nil {
		return nil, err
	}
	p, err := c.asked(nil)
	if err != nil {
		return nil, err
	}
	// The answer has only rows, but scores and resamples are kept until it is complete.
	d, settings := demandOf(segments), len(p.Metrics)*len(p.Aggregators)
	rows := len(p.Statistics) * settings
	scores := len(p.Metrics)*d.cells + d.perSegment(settings) + rows*p.Bootstrap.Resamples
	if c.showsPairs() {
		rows *= settings
	}
	if err := serve.Expect(ctx, int64(scores*scoreBytes+rows*rowBytes)); err != nil {
		return nil, err
	}
	r := s.judging.planRun(p)
	r.Options = s.judging.options(r.Options)
	r.Open = func(experiment.Dataset) (refract.Dataset, error) {
		return dataset.WithSystems(refract.InMemory(segments)), nil
	}
	borrowed := &borrowedMetrics{pool: s.pool}
	borrowed.from, borrowed.to = c.scoring.languages(nil)
	defer func() { borrowed.giveBack(ctx, nil, err) }()
	r.Metric = borrowed.metric
	res, err := r.Run(ctx, p)
	if err != nil {
		return nil, err // also when some metrics ended: rows have no place to say so
	}
	if c.table != bothTables {
		return asJSON(c.view(res))
	}
	both := map[string]jsontext.Value{}
	for name, table := range map[string]string{"rows": settingsTable, "pairs": pairsTable} {
		c.table = table
		if both[name], err = asJSON(c.view(res)); err != nil {
			return nil, err
		}
	}
	return json.Marshal(both, json.Deterministic(true))
}

// borrowedMetrics are the metrics that a request has borrowed from the pool.
type borrowedMetrics struct {
	pool     *metricPool
	from, to string // languages of the request
	all      []*pooled
}

// metric borrows one, and has the form that the engine of a plan calls.
func (b *borrowedMetrics) metric(_ context.Context, spec string) (metrics.Metric, error) {
	of := pooledSpec{spec: spec}
	if name, _, _ := strings.Cut(spec, ":"); isJudge(name) {
		of.from, of.to = b.from, b.to
	}
	m, err := b.pool.lend(of)
	if err != nil {
		return nil, err
	}
	b.all = append(b.all, m)
	return m.Metric, nil
}

// giveBack returns all metrics after a run. Those that failed through no fault of the
// request are made again.
func (b *borrowedMetrics) giveBack(ctx context.Context, ended *refract.Incomplete, err error) {
	if ctx.Err() != nil || isUsage(err) {
		ended, err = nil, nil
	}
	for _, m := range b.all {
		why := err
		if ended != nil {
			why = nil
			if i := slices.Index(ended.Metrics, m.Info().Name); i >= 0 {
				why = ended.Errs[i]
			}
		}
		b.pool.giveBack(m, why != nil && !errors.As(why, new(*refract.NoSourceError)))
	}
}

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
