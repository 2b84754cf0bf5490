package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/exact"
	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/metrics"
)

// curves computes all curves of a dataset.
func (r *run) curves(ctx context.Context, d *data, res *Result) error {
	for _, c := range r.p.Curves {
		var orders []*ordered
		for i := range c.Seeds {
			o, err := d.orders(ctx, c.Method, r.p.Bootstrap.Seed+uint64(i))
			if err != nil {
				return err
			}
			orders = append(orders, o)
		}
		if orders[0].most() == 0 {
			r.note("%s: there is one reference a segment, and so no curve", d.Name)
			continue
		}
		if c.Method == selection.ByRandom {
			r.note("random: mean of %d orders, seeds %d to %d; band: the least and the largest of them", c.Seeds, r.p.Bootstrap.Seed, r.p.Bootstrap.Seed+uint64(c.Seeds-1))
		}
		if c.Resamples != r.p.Bootstrap.Resamples {
			r.note("curve by %s: intervals of %d resamples between the first and the last point", c.Method, c.Resamples)
		}
		for _, s := range d.series {
			if !s.info.NeedsReferences {
				continue
			}
			for _, a := range c.Aggregators {
				a = a.For(s.higher())
				r.tellWorst(s, a)
				if a.Native() && (s.own || !s.hasNative()) {
					continue
				}
				all, err := r.curve(ctx, d, c, s, a, orders)
				if err != nil {
					return fmt.Errorf("curve by %s: %s %s: %w", c.Method, s.info.Name, a.Name(), err)
				}
				res.Curves = append(res.Curves, all...)
			}
		}
	}
	return nil
}

// curvePoint is a point in the making: under each statistic the estimates by
// order, of all its cells, and over those that all references score too its own
// and that of all references.
type curvePoint struct {
	references, missing    int
	cells                  []bool // with a score; nil where orders differ
	estimates, common, all [][]*estimate
}

// add takes in the same point of another order.
func (p *curvePoint) add(o *curvePoint) {
	p.references, p.missing = max(p.references, o.references), o.missing
	if !slices.Equal(p.cells, o.cells) {
		p.cells = nil
	}
	for k := range p.estimates {
		p.estimates[k], p.common[k], p.all[k] = append(p.estimates[k], o.estimates[k]...), append(p.common[k], o.common[k]...), append(p.all[k], o.all[k]...)
	}
}

// curvePoint takes all statistics of a table, beside that of all references.
func (r *run) curvePoint(ctx context.Context, t, all *table, resamples int) (*curvePoint, error) {
	p := &curvePoint{references: t.maxRefs, missing: t.missing(), cells: t.MetricOK}
	x, y := aligned(t, all)
	for _, st := range r.p.Statistics {
		var of [3][]*estimate
		for i, t := range []*table{t, x, y} {
			est, err := r.estimate(ctx, t, st, resamples)
			if err != nil {
				return nil, err
			}
			of[i] = []*estimate{est}
		}
		p.estimates, p.common, p.all = append(p.estimates, of[0]), append(p.common, of[1]), append(p.all, of[2])
	}
	return p, nil
}

// curve computes the curves of one setting, one per statistic that has one.
func (r *run) curve(ctx context.Context, d *data, c Curve, s *series, a aggregate.Aggregator, orders []*ordered) ([]CurveResult, error) {
	most := orders[0].most()
	counts := c.Counts
	if len(counts) == 0 {
		for k := range most + 1 {
			counts = append(counts, k)
		}
	}
	if beyond := slices.IndexFunc(counts, func(k int) bool { return k > most }); beyond >= 0 {
		r.warn("%s: a curve over %d references beside the first ones: there are %d at most, in place of more", d.Name, counts[len(counts)-1], most)
		counts = slices.Compact(append(slices.Clone(counts[:beyond]), most))
	}
	r.progress("%s: curve by %s, %s %s", d.Name, c.Method, s.info.Name, a.Name())
	// The last point is that of all references, in any order.
	ks := append(slices.Clone(counts), most)
	points := make([][]*curvePoint, len(orders)) // by order
	err := parallel(ctx, len(orders), func(ctx context.Context, i int) error {
		tables, err := r.along(ctx, d, s, a, orders[i], ks)
		for k, t := range tables {
			// The first references and all of them are settings too, whose numbers are these.
			resamples := c.Resamples
			if (ks[k] == 0 || ks[k] == most) && r.p.Bootstrap.Resamples > 0 {
				resamples = min(resamples, 1) * r.p.Bootstrap.Resamples
			}
			var p *curvePoint
			if err == nil {
				p, err = r.curvePoint(ctx, t, tables[len(counts)], resamples)
			}
			points[i] = append(points[i], p)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	end := points[0][len(counts)].references
	for at, p := range points[0][:len(counts)] {
		for _, other := range points[1:] {
			p.add(other[at])
		}
	}
	var out []CurveResult
	for k, st := range r.p.Statistics {
		cv := CurveResult{
			About: d.about(st), Metric: s.info.Name, Aggregator: a.Name(), By: c.Method.String(), Seeds: len(orders), Most: end,
		}
		for at, n := range counts {
			p := points[0][at]
			pt := r.point(p, p.estimates[k])
			pt.K = n
			common, all := r.point(p, p.common[k]), r.point(p, p.all[k])
			if pt.ToAll = common.Value - all.Value; p.cells != nil {
				pt.ToAllRange = r.interval(differences(common.resamples, all.resamples))
			}
			cv.Points = append(cv.Points, *pt)
		}
		cv.Enough = enough(cv.Points)
		out = append(out, cv)
	}
	return out, nil
}

// point is the mean over orders.
func (r *run) point(p *curvePoint, estimates []*estimate) *Point {
	out := &Point{References: p.references, Missing: p.missing, Least: report.None(), Largest: report.None(), cells: p.cells}
	var values []float64
	var rows [][]float64
	for _, est := range estimates {
		values = append(values, float64(est.Value))
		if len(est.Resamples) > 0 {
			rows = append(rows, est.Resamples)
		}
		out.N = est.N
	}
	out.Value = Number(exact.Mean(values))
	if len(values) > 1 {
		out.Least, out.Largest = Number(slices.Min(values)), Number(slices.Max(values))
	}
	if len(rows) == len(estimates) {
		out.resamples = make([]float64, len(rows[0]))
		for i := range out.resamples {
			for k, row := range rows {
				values[k] = row[i]
			}
			out.resamples[i] = exact.Mean(values)
		}
		out.Interval = r.interval(out.resamples)
	}
	return out
}

// less is the difference p - q with its interval. It is undefined where they are
// not of the same cells, as it would not be paired.
func (p *Point) less(q *Point, confidence float64) (Number, *report.Range) {
	if p.cells == nil || !slices.Equal(p.cells, q.cells) {
		return report.None(), nil
	}
	return p.Value - q.Value, intervalOf(differences(p.resamples, q.resamples), confidence)
}

// enough is the number of references from which on no point has a value that is
// clearly below that of all references.
func enough(points []Point) int {
	out := 0
	for _, p := range slices.Backward(points) {
		if p.ToAllRange == nil || float64(p.ToAllRange.High) < 0 {
			break
		}
		out = p.References
	}
	return out
}

// along makes a table for each of the first k references of an order, with k in
// ascending order.
func (r *run) along(ctx context.Context, d *data, s *series, a aggregate.Aggregator, o *ordered, ks []int) ([]*table, error) {
	next := func(k int) (*table, error) {
		return r.values(d, &setting{series: s, aggregator: a, set: o.take(k)})
	}
	if a.Native() {
		asked := make([]*setting, len(ks))
		for i, k := range ks {
			asked[i] = &setting{series: s, aggregator: a, set: o.take(k)}
		}
		if err := r.nativesOf(ctx, d, s, asked); err != nil {
			return nil, err
		}
	}
	if a.Extreme(s.info.Direction == metrics.HigherIsBetter) != 0 && r.p.Missing == aggregate.Exclude {
		next = newExtremes(d, s, a, o).upTo
	}
	out := make([]*table, len(ks))
	for i, k := range ks {
		if i > 0 && min(k, o.most()) == min(ks[i-1], o.most()) {
			out[i] = out[i-1]
			continue
		}
		var err error
		if out[i], err = next(k); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// extremes is the largest, or smallest, score over the references of an order
// so far: one more reference changes it by one comparison.
type extremes struct {
	d       *data
	series  *series
	order   *ordered
	sign    float64
	best    []float64
	scored  []int16 // references with a score
	columns int     // of the chosen ones that were taken; -1 before the fixed ones
}

func newExtremes(d *data, s *series, a aggregate.Aggregator, o *ordered) *extremes {
	return &extremes{d: d, series: s, order: o, columns: -1, sign: float64(a.Extreme(s.info.Direction == metrics.HigherIsBetter)),
		best: make([]float64, len(d.gold.Gold)), scored: make([]int16, len(d.gold.Gold))}
}

// upTo takes in references up to the k-th chosen one, and makes the table.
func (e *extremes) upTo(k int) (*table, error) {
	for i := range e.d.segments {
		if e.columns < 0 {
			e.take(i, e.order.fixed[i])
		}
		chosen := e.order.chosen[i]
		e.take(i, chosen[min(max(e.columns, 0), len(chosen)):min(k, len(chosen))])
	}
	e.columns = k
	p := *e.d.gold
	p.Metric, p.MetricOK = make([]float64, len(p.Gold)), make([]bool, len(p.Gold))
	lo, hi := math.MaxInt, 0
	for i, n := range e.scored {
		if n > 0 {
			lo, hi = min(lo, int(n)), max(hi, int(n))
			p.Metric[i], p.MetricOK[i] = float64(e.series.info.Direction)*e.best[i], true
		}
	}
	return e.d.newTable(&p, min(lo, hi), hi), nil
}

func (e *extremes) take(segment int, columns []int) {
	ms := &e.series.cells[segment]
	for h, at := range e.d.at[segment] {
		if at < 0 {
			continue
		}
		for _, c := range columns {
			cell := h*ms.Columns + c
			if ms.Status[cell] != metrics.Scored {
				continue
			}
			if v := ms.Values[cell]; e.scored[at] == 0 || e.sign*v > e.sign*e.best[at] {
				e.best[at] = v
			}
			e.scored[at]++
		}
	}
}
