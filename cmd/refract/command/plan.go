package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/agreement"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/metrics"
)

// compareRun holds the columns of a comparison and how to fill them.
type compareRun struct {
	columns []column
	engine  *refract.Engine // nil where all scores are the dataset's own
	matrix  *storedScores   // nil unless scores are stored
	policy  aggregate.Policy
	set     string // name of the set of references, once all is read
	judging *judging
	gather  *explained // what judges say; nil where there are none
}

const storedMetric = "stored"

// plan finds the columns: settings to score, a stored matrix, stored metrics.
func (c *comparer) plan(ctx context.Context, e *env, args []string) (*compareRun, error) {
	policy, err := c.missing()
	if err != nil {
		return nil, err
	}
	run := &compareRun{policy: policy}
	computed, stored, all := c.splitStored()
	aggs, err := c.parseAggregators()
	if err != nil {
		return nil, err
	}
	asked := len(aggs) > 0
	if !asked {
		aggs = aggregators("single", "max", "mean", "native")
	}
	switch {
	case c.matrix != "":
		if len(c.metrics) > 0 {
			return nil, usagef("--matrix has its metrics; leave --metric out")
		}
		if err := run.addMatrix(ctx, c.matrix, aggs, asked); err != nil {
			return nil, err
		}
	case len(computed) > 0 || len(c.metrics) == 0:
		flags := c.settingFlags
		flags.metrics = computed
		ms, judging, err := c.metricsOf(ctx, e, &flags)
		if err != nil {
			return nil, err
		}
		run.judging = judging
		settings, err := cross(ms, aggs, asked, scoresNative)
		if err != nil {
			return nil, err
		}
		o := refract.Options{Missing: policy, AllowNoReferences: c.allowNone, EveryCell: c.earlyStop == "no"}
		if err := run.addSettings(settings, o); err != nil {
			return nil, err
		}
		if run.gather, err = new(explainFlags).explain(e, run.engine); err != nil {
			return nil, err
		}
	}
	if all || len(stored) > 0 {
		if len(args) == 0 {
			return nil, usagef("stored metrics need an mtme: dataset")
		}
		if all {
			stored = nil
		}
		if err := run.addStored(args[0], stored); err != nil {
			return nil, err
		}
	}
	return run, nil
}

// splitStored parts the metrics that are scored from those that are stored.
func (c *comparer) splitStored() (computed, stored []string, all bool) {
	for _, m := range c.metrics {
		name, ok := strings.CutPrefix(m, storedMetric+":")
		switch {
		case m == storedMetric:
			all = true
		case ok:
			stored = append(stored, name)
		default:
			computed = append(computed, m)
		}
	}
	return computed, stored, all
}

// addSettings adds a column for each setting, and makes their engine.
func (r *compareRun) addSettings(settings []refract.Setting, o refract.Options) error {
	var err error
	if r.engine, err = refract.NewEngine(settings, o); err != nil {
		return err
	}
	for k, set := range settings {
		info := set.Metric.Info()
		col := column{
			metric:      info.Name,
			aggregate:   aggregateName(set),
			setting:     k,
			orientation: float64(info.Direction),
			signature: func(lo, hi int) string {
				return refract.SettingSignature(set, metrics.Sentence, refract.ReferenceCount(lo, hi), r.set).String()
			},
		}
		r.columns = append(r.columns, col)
	}
	return nil
}

func (r *compareRun) addStored(spec string, names []string) error {
	all, err := dataset.StoredMetrics(spec, correlate.SegmentLevel, names...)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("%s has no stored metric scores at segment level", spec)
	}
	for _, m := range all {
		col := column{
			metric:        m.Label(),
			stored:        &m,
			storedSystems: map[string]dataset.SystemScores{},
			orientation:   1, // the layout's convention: higher is better
			signature:     func(int, int) string { return "stored" },
		}
		for _, s := range m.Systems {
			col.storedSystems[s.System] = s
		}
		col.references(len(m.References))
		r.columns = append(r.columns, col)
	}
	return r.addSystemScores(spec)
}

// collect reads the dataset, scoring as it goes where there is something to
// score.
func (r *compareRun) collect(ctx context.Context, ds refract.Dataset) (*agreement.Collector, error) {
	col := agreement.NewCollector(len(r.columns))
	var reducer *refract.Reducer
	if r.engine != nil {
		reducer = r.engine.Reducer()
	}
	var failed error
	add := func(s *refract.Segment, scores *refract.SegmentScores, row func(h int, system string) (int, bool)) error {
		at := col.Segments()
		col.Add(s, func(k, h int) (float64, bool) {
			c := &r.columns[k]
			system := s.Hypotheses[h].System
			if c.stored != nil {
				sys, ok := c.storedSystems[system]
				if !ok || at >= len(sys.Values) || !sys.Valid[at] {
					return 0, false
				}
				return c.orientation * sys.Values[at], true
			}
			i, ok := row(h, system)
			if !ok {
				return 0, false
			}
			red, err := reducer.Reduce(scores, c.setting, i)
			if err != nil {
				failed = fmt.Errorf("segment %q, system %q: %w", s.ID, system, err)
			}
			if err != nil || red.Status != metrics.Scored {
				return 0, false
			}
			c.references(red.References)
			return c.orientation * red.Value, true
		})
		return failed
	}
	switch {
	case r.matrix != nil:
		return col, r.collectMatrix(ctx, ds, add)
	case r.engine != nil:
		id := refract.NewIdentity()
		err := r.engine.Run(ctx, ds, func(s *refract.SegmentScores) error {
			id.Add(s.Segment)
			if err := r.gather.add(s); err != nil {
				return err
			}
			return add(s.Segment, s, sameRow)
		})
		r.judging.answered()
		r.set = id.Name()
		return col, err
	}
	for s, err := range ds.Segments(ctx) {
		if err == nil {
			err = add(s, nil, nil)
		}
		if err != nil {
			return nil, err
		}
	}
	return col, nil
}

// sameRow is for scores of the segment itself: row h is hypothesis h.
func sameRow(h int, _ string) (int, bool) { return h, true }

// collectMatrix walks the dataset and the matrix side by side: the same
// segments in the same order.
func (r *compareRun) collectMatrix(ctx context.Context, ds refract.Dataset, add func(*refract.Segment, *refract.SegmentScores, func(int, string) (int, bool)) error) error {
	m := r.matrix
	defer m.stop()
	scores := m.first
	for s, err := range ds.Segments(ctx) {
		if err != nil {
			return err
		}
		if scores == nil {
			return fmt.Errorf("%s ends before segment %q of the dataset (%s); score the whole dataset", m.path, s.ID, s.Pos)
		}
		if scores.Segment.ID != s.ID {
			return fmt.Errorf("%s (%s) has segment %q where the dataset has %q (%s); they must have the same segments in the same order",
				m.path, scores.Segment.Pos, scores.Segment.ID, s.ID, s.Pos)
		}
		rows := make(map[string]int, len(scores.Segment.Hypotheses))
		for h := range scores.Segment.Hypotheses {
			rows[scores.Segment.Hypotheses[h].System] = h
		}
		err = add(s, scores, func(_ int, system string) (int, bool) {
			h, ok := rows[system]
			return h, ok
		})
		if err == nil {
			scores, err = m.next()
		}
		if err != nil {
			return err
		}
	}
	if scores != nil {
		return fmt.Errorf("%s has segment %q, which the dataset has not", m.path, scores.Segment.ID)
	}
	return nil
}
