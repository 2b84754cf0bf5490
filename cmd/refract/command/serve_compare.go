package command

import (
	"context"
	"errors"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/internal/jsonline"
)

// readCompare reads what compare is to do.
func (s *service) readCompare(params []byte) (*comparer, []*refract.Segment, error) {
	c := s.compares // what the command has by default
	c.judges = s.judgeFlags
	var segments []*refract.Segment
	var specs, statistics []string
	var policy, level, group, method, table string
	err := readParams(params, func(r paramsReader) []jsonline.Field {
		count := func(name string, to *int, least int) jsonline.Field {
			return jsonline.With(name, func() error {
				at, number := r.Offset(), r.Kind() == jsonline.Number
				n, err := r.Int()
				if *to = n; number && (err != nil || n < least || n > correlate.MaxResamples) {
					err = jsonline.Fault(at, "%s is an integer from %d to %d", name, least, correlate.MaxResamples)
				}
				return err
			})
		}
		return []jsonline.Field{
			jsonline.To("segments", &segments, r.segments(params)),
			jsonline.To("metrics", &c.score.metrics, r.texts),
			jsonline.To("aggregate", &specs, r.texts),
			jsonline.To("missing", &policy, r.text),
			jsonline.With("statistic", func() (err error) {
				if r.Kind() != jsonline.String {
					statistics, err = r.texts()
					return err
				}
				statistics = []string{""}
				statistics[0], err = r.text()
				return err
			}),
			jsonline.To("level", &level, r.text),
			jsonline.To("group", &group, r.text),
			jsonline.To("significance", &method, r.text),
			count("resamples", &c.resamples, 1),
			jsonline.With("seed", func() error {
				n, err := r.Index()
				c.boot.seed = uint64(n)
				return err
			}),
			count("bootstrap", &c.boot.bootstrap, 0),
			jsonline.To("human", &c.human, r.text),
			jsonline.To("table", &table, r.text),
		}
	})
	if err == nil && segments == nil {
		err = usagef("compare needs segments")
	}
	return &c, segments, errors.Join(err,
		each(&c.score.aggregators, specs, aggregate.Parse),
		each(&c.statistics, statistics, correlate.ParseStatistic),
		one(&c.score.missing, policy, aggregate.ParsePolicy),
		one(&c.levels, level, onlyOf(correlate.ParseLevel)),
		one(&c.groupings, group, onlyOf(correlate.ParseGrouping)),
		one(&c.method, method, func(name string) (significance.Method, error) {
			c.tested = true
			return significance.ParseMethod(name)
		}),
		one(&c.table, table, wordOf(settingsTable, pairsTable, ranksTable)))
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
	if err := s.check(c.score.metrics); err != nil {
		return nil, err
	}
	p, err := c.asked(nil)
	if err != nil {
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
	lent := s.lend()
	defer func() { lent.back(ctx, nil, err) }()
	r.Metric = lent.metric
	res, _, err := r.Run(ctx, p)
	if err != nil {
		return nil, err // also where some metrics ended: there is no place to say so beside rows
	}
	return asJSON(c.view(res))
}

// demands is what a comparison asks for: its answer has rows alone, but scores and
// resamples are kept until it is there.
func (c *comparer) demands(p *experiment.Plan, segments []*refract.Segment) *demand {
	d := demandOf(segments, len(p.Metrics), len(p.Metrics)*len(p.Aggregators))
	rows := len(p.Statistics) * d.settings
	d.scores += d.settings*d.segments*d.systems + rows*p.Bootstrap.Resamples
	if c.table == pairsTable {
		rows *= d.settings
	}
	d.bytes = rows * rowBytes
	return d
}
