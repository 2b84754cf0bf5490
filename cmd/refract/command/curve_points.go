package command

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/agreement"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/report"
)

// curveSet is what refract curve found.
type curveSet struct {
	statistic, human string
	panels           []curvePanel
	notes            []string
}

// curvePanel holds the curves of one setting.
type curvePanel struct {
	metric, aggregate string
	lines             []curveLine
}

// curveLine is one way to choose variants.
type curveLine struct {
	by, over, name string
	points         []curvePoint
}

// curvePoint is the agreement with k variants.
type curvePoint struct {
	k, references int
	value         float64
	ci            report.Value
	least, most   float64 // over random orders; NaN elsewhere
	toAll         delta
	toRandom      delta
	n, missing    int

	resamples [][]float64 // of each random order, or of the only order
	pool      []bool      // segments that were resampled
}

// delta is a difference with its interval, or NaN without one.
type delta struct {
	value float64
	ci    report.Value
}

func curveColumns() []report.Column {
	return []report.Column{
		{Name: "metric"},
		{Name: "aggregate"},
		{Name: "by"},
		{Name: "over"},
		{Name: "k", Kind: report.KindInt},
		{Name: "references", Header: "refs", Kind: report.KindInt, Minor: true},
		{Name: "value", Kind: report.KindFloat, Digits: 3},
		{Name: "ci", Kind: report.KindInterval, Digits: 3},
		{Name: "band", Kind: report.KindInterval, Digits: 3, Minor: true},
		{Name: "to_all", Header: "to all", Kind: report.KindFloat, Digits: 3},
		{Name: "to_all_ci", Header: "ci", Kind: report.KindInterval, Digits: 3},
		{Name: "to_random", Header: "to random", Kind: report.KindFloat, Digits: 3},
		{Name: "to_random_ci", Header: "ci", Kind: report.KindInterval, Digits: 3},
		{Name: "n", Kind: report.KindInt, Minor: true},
		{Name: "missing", Kind: report.KindInt, Minor: true},
	}
}

func (p *curvePoint) row(panel curvePanel, line curveLine) []report.Value {
	over := report.Null()
	if line.over != "" {
		over = report.String(line.over)
	}
	return []report.Value{
		report.String(panel.metric), report.String(panel.aggregate), report.String(line.by), over,
		report.Int(p.k), report.Int(p.references), report.Float(p.value), p.ci, report.Interval(p.least, p.most),
		report.Float(p.toAll.value), p.toAll.ci, report.Float(p.toRandom.value), p.toRandom.ci,
		report.Int(p.n), report.Int(p.missing),
	}
}

// curves computes all points.
func (c *curver) curves(ctx context.Context, p *curvePlan, scored []scoredSegment, all []series) (*curveSet, error) {
	most := 0
	for _, s := range scored {
		most = max(most, len(s.segment.Variants))
	}
	ks := slices.Clone(c.k)
	if len(ks) == 0 {
		for k := range most + 1 {
			ks = append(ks, k)
		}
	}
	slices.Sort(ks)
	ks = slices.Compact(ks)
	cv := &curveSet{statistic: c.statistic}
	for i, set := range p.settings {
		metric := slices.Index(p.engine.Metrics(), set.Metric)
		panel := curvePanel{metric: set.Metric.Info().Name, aggregate: set.Aggregator.Name()}
		// All variants are the same in every order.
		end, err := c.point(ctx, p, cv, scored, i, metric, all[0].orders[:1], most)
		if err != nil {
			return nil, err
		}
		random := -1
		for s := range all {
			line := curveLine{by: all[s].by, over: all[s].over, name: all[s].name()}
			if all[s].by == selection.ByRandom.String() {
				random = s
			}
			for _, k := range ks {
				pt, err := c.point(ctx, p, cv, scored, i, metric, all[s].orders, k)
				if err != nil {
					return nil, err
				}
				pt.toAll = c.delta(pt, end)
				line.points = append(line.points, *pt)
			}
			panel.lines = append(panel.lines, line)
		}
		for s := range panel.lines {
			for at := range panel.lines[s].points {
				pt := &panel.lines[s].points[at]
				if pt.toRandom = noDelta(); random >= 0 && s != random {
					pt.toRandom = c.delta(pt, &panel.lines[random].points[at])
				}
			}
		}
		cv.panels = append(cv.panels, panel)
	}
	cv.notes = append(cv.notes, c.curveNotes(all)...)
	return cv, nil
}

func noDelta() delta { return delta{math.NaN(), report.Null()} }

// point computes the agreement with k variants, as the mean over orders.
func (c *curver) point(ctx context.Context, p *curvePlan, cv *curveSet, scored []scoredSegment, setting, metric int, orders [][][]int, k int) (*curvePoint, error) {
	pt := &curvePoint{k: k, ci: report.Null(), least: math.NaN(), most: math.NaN()}
	var values []float64
	for _, order := range orders {
		col, references, err := p.values(scored, setting, metric, order, k)
		if err != nil {
			return nil, err
		}
		segments, table, err := c.pairs(p, cv, col)
		if err != nil {
			return nil, err
		}
		res, err := p.measure.Of(table)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", p.settings[setting].Metric.Info().Name, p.settings[setting].Aggregator.Name(), err)
		}
		values = append(values, res.Value)
		pt.references, pt.n, pt.missing = max(pt.references, references), res.N, missingPairs(segments)
		pt.pool = segments.Paired()
		if c.bootstrap > 0 && !math.IsNaN(res.Value) {
			r, err := c.resampling().Resample(ctx, p.measure, table)
			if err != nil {
				return nil, err
			}
			pt.resamples = append(pt.resamples, r)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	pt.value = correlate.Mean(values)
	if len(orders) > 1 {
		pt.least, pt.most = slices.Min(values), slices.Max(values)
	}
	if len(pt.resamples) == len(orders) {
		pt.resamples = [][]float64{correlate.MeanOfEach(pt.resamples)}
		iv := correlate.Percentiles(pt.resamples[0], c.confidence)
		pt.ci = report.Interval(iv.Low, iv.High)
	} else {
		pt.resamples = nil
	}
	return pt, nil
}

// pairs sets the only column of a collector beside the judgements: the table of
// the segments, and that at the level asked for.
func (c *curver) pairs(p *curvePlan, cv *curveSet, col *agreement.Collector) (segments, table *correlate.Pairs, err error) {
	human, systems, err := c.choose(col)
	if err != nil {
		return nil, nil, err
	}
	if cv.human == "" {
		cv.human = human
		n, err := c.judgementFlags.notes(col, human, systems)
		if err != nil {
			return nil, nil, err
		}
		cv.notes = n.lines
	}
	segments = col.Pairs(0, human, systems)
	table, err = c.tableOf(col, p.measure, segments)
	return segments, table, err
}

// delta is the difference a - b. It has an interval where both were resampled
// over the same segments, so that it is paired.
func (c *curver) delta(a, b *curvePoint) delta {
	d := delta{a.value - b.value, report.Null()}
	if a.resamples == nil || b.resamples == nil || !slices.Equal(a.pool, b.pool) {
		return d
	}
	differences := make([]float64, len(a.resamples[0]))
	for i := range differences {
		differences[i] = a.resamples[0][i] - b.resamples[0][i]
	}
	iv := correlate.Percentiles(differences, c.confidence)
	d.ci = report.Interval(iv.Low, iv.High)
	return d
}

func (c *curver) curveNotes(all []series) []string {
	var out []string
	var names []string
	for i := range all {
		if len(all[i].orders) > 1 {
			out = append(out, fmt.Sprintf("random: mean of %d orders, seeds %d to %d; band: the least and the largest of them", len(all[i].orders), c.seed, c.seed+uint64(len(all[i].orders)-1)))
		}
		if all[i].over == "embeddings" {
			names = append(names, c.model)
		}
	}
	if len(names) > 0 {
		out = append(out, "embeddings: "+strings.Join(slices.Compact(names), ", "))
	}
	out = append(out, "k: variants beside the originals; to all: difference to all variants; to random: to the mean of random with the same k")
	if c.bootstrap > 0 {
		out = append(out, fmt.Sprintf("ci: %g%% bootstrap over segments, %d resamples, seed %d; differences are paired", 100*c.confidence, c.bootstrap, c.seed))
	}
	return out
}
