package agree

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Comparison compares judges. References scored as systems are left out.
type Comparison struct {
	Judges []*Judge
	Set    *Set // nil where nothing is known of the outputs
	// Resamples of intervals draw documents where every segment has one, and else
	// segments; 0 makes no interval.
	Resamples  int
	Confidence float64
	Seed       uint64
}

// Value is a number with its interval.
type Value struct {
	Value float64 // NaN where it is undefined
	correlate.Interval
}

// Pair is what two judges have in common.
type Pair struct {
	A, B     *Judge
	Outputs  int // with a score by both, on which all that follows stands
	Unscored int // with a report by both, and a score by at most one
	Alone    int // with a report by one of them
	Pearson  Value
	Kendall  Value
	Alpha    Value // of scores, on an interval scale
	// Exact, Partial, Characters and Graded are F1 of those in Spans. They are
	// undefined, and Spans nil, where one of the judges reports no error at all.
	Exact, Partial, Characters, Graded Value
	Spans                              *analysis.SpanAgreement
}

// Result is what Pairs finds.
type Result struct {
	Pairs      []Pair
	By         correlate.Level // what resamples draw
	References int             // outputs that are left out, as references scored as systems
	Raters     *Raters         // nil of fewer than three of them
}

// Raters is what the judges that are people have in common, all together.
type Raters struct {
	Judges, Outputs int   // of which two or more have rated each
	Alpha           Value // of scores, on an interval scale
}

// cells are the segments and systems that any judge has, in order of appearance.
type cells struct {
	segments, systems map[string]int
	units             correlate.Units
	by                correlate.Level
	references        int
}

// lay numbers the segments that two judges or more report on, and the systems.
func (c *Comparison) lay() (*cells, error) {
	out := &cells{segments: map[string]int{}, systems: map[string]int{}, by: correlate.DocumentLevel}
	var places []correlate.Place
	first := map[string]*Judge{}
	left := map[Output]bool{}
	for _, j := range c.Judges {
		for _, o := range j.Outputs {
			if c.isReference(o) {
				left[o] = true
				continue
			}
			if _, ok := out.systems[o.System]; !ok {
				out.systems[o.System] = len(out.systems)
			}
			if first[o.ID] == nil {
				first[o.ID] = j
			}
			if _, ok := out.segments[o.ID]; ok || first[o.ID] == j {
				continue
			}
			out.segments[o.ID] = len(places)
			p := correlate.Place{Segment: o.ID}
			if c.Set != nil {
				if known, ok := c.Set.places[o.ID]; ok {
					p = known
				}
			}
			if places = append(places, p); p.Document == "" {
				out.by = correlate.SegmentLevel
			}
		}
	}
	out.references = len(left)
	var err error
	out.units, err = correlate.UnitsBy(out.by, places)
	return out, err
}

// isReference says whether an output is a reference scored as a system: by the
// dataset, or, of ratings without one, by its name as in mqm:FILE.
func (c *Comparison) isReference(o Output) bool {
	if c.Set != nil {
		return c.Set.references[o]
	}
	return slices.ContainsFunc(c.Judges, func(j *Judge) bool { return j.People }) && dataset.NamedReference(o.System)
}

// at is where an output stands in the tables, if its segment is there.
func (c *cells) at(o Output) (segment, cell int, ok bool) {
	segment, ok = c.segments[o.ID]
	return segment, segment*len(c.systems) + c.systems[o.System], ok
}

func (c *cells) unit(segment int) int {
	if c.units.Of == nil {
		return segment
	}
	return int(c.units.Of[segment])
}

// Pairs compares each two judges.
func (c *Comparison) Pairs(ctx context.Context) (*Result, error) {
	laid, err := c.lay()
	if err != nil {
		return nil, err
	}
	out := &Result{By: laid.by, References: laid.references}
	shared := false
	for i, a := range c.Judges {
		for _, b := range c.Judges[i+1:] {
			p, err := c.pair(ctx, laid, a, b)
			if err != nil {
				return nil, err
			}
			shared = shared || p.Outputs > 0
			out.Pairs = append(out.Pairs, *p)
		}
	}
	if !shared {
		return nil, errors.New("no two judges have a score of the same output: ids and systems of their reports must be the same, and two raters must have rated the same outputs")
	}
	out.Raters, err = c.raters(ctx, laid)
	return out, err
}

// raters compares the judges that are people.
func (c *Comparison) raters(ctx context.Context, laid *cells) (*Raters, error) {
	out := &Raters{}
	at := map[Output]int{} // in scores
	var of []Output
	var scores [][]float64
	for _, j := range c.Judges {
		if !j.People {
			continue
		}
		out.Judges++
		for _, o := range j.Outputs {
			if c.isReference(o) {
				continue
			}
			i, known := at[o]
			if !known {
				i = len(of)
				at[o], of, scores = i, append(of, o), append(scores, nil)
			}
			scores[i] = append(scores[i], *j.Reports[o].Score)
		}
	}
	if out.Judges < 3 {
		return nil, nil
	}
	var units drawnUnits
	for i, o := range of {
		if len(scores[i]) < 2 {
			continue
		}
		out.Outputs++
		segment, _, _ := laid.at(o)
		u := units.of(laid.unit(segment))
		u.scores = append(u.scores, scores[i])
	}
	p := &Pair{}
	err := c.drawing(units.order).resample(ctx, p, units.order)
	out.Alpha = p.Alpha
	return out, err
}

// drawing makes no interval of fewer than two units, which say nothing of others.
func (c *Comparison) drawing(units []*drawn) *Comparison {
	if len(units) > 1 {
		return c
	}
	alone := *c
	alone.Resamples = 0
	return &alone
}

// drawn is what a unit of a pair adds to a resample.
type drawn struct {
	scores [][]float64
	spans  analysis.SpanAgreement
}

// drawnUnits are the units of a comparison, in order of appearance.
type drawnUnits struct {
	byNumber map[int]*drawn
	order    []*drawn
}

// of finds a unit, or begins it.
func (d *drawnUnits) of(number int) *drawn {
	if d.byNumber == nil {
		d.byNumber = map[int]*drawn{}
	}
	u := d.byNumber[number]
	if u == nil {
		u = &drawn{}
		d.byNumber[number], d.order = u, append(d.order, u)
	}
	return u
}

func (c *Comparison) pair(ctx context.Context, laid *cells, a, b *Judge) (*Pair, error) {
	p := &Pair{A: a, B: b}
	table := correlate.NewPairs(len(laid.segments), len(laid.systems))
	marks := a.marks() && b.marks()
	var units drawnUnits
	for _, o := range a.Outputs {
		if c.isReference(o) {
			continue
		}
		x, y := a.Reports[o], b.Reports[o]
		if y == nil {
			p.Alone++
			continue
		}
		if !x.Outcome.HasScore() || !y.Outcome.HasScore() {
			p.Unscored++
			continue
		}
		p.Outputs++
		segment, cell, _ := laid.at(o)
		table.Gold[cell], table.GoldOK[cell] = *x.Score, true
		table.Metric[cell], table.MetricOK[cell] = *y.Score, true
		u := units.of(laid.unit(segment))
		u.scores = append(u.scores, []float64{*x.Score, *y.Score})
		if marks {
			u.spans.Add(analysis.CompareSpans(x.Errors, y.Errors))
		}
	}
	for _, o := range b.Outputs {
		if !c.isReference(o) && a.Reports[o] == nil {
			p.Alone++
		}
	}
	c = c.drawing(units.order)
	var err error
	if p.Pearson, err = c.value(ctx, laid, correlate.Measure{Statistic: correlate.StatPearson}, table); err != nil {
		return nil, err
	}
	if p.Kendall, err = c.value(ctx, laid, correlate.Measure{Statistic: correlate.StatKendall}, table); err != nil {
		return nil, err
	}
	if marks {
		p.Spans = &analysis.SpanAgreement{}
		for _, u := range units.order {
			p.Spans.Add(&u.spans)
		}
	}
	return p, c.resample(ctx, p, units.order)
}

// value is a measure of a table with its interval.
func (c *Comparison) value(ctx context.Context, laid *cells, m correlate.Measure, table *correlate.Pairs) (Value, error) {
	res, err := m.Of(table)
	v := Value{Value: res.Value, Interval: correlate.Interval{Low: math.NaN(), High: math.NaN()}}
	if err != nil || c.Resamples == 0 || math.IsNaN(res.Value) {
		return v, err
	}
	values, err := correlate.NewBootstrap(correlate.BootstrapOptions{Resamples: c.Resamples, Seed: c.Seed, Units: laid.units}).Resample(ctx, m, table)
	if err == nil {
		v.Interval = correlate.Percentiles(values, c.Confidence)
	}
	return v, err
}

// resample sets the values that are no correlations. The units are resampled as
// package correlate does.
func (c *Comparison) resample(ctx context.Context, p *Pair, units []*drawn) error {
	to := [...]*Value{&p.Alpha, &p.Exact, &p.Partial, &p.Characters, &p.Graded}
	of := func(weights []int) [len(to)]float64 {
		var scores [][]float64
		var sum analysis.SpanAgreement
		for i, u := range units {
			for range weights[i] {
				scores = append(scores, u.scores...)
				sum.Add(&analysis.SpanAgreement{Exact: u.spans.Exact, Partial: u.spans.Partial, Characters: u.spans.Characters, Graded: u.spans.Graded})
			}
		}
		return [...]float64{analysis.Alpha(scores, false), sum.Exact.F1(), sum.Partial.F1(), sum.Characters.F1(), sum.Graded.F1()}
	}
	weights := make([]int, len(units))
	for i := range weights {
		weights[i] = 1
	}
	for i, v := range of(weights) {
		*to[i] = Value{Value: v, Interval: correlate.Interval{Low: math.NaN(), High: math.NaN()}}
	}
	if c.Resamples == 0 {
		return nil
	}
	var values [len(to)][]float64
	for r := range c.Resamples {
		if err := ctx.Err(); err != nil {
			return err
		}
		clear(weights)
		random := rand.New(rand.NewPCG(c.Seed, uint64(r)))
		for range units {
			weights[random.IntN(len(units))]++
		}
		for i, v := range of(weights) {
			values[i] = append(values[i], v)
		}
	}
	for i := range to {
		to[i].Interval = correlate.Percentiles(values[i], c.Confidence)
	}
	return nil
}

// Better is a test of two judges against people.
type Better struct {
	A, B         *Judge // A correlates better
	Outputs      int    // with a score by both, and by people
	OfA, OfB     float64
	P, Corrected float64 // one-sided, that A is better; after Holm's correction
}

// ByPeople tests by PERM-BOTH which of each two judges correlates better with the
// human scores of the set, the better one first.
func (c *Comparison) ByPeople(ctx context.Context, m correlate.Measure, resamples int) ([]Better, error) {
	laid, err := c.lay()
	if err != nil {
		return nil, err
	}
	var judges []*Judge
	var tables []*correlate.Pairs
	for _, j := range c.Judges {
		if j.People {
			continue
		}
		t := correlate.NewPairs(len(laid.segments), len(laid.systems))
		for _, o := range j.Outputs {
			_, cell, ok := laid.at(o)
			human, judged := c.Set.scores[o]
			if r := j.Reports[o]; ok && judged && r.Outcome.HasScore() && !c.isReference(o) {
				t.Gold[cell], t.GoldOK[cell] = human, true
				t.Metric[cell], t.MetricOK[cell] = *r.Score, true
			}
		}
		judges, tables = append(judges, j), append(tables, t)
	}
	if len(judges) < 2 {
		return nil, errors.New("fewer than two judges are to be tested against people: name reports of two or more")
	}
	matrix, err := significance.Matrix(ctx, significance.MethodPermBoth, tables, m, 0.05, significance.Options{Resamples: resamples, Seed: c.Seed})
	if err != nil {
		return nil, err
	}
	var out []Better
	for i := range matrix.Tests {
		for k := i + 1; k < len(matrix.Tests); k++ {
			a, b := matrix.Order[i], matrix.Order[k]
			x, y, cells, err := correlate.Align(tables[a], tables[b])
			if err != nil {
				return nil, err
			}
			ofA, err := m.Of(x)
			if err != nil {
				return nil, err
			}
			ofB, err := m.Of(y)
			if err != nil {
				return nil, err
			}
			better := Better{judges[a], judges[b], cells, ofA.Value, ofB.Value, matrix.Tests[i][k].P, matrix.Corrected[i][k]}
			if better.OfB > better.OfA { // over what both have, unlike over all
				better.A, better.B, better.OfA, better.OfB = better.B, better.A, better.OfB, better.OfA
			}
			out = append(out, better)
		}
	}
	return out, nil
}
