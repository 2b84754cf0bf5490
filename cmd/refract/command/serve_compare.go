package command

import (
	"context"
	"errors"
	"math"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/metrics"
)

// readCompare reads what compare is to do.
func (s *service) readCompare(params []byte) (*comparer, []*refract.Segment, error) {
	c := s.compares // what the command has by default
	c.judgeFlags = s.judgeFlags
	var segments []*refract.Segment
	var specs, statistics []string
	var policy, level, group, method, table string
	texts := map[string]*string{"human": &c.human, "missing": &policy, "level": &level, "group": &group, "significance": &method, "table": &table}
	numbers := map[string]*int{"resamples": &c.resamples, "bootstrap": &c.bootstrap}
	names := []string{"segments", "metrics", "aggregate", "missing", "statistic", "level", "group", "significance", "resamples", "seed", "bootstrap", "human", "table"}
	err := readParams(params, names, func(r *jsonline.Reader, name string) (err error) {
		switch name {
		case "segments":
			segments, err = readSegments(r, params)
		case "metrics":
			err = readList(r, &c.metrics)
		case "aggregate":
			err = readList(r, &specs)
		case "statistic":
			if r.Kind() == jsonline.String {
				statistics = []string{""}
				return readOptional(r, &statistics[0])
			}
			err = readList(r, &statistics)
		case "seed":
			var n int
			n, err = r.Index()
			c.seed = uint64(n)
		default:
			if to := texts[name]; to != nil {
				return readOptional(r, to)
			}
			at, least := r.Offset(), 0
			if name == "resamples" {
				least = 1
			}
			number := r.Kind() == jsonline.Number
			n, bad := r.Int()
			if *numbers[name], err = n, bad; number && (bad != nil || n < least || n > correlate.MaxResamples) {
				err = jsonline.Fault(at, "%s is an integer from %d to %d", name, least, correlate.MaxResamples)
			}
		}
		return err
	})
	if err == nil && segments == nil {
		err = usagef("compare needs segments")
	}
	return &c, segments, errors.Join(err,
		each(&c.aggregators, specs, aggregate.Parse),
		each(&c.statistics, statistics, correlate.ParseStatistic),
		one(&c.missing, policy, aggregate.ParsePolicy),
		one(&c.levels, level, onlyOf(correlate.ParseLevel)),
		one(&c.groupings, group, onlyOf(correlate.ParseGrouping)),
		one(&c.method, method, func(name string) (significance.Method, error) {
			c.tested = true
			return significance.ParseMethod(name)
		}),
		one(&c.what, table, wordOf(settingsTable, pairsTable, ranksTable)))
}

// one reads a parameter that is given.
func one[T any](to *T, text string, parse func(string) (T, error)) error {
	if text == "" {
		return nil
	}
	v, err := parse(text)
	if err != nil {
		return usagef("%w", err)
	}
	*to = v
	return nil
}

// onlyOf makes a list of one value.
func onlyOf[T any](parse func(string) (T, error)) func(string) ([]T, error) {
	return func(text string) ([]T, error) {
		v, err := parse(text)
		return []T{v}, err
	}
}

// each reads a list, in place of what is there where some are given.
func each[T any](to *[]T, texts []string, parse func(string) (T, error)) error {
	if len(texts) > 0 {
		*to = nil
	}
	for _, text := range texts {
		v, err := parse(text)
		if err != nil {
			return usagef("%w", err)
		}
		*to = append(*to, v)
	}
	return nil
}

// compare is the method of that name.
func (s *service) compare(ctx context.Context, params []byte) (result []byte, err error) {
	c, segments, err := s.readCompare(params)
	if err != nil {
		return nil, err
	}
	if err := s.check(c.metrics); err != nil {
		return nil, err
	}
	p, err := c.plan("", nil, "single", "max", "mean", "native")
	if err != nil {
		return nil, err
	}
	if err := c.ask(p); err != nil {
		return nil, err
	}
	if err := c.demands(p, segments).admit(ctx); err != nil {
		return nil, err
	}
	r := s.judging.planRun(p)
	r.Options = s.judging.options(r.Options)
	r.Open = func(experiment.Dataset) (refract.Dataset, error) {
		return dataset.WithSystems(dataset.InMemory(segments)), nil
	}
	var back []func(failed bool)
	defer func() {
		for _, b := range back {
			b(err != nil && ctx.Err() == nil)
		}
	}()
	r.Metric = func(_ context.Context, spec string) (metrics.Metric, error) {
		m, b, err := s.pool.Lend(spec)
		if err == nil {
			back = append(back, b)
		}
		return m, err
	}
	res, _, err := r.Run(ctx, p)
	if err != nil {
		return nil, err // also where some metrics ended: there is no place to say so beside rows
	}
	return asJSON(c.view(p, res))
}

// demands is what a comparison asks for: its answer has rows alone, but scores and
// resamples are kept until it is there.
func (c *comparer) demands(p *experiment.Plan, segments []*refract.Segment) *demand {
	d := demandOf(segments, len(p.Metrics), len(p.Metrics)*len(p.Aggregators))
	rows := len(p.Statistics) * d.settings
	d.scores += d.settings*d.segments*d.systems + rows*p.Bootstrap.Resamples
	if c.what == pairsTable {
		rows *= d.settings
	}
	d.bytes = rows * rowBytes
	return d
}

// finite is a bound as JSON has it.
func finite(bound float64) *float64 {
	if math.IsInf(bound, 0) {
		return nil
	}
	return &bound
}
