package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/internal/audit"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/serve"
	"github.com/refract-eval/refract/metrics"
)

// What a request may ask for: see docs/serve.md.
const (
	mostListed   = 64        // texts of a parameter
	mostSpec     = 4096      // bytes of one
	mostSettings = 256       // metrics with their aggregators
	mostSegments = 1_000_000 // and those of few bytes:
	leastSegment = 16        // bytes, of which a request of more than someSegments has one each
	someSegments = 10_000
	mostScores   = 4_000_000
)

// Bytes that an answer is expected to have.
const (
	scoreBytes  = 32  // for a score with its status
	systemBytes = 512 // for that of a system with its signature
	rowBytes    = 512 // for a row of a table
)

// readRequest reads parameters: segments, what flags of a command of the same name
// say, of which a list may be given, as of metrics, and others that a function takes.
// null is as nothing. What is wrong with it is the request's fault.
func readRequest(params []byte, cmd *cobra.Command, flags []string, others map[string]func([]string) error) ([]*refract.Segment, error) {
	segments, err := func() (segments []*refract.Segment, err error) {
		var in map[string]jsontext.Value
		if err := jsonline.Unmarshal(params, &in, "the parameters"); err != nil {
			return nil, err
		}
		known := slices.Concat([]string{"segments"}, flags, slices.Sorted(maps.Keys(others)))
		for name := range in {
			if !slices.Contains(known, name) {
				return nil, jsonline.Unknown(name, known)
			}
		}
		if in["segments"].Kind() == 'n' || in["segments"] == nil {
			return nil, fmt.Errorf("%s needs segments", cmd.Name())
		}
		if segments, err = dataset.ReadSegments(in["segments"], min(mostSegments, max(someSegments, len(params)/leastSegment))); err != nil {
			return nil, err
		}
		for _, param := range known[1:] {
			values, err := textsOf(in[param])
			if err != nil {
				return nil, jsonline.Fault("field %s %v", param, err)
			}
			set := others[param]
			if set == nil {
				set = func(values []string) error {
					for _, v := range values {
						if err := cmd.Flags().Lookup(strings.ReplaceAll(param, "metrics", "metric")).Value.Set(v); err != nil {
							return jsonline.Fault("%s: %v", param, unfit(err))
						}
					}
					return nil
				}
			}
			if err := set(values); err != nil {
				return nil, err
			}
		}
		return segments, nil
	}()
	if err != nil {
		return nil, &serve.Usage{Err: err}
	}
	return segments, nil
}

// textsOf reads texts or numbers, or one of them.
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
		case '0':
		default:
			return nil, errors.New("must be a string or a number, or a list of them")
		}
		out = append(out, text)
	}
	return out, nil
}

// demand is what a request asks for.
type demand struct {
	settings, segments, systems int
	cells                       int // of hypotheses and references
	columns                     int // references, at least 1 a segment
	names                       int // bytes of the names of systems
	scores, bytes               int
}

// demandOf sees what segments have. Their scores by so many metrics are counted.
func demandOf(segments []*refract.Segment, metrics, settings int) *demand {
	d := &demand{segments: len(segments), settings: settings}
	seen := map[string]bool{}
	for _, s := range segments {
		columns := max(1, len(s.References))
		d.columns += columns
		d.cells += columns * len(s.Hypotheses)
		for i := range s.Hypotheses {
			if name := s.Hypotheses[i].System; !seen[name] {
				seen[name] = true
				d.names += len(name)
			}
		}
	}
	d.systems = len(seen)
	d.scores = metrics*d.cells + settings*d.systems
	return d
}

// admit waits until there is room for what is asked for, and refuses what is too much.
func (d *demand) admit(ctx context.Context) error {
	switch {
	case d.settings > mostSettings:
		return usagef("the request has %s, each a metric with an aggregator, and at most %d are taken: part it", english.Thousands(d.settings, "setting"), mostSettings)
	case d.scores > mostScores:
		return usagef("the request asks for %s, by %s for %s of %s, and at most %s are taken: part it", english.Thousands(d.scores, "score"),
			english.Thousands(d.settings, "setting"), english.Thousands(d.segments, "segment"), english.Thousands(d.systems, "system"), english.Thousands(mostScores, "score"))
	}
	return serve.Expect(ctx, int64(d.bytes))
}

// score is the method of that name.
func (s *service) score(ctx context.Context, params []byte) (result []byte, err error) {
	q := &scorer{judgeFlags: s.judgeFlags, judging: s.judging}
	per := []string{"system", "segment"}
	cmd := &cobra.Command{Use: "score"}
	q.settingFlags.register(s.e, cmd, "")
	q.registerScope(cmd)
	segments, err := readRequest(params, cmd, []string{"metrics", "aggregate", "missing", "system"},
		map[string]func([]string) error{"per": func(given []string) error {
			for _, name := range given {
				if _, err := wordOf("system", "segment", "cell")(name); err != nil {
					return fmt.Errorf("per %w", err)
				}
			}
			if given != nil {
				per = given
			}
			return nil
		}})
	if err != nil {
		return nil, err
	}
	v := &scored{segments: segments, bySystem: slices.Contains(per, "system"), bySegment: slices.Contains(per, "segment"), byCell: slices.Contains(per, "cell")}
	if len(q.metrics) == 0 {
		q.metrics = defaultMetrics
	}
	if err := s.check(q.metrics); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(segments, func(s *refract.Segment) bool { return len(s.Hypotheses) > 0 }) {
		return nil, &serve.Usage{Err: dataset.ErrNoSystems}
	}
	d := demandOf(segments, len(q.metrics), len(q.metrics)*max(1, len(q.aggregators)))
	more := 0
	if v.bySegment {
		more += d.settings * d.segments * d.systems
	}
	if v.byCell {
		more += len(q.metrics) * d.columns * d.systems
	}
	d.scores += more
	d.bytes = d.settings*(systemBytes+systemBytes*d.systems+3*d.names) + more*scoreBytes
	if err := d.admit(ctx); err != nil {
		return nil, err
	}
	lent := &lent{pool: s.pool}
	defer func() { lent.back(ctx, v.ended, err) }()
	ms := make([]metrics.Metric, len(q.metrics))
	for i, spec := range q.metrics {
		if ms[i], err = lent.metric(ctx, spec); err != nil {
			return nil, err
		}
	}
	if _, err := distinct(q.metrics, ms); err != nil {
		return nil, err
	}
	settings, err := q.settings(ms)
	if err == nil {
		settings, err = refract.Fit(ctx, dataset.InMemory(segments), settings)
	}
	if err != nil {
		return nil, err
	}
	if v.bySystem {
		q.per = "system"
	}
	var mu sync.Mutex
	o := q.options()
	o.EveryCell = v.byCell
	o.Warn = func(message string) {
		mu.Lock()
		defer mu.Unlock()
		v.warnings = append(v.warnings, message)
	}
	if v.engine, err = refract.NewEngine(settings, o); err != nil {
		return nil, usagef("%w", err)
	}
	gather := audit.NewReports(v.engine.Metrics())
	err = v.engine.Run(ctx, dataset.InMemory(segments), func(s *refract.SegmentScores) error {
		v.scores = append(v.scores, s)
		return gather.Add(s, nil)
	})
	if err != nil && !errors.As(err, &v.ended) {
		return nil, err
	}
	if err := gather.Covered(s.maxUnparsed); err != nil && v.ended == nil {
		v.warnings = append(v.warnings, err.Error())
	}
	return v.marshal()
}

// compare is the method of that name.
func (s *service) compare(ctx context.Context, params []byte) (result []byte, err error) {
	c := &comparer{}
	c.judges = s.judgeFlags
	cmd := &cobra.Command{Use: "compare"}
	c.score.register(s.e, cmd, "")
	c.registerStatistics(cmd, settingsCompared)
	c.registerTable(cmd)
	segments, err := readRequest(params, cmd, []string{"metrics", "aggregate", "missing", "statistic", "per", "group", "test", "resamples", "seed", "human", "table"}, nil)
	if err != nil {
		return nil, err
	}
	if err := s.check(c.score.metrics); err != nil {
		return nil, err
	}
	p, err := c.asked(nil)
	if err != nil {
		return nil, err
	}
	// The answer has rows alone, but scores and resamples are kept until it is there.
	d := demandOf(segments, len(p.Metrics), len(p.Metrics)*len(p.Aggregators))
	rows := len(p.Statistics) * d.settings
	d.scores += d.settings*d.segments*d.systems + rows*p.Bootstrap.Resamples
	if c.table == pairsTable {
		rows *= d.settings
	}
	d.bytes = rows * rowBytes
	if err := d.admit(ctx); err != nil {
		return nil, err
	}
	r := s.judging.planRun(p)
	r.Options = s.judging.options(r.Options)
	r.Open = func(experiment.Dataset) (refract.Dataset, error) {
		return dataset.WithSystems(dataset.InMemory(segments)), nil
	}
	lent := &lent{pool: s.pool}
	defer func() { lent.back(ctx, nil, err) }()
	r.Metric = lent.metric
	res, _, err := r.Run(ctx, p)
	if err != nil {
		return nil, err // also where some metrics ended: there is no place to say so beside rows
	}
	return asJSON(c.view(res))
}

// lent are the metrics that a request has from the pool.
type lent struct {
	pool *metricPool
	all  []func(ended *refract.Incomplete, err error)
}

// metric takes one. It can be called as the engine of a plan does.
func (l *lent) metric(_ context.Context, spec string) (metrics.Metric, error) {
	m, back, err := l.pool.lend(spec)
	if err != nil {
		return nil, err
	}
	l.all = append(l.all, func(ended *refract.Incomplete, err error) {
		if ended != nil {
			err = nil
			if i := slices.Index(ended.Metrics, m.Info().Name); i >= 0 {
				err = ended.Errs[i]
			}
		}
		back(err != nil && !errors.As(err, new(*refract.NoSourceError)))
	})
	return m, nil
}

// back gives all back after a run. Those that failed, not by the fault or wish of the
// request, are made anew.
func (l *lent) back(ctx context.Context, ended *refract.Incomplete, err error) {
	if ctx.Err() != nil || isUsage(err) {
		ended, err = nil, nil
	}
	for _, back := range l.all {
		back(ended, err)
	}
}
