package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/pool"
	"github.com/refract-eval/refract/internal/serve"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge/audit"
)

// scoreRequest is what the parameters of score say.
type scoreRequest struct {
	settingFlags
	segments                   []*refract.Segment
	policy, scope              string
	specs                      []string // of aggregators
	systems, perSegment, cells bool
}

// paramsReader reads lists of texts too.
type paramsReader struct{ *jsonline.Reader }

// readParams reads an object of parameters. What is wrong with it is the request's
// fault.
func readParams(params []byte, fields func(r paramsReader) []jsonline.Field) error {
	r := paramsReader{jsonline.NewReader(params)}
	if err := r.Whole(fields(r)...); err != nil {
		return &serve.Usage{Err: err}
	}
	return nil
}

// noParams are those of a method that has none.
func noParams(paramsReader) []jsonline.Field { return nil }

// texts reads an array of texts, or null as none.
func (r paramsReader) texts() (all []string, err error) {
	err = r.OrNull(func() error {
		return r.Elements(func(i int) error {
			at := r.Offset()
			b, err := r.Bytes()
			switch {
			case err != nil:
				return err
			case i == mostListed || len(b) > mostSpec:
				return jsonline.Fault(at, "at most %d texts of %d bytes are taken", mostListed, mostSpec)
			}
			all = append(all, string(b))
			return nil
		})
	})
	return all, err
}

// text reads a text that does not keep the request, or null as "".
func (r paramsReader) text() (string, error) {
	b, err := r.OptionalBytes()
	return string(b), err
}

// segments reads as many segments as the bytes of a request may hold.
func (r paramsReader) segments(params []byte) func() ([]*refract.Segment, error) {
	return func() ([]*refract.Segment, error) {
		return dataset.ReadSegments(r.Reader, min(mostSegments, max(someSegments, len(params)/leastSegment)))
	}
}

func (s *service) readScore(params []byte) (*scoreRequest, error) {
	q := &scoreRequest{}
	var per []string
	err := readParams(params, func(r paramsReader) []jsonline.Field {
		return []jsonline.Field{
			jsonline.To("segments", &q.segments, r.segments(params)),
			jsonline.To("metrics", &q.metrics, r.texts),
			jsonline.To("aggregate", &q.specs, r.texts),
			jsonline.To("missing", &q.policy, r.text),
			jsonline.To("system", &q.scope, r.text),
			jsonline.To("per", &per, r.texts),
			jsonline.To("allow_no_reference", &q.allowNone, r.Bool),
		}
	})
	if err == nil && q.segments == nil {
		err = usagef("score needs segments")
	}
	if err != nil {
		return nil, err
	}
	if q.metrics == nil {
		q.metrics = defaultMetrics
	}
	q.scope = cmp.Or(q.scope, "auto")
	if _, ok := scopes[q.scope]; !ok {
		return nil, usagef("system %.40q: want auto, corpus or average", q.scope)
	}
	for _, spec := range q.specs {
		a, err := aggregate.Parse(spec)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(q.aggregators, func(b aggregate.Aggregator) bool { return a.Name() == b.Name() }) {
			return nil, usagef("the aggregator %s is given twice", a.Name())
		}
		q.aggregators = append(q.aggregators, a)
	}
	if q.policy != "" {
		if q.missing, err = aggregate.ParsePolicy(q.policy); err != nil {
			return nil, usagef("missing: %w", err)
		}
	}
	if per == nil {
		per = []string{"system", "segment"}
	}
	places := map[string]*bool{"system": &q.systems, "segment": &q.perSegment, "cell": &q.cells}
	for _, name := range per {
		if places[name] == nil {
			return nil, usagef("per %.40q: want system, segment or cell", name)
		}
		*places[name] = true
	}
	return q, nil
}

// recipe says of what the engine for the request is made.
func (s *service) recipe(q *scoreRequest) *pool.Recipe {
	of := scorer{settingFlags: q.settingFlags, judgeFlags: s.judgeFlags, judging: s.judging, system: q.scope}
	if q.systems {
		of.per = "system"
	}
	parts := slices.Concat(q.metrics, []string{""}, q.specs, []string{q.missing.String(), fmt.Sprint(of.per, q.scope, q.allowNone, q.cells)})
	return &pool.Recipe{
		Key:     strings.Join(parts, "\x00"),
		Metrics: q.metrics,
		Settings: func(ms []metrics.Metric) ([]refract.Setting, error) {
			if _, err := distinct(q.metrics, ms); err != nil {
				return nil, err
			}
			return of.settings(ms)
		},
		Engine: func(settings []refract.Setting, warn func(string)) (*refract.Engine, error) {
			o := of.options()
			if o.EveryCell = o.EveryCell || q.cells; warn != nil {
				o.Warn = warn
			}
			eng, err := refract.NewEngine(settings, o)
			if err != nil {
				return nil, usagef("%w", err)
			}
			return eng, nil
		},
	}
}

// score is the method of that name.
func (s *service) score(ctx context.Context, params []byte) ([]byte, error) {
	q, err := s.readScore(params)
	if err != nil {
		return nil, err
	}
	if err := s.check(q.metrics); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(q.segments, func(s *refract.Segment) bool { return len(s.Hypotheses) > 0 }) {
		return nil, &serve.Usage{Err: dataset.ErrNoSystems}
	}
	if err := q.demands().admit(ctx); err != nil {
		return nil, err
	}
	got, err := s.pool.Score(ctx, s.recipe(q), q.segments)
	if err != nil {
		return nil, err
	}
	return s.result(q, got)
}

// result is what a request gets.
func (s *service) result(q *scoreRequest, got *pool.Scores) ([]byte, error) {
	gather := audit.NewReports(got.Engine.Metrics(), 0)
	if len(gather.Metrics()) > 0 {
		for _, seg := range got.Segments {
			if err := gather.Add(seg, nil); err != nil {
				return nil, err
			}
		}
		if err := gather.Covered(s.maxUnparsed); err != nil && got.Ended == nil {
			got.Warnings = append(got.Warnings, err.Error())
		}
	}
	v, err := newScored(q, got)
	if err != nil {
		return nil, err
	}
	return v.appendTo(nil), nil
}
