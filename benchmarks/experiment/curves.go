package experiment

import (
	"context"
	"fmt"
	"slices"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/numeric"
)

// order puts the references in the orders of all curves.
func (r *run) order(ctx context.Context, d *data) error {
	for _, c := range r.p.Curves {
		var orders []*ordered
		for i := range c.Seeds {
			o, err := d.orders(ctx, c.Method, r.p.Bootstrap.Seed+uint64(i))
			if err != nil {
				return err
			}
			orders = append(orders, o)
		}
		d.ordered = append(d.ordered, orders)
	}
	return nil
}

// curves computes all curves of a dataset.
func (r *run) curves(ctx context.Context, d *data, _ []*setting, res *Result) error {
	for i, c := range r.p.Curves {
		orders := d.ordered[i]
		if orders[0].most() == 0 {
			r.note("%s: every segment has only one reference, so there is no curve", d.Name)
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

// curvePoint is an unfinished point: for each statistic the estimates by order, over all
// its cells and, over the cells that all references score too, its own estimate and that of
// all references.
type curvePoint struct {
	references, missing    int
	cells                  []bool // with a score; nil if orders differ
	estimates, common, all [][]*estimate
}

// add adds the same point of another order.
func (p *curvePoint) add(o *curvePoint) {
	p.references, p.missing = max(p.references, o.references), o.missing
	if !slices.Equal(p.cells, o.cells) {
		p.cells = nil
	}
	for k := range p.estimates {
		p.estimates[k], p.common[k], p.all[k] = append(p.estimates[k], o.estimates[k]...), append(p.common[k], o.common[k]...), append(p.all[k], o.all[k]...)
	}
}

// curvePoint computes all statistics of a table, and of all references for comparison.
func (r *run) curvePoint(ctx context.Context, t, all *table, resamples int) (*curvePoint, error) {
	p := &curvePoint{references: t.maxRefs, missing: t.missing(), cells: t.MetricOK}
	for _, st := range r.p.Statistics {
		est, err := r.estimate(ctx, t, st, resamples)
		if err != nil {
			return nil, err
		}
		to, err := r.paired(ctx, t, all, st, resamples)
		if err != nil {
			return nil, err
		}
		p.estimates, p.common, p.all = append(p.estimates, []*estimate{est}), append(p.common, []*estimate{to.a}), append(p.all, []*estimate{to.b})
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
		r.warn("%s: a curve to %d further references ends at %d: no segment has more", d.Name, counts[len(counts)-1], most)
		counts = slices.Compact(append(slices.Clone(counts[:beyond]), most))
	}
	r.progress(d.Name, "curve by %s, %s %s", c.Method, s.info.Name, a.Name())
	points, err := r.points(ctx, d, s, a, orders, counts, c.Resamples)
	if err != nil {
		return nil, err
	}
	end := points[len(counts)].references
	var out []CurveResult
	for k, st := range r.p.Statistics {
		cv := CurveResult{
			About: d.about(st), Metric: s.info.Name, Aggregator: a.Name(), By: c.Method.String(), Seeds: len(orders), Most: end,
		}
		for at, n := range counts {
			p := points[at]
			pt := r.point(p, p.estimates[k])
			pt.K = n
			common, all := r.point(p, p.common[k]), r.point(p, p.all[k])
			if pt.ToAll = common.Value - all.Value; p.cells != nil {
				pt.ToAllRange = r.interval(common.resamples.Less(all.resamples))
			}
			cv.Points = append(cv.Points, *pt)
		}
		cv.Enough = enough(cv.Points)
		out = append(out, cv)
	}
	return out, nil
}

// points computes all statistics of the first k references of each order, for each k in
// counts, and finally of all.
func (r *run) points(ctx context.Context, d *data, s *series, a aggregate.Aggregator, orders []*ordered, counts []int, resamples int) ([]*curvePoint, error) {
	most := orders[0].most()
	ks, asked := append(slices.Clone(counts), most), make([][]*setting, len(orders))
	ends := map[int]*setting{} // which all orders share: without any of the others, and with all
	for i, o := range orders {
		for _, k := range ks {
			t := ends[k]
			if t == nil {
				t = &setting{series: s, aggregator: a, order: o, first: k}
			}
			if asked[i] = append(asked[i], t); k == 0 || k == most {
				ends[k] = t
			}
		}
	}
	if err := r.nativesOf(ctx, d, s, slices.Concat(asked...)); err != nil {
		return nil, err
	}
	for _, t := range ends {
		if _, err := r.values(d, t); err != nil {
			return nil, err
		}
	}
	points := make([][]*curvePoint, len(orders)) // by order
	err := parallel(ctx, len(orders), func(ctx context.Context, i int) error {
		tables := make([]*table, len(ks))
		for k, t := range asked[i] {
			var err error
			if tables[k], err = r.values(d, t); err != nil {
				return err
			}
		}
		asked[i] = nil // the tables of an order are large
		for k, t := range tables {
			// The first references, and all references, are also settings with the same numbers.
			n := resamples
			if (ks[k] == 0 || ks[k] == most) && r.p.Bootstrap.Resamples > 0 {
				n = min(n, 1) * r.p.Bootstrap.Resamples
			}
			p, err := r.curvePoint(ctx, t, tables[len(counts)], n)
			if err != nil {
				return err
			}
			points[i] = append(points[i], p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for at, p := range points[0] {
		for _, other := range points[1:] {
			p.add(other[at])
		}
	}
	return points[0], nil
}

// point is the mean over orders.
func (r *run) point(p *curvePoint, estimates []*estimate) *Point {
	out := &Point{References: p.references, Missing: p.missing, Least: None(), Largest: None(), cells: p.cells}
	var values []float64
	var rows []correlate.Resamples
	for _, est := range estimates {
		values = append(values, float64(est.Value))
		if len(est.Resamples.Values) > 0 {
			rows = append(rows, est.Resamples)
		}
		out.N = est.N
	}
	out.Value = Number(numeric.Mean(values))
	if len(values) > 1 {
		out.Least, out.Largest = Number(slices.Min(values)), Number(slices.Max(values))
	}
	if len(rows) == len(estimates) {
		out.resamples = rows[0]
		out.resamples.Values = make([]float64, len(rows[0].Values))
		for i := range out.resamples.Values {
			for k, row := range rows {
				values[k] = row.Values[i]
			}
			out.resamples.Values[i] = numeric.Mean(values)
		}
		out.Interval = r.interval(out.resamples)
	}
	return out
}

// Less returns the difference p - q with its interval. It is undefined if they cover
// different cells, because it would not be paired.
func (p *Point) Less(q *Point, confidence float64) (Number, *Range) {
	if p.cells == nil || !slices.Equal(p.cells, q.cells) {
		return None(), nil
	}
	return p.Value - q.Value, intervalOf(p.resamples.Less(q.resamples), confidence)
}

// enough returns the smallest number of references whose value is not clearly below that of
// all of them. A point counts only if all before it are clearly below: in this order the
// chance of any false finding is that of one test, however many points there are.
func enough(points []Point) int {
	for _, p := range points {
		if p.ToAllRange != nil && float64(p.ToAllRange.High) >= 0 {
			return p.References
		}
	}
	return 0
}
