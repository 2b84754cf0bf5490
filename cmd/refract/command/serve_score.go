package command

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/audit"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/serve"
	"github.com/refract-eval/refract/metrics"
)

// scoreRequest is what the parameters of score say.
type scoreRequest struct {
	settingFlags
	segments                   []*refract.Segment
	scope                      string
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
	var per, specs []string
	var policy string
	err := readParams(params, func(r paramsReader) []jsonline.Field {
		return []jsonline.Field{
			jsonline.To("segments", &q.segments, r.segments(params)),
			jsonline.To("metrics", &q.metrics, r.texts),
			jsonline.To("aggregate", &specs, r.texts),
			jsonline.To("missing", &policy, r.text),
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
	if err := errors.Join(each(&q.aggregators, specs, aggregate.Parse), one(&q.missing, policy, aggregate.ParsePolicy)); err != nil {
		return nil, err
	}
	for i, a := range q.aggregators {
		if slices.ContainsFunc(q.aggregators[:i], func(b aggregate.Aggregator) bool { return a.Name() == b.Name() }) {
			return nil, usagef("the aggregator %s is given twice", a.Name())
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

// soon has a method return once its context ends, while its work may go on for a
// while: calls of a model that are under way come home, and are stored.
func (s *service) soon(m serve.Method) serve.Method {
	return func(ctx context.Context, params []byte) (result []byte, err error) {
		done := make(chan struct{})
		var made []byte
		var failed error
		s.work.Go(func() {
			defer close(done)
			made, failed = m(ctx, params)
		})
		select {
		case <-done:
			return made, failed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// score is the method of that name.
func (s *service) score(ctx context.Context, params []byte) (result []byte, err error) {
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
	var ended *refract.Incomplete
	lent := s.lend()
	defer func() { lent.back(ctx, ended, err) }()
	ms := make([]metrics.Metric, len(q.metrics))
	for i, spec := range q.metrics {
		if ms[i], err = lent.metric(ctx, spec); err != nil {
			return nil, err
		}
	}
	eng, warnings, err := s.engine(ctx, q, ms)
	if err != nil {
		return nil, err
	}
	var segments []*refract.SegmentScores
	err = eng.Run(ctx, dataset.InMemory(q.segments), func(s *refract.SegmentScores) error {
		segments = append(segments, s)
		return nil
	})
	if errors.As(err, &ended) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return s.result(q, &scored{scoreRequest: q, Engine: eng, Segments: segments, Ended: ended, Warnings: *warnings})
}

// engine makes the engine of a request. Its warnings are there once it has run.
func (s *service) engine(ctx context.Context, q *scoreRequest, ms []metrics.Metric) (*refract.Engine, *[]string, error) {
	of := scorer{settingFlags: q.settingFlags, judgeFlags: s.judgeFlags, judging: s.judging, system: q.scope}
	if q.systems {
		of.per = "system"
	}
	_, err := distinct(q.metrics, ms)
	var settings []refract.Setting
	if err == nil {
		settings, err = of.settings(ms)
	}
	if err == nil {
		settings, err = refract.Fit(ctx, dataset.InMemory(q.segments), settings)
	}
	if err != nil {
		return nil, nil, err
	}
	warnings := new([]string)
	var mu sync.Mutex
	o := of.options()
	o.EveryCell = o.EveryCell || q.cells
	o.Warn = func(message string) {
		mu.Lock()
		defer mu.Unlock()
		*warnings = append(*warnings, message)
	}
	eng, err := refract.NewEngine(settings, o)
	if err != nil {
		return nil, nil, usagef("%w", err)
	}
	return eng, warnings, nil
}

// lent are the metrics that a request has from the pool.
type lent struct {
	pool *metricPool
	all  []func(ended *refract.Incomplete, err error)
}

func (s *service) lend() *lent { return &lent{pool: s.pool} }

// metric takes one. It can be called as the engine of a plan does.
func (l *lent) metric(_ context.Context, spec string) (metrics.Metric, error) {
	m, back, err := l.pool.lend(spec)
	if err != nil {
		return nil, err
	}
	l.all = append(l.all, func(ended *refract.Incomplete, err error) {
		sourceless := func(err error) bool { return errors.As(err, new(*refract.NoSourceError)) }
		failed := err != nil && !sourceless(err)
		if ended != nil {
			i := slices.Index(ended.Metrics, m.Info().Name)
			failed = failed || i >= 0 && !sourceless(ended.Errs[i])
		}
		back(failed)
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

// result is what a request gets.
func (s *service) result(q *scoreRequest, v *scored) ([]byte, error) {
	gather := audit.NewReports(v.Engine.Metrics())
	if len(gather.Metrics()) > 0 {
		for _, seg := range v.Segments {
			if err := gather.Add(seg, nil); err != nil {
				return nil, err
			}
		}
		if err := gather.Covered(s.maxUnparsed); err != nil && v.Ended == nil {
			v.Warnings = append(v.Warnings, err.Error())
		}
	}
	if err := v.reduce(); err != nil {
		return nil, err
	}
	return v.appendTo(nil), nil
}
