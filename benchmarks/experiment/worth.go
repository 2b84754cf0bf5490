package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/diversify/selection"
)

// worthOrders is the number of orders that a Worth averages: rotations of one random order,
// so that each of ten references is once in each position.
const worthOrders = 10

// Worth compares references by people with variants of the first of them: what each kind
// adds to the first reference, and how many of one kind give as much agreement as the
// other. Values are means over random orders.
type Worth struct {
	About
	Metric     string `json:"metric"`
	Aggregator string `json:"aggregator"`
	First      Number `json:"first"` // value of only the first reference
	// Person is the gain of one more reference by a person, People the gain of all of them;
	// Variant and Variants are the same for those by a model.
	Person   Gain `json:"person"`
	People   Gain `json:"people"`
	Variant  Gain `json:"variant"`
	Variants Gain `json:"variants"`
	// Needed is how many variants give the gain of one reference by a person; Given is how
	// many references by people give the gain of all variants.
	Needed Exchange `json:"needed"`
	Given  Exchange `json:"given"`
	N      int      `json:"n"`
}

// Gain is what references add.
type Gain struct {
	Value    Number `json:"value"`
	Interval *Range `json:"interval"`
}

// Exchange is how many references of a kind, up to Most, first reach a gain, with linear
// interpolation between numbers.
type Exchange struct {
	Value    Number `json:"value"`    // undefined if Most do not reach it
	Interval *Range `json:"interval"` // an undefined end is beyond Most
	Most     int    `json:"most"`
}

// String returns a text such as "4.2 [1.9, > 10]".
func (e Exchange) String() string {
	show := func(v Number) string {
		if !v.Defined() {
			return fmt.Sprintf("> %d", e.Most)
		}
		return fmt.Sprintf("%.1f", float64(v))
	}
	s := show(e.Value)
	if e.Interval != nil {
		s += fmt.Sprintf(" [%s, %s]", show(e.Interval.Low), show(e.Interval.High))
	}
	return s
}

// reach returns where a line through the gains of 0, 1, … references first reaches a value;
// more than all of them if it never does.
func reach(line []float64, value float64) float64 {
	if math.IsNaN(value) || slices.ContainsFunc(line, math.IsNaN) {
		return math.NaN()
	}
	for k, v := range line {
		switch {
		case v < value:
		case k == 0:
			return 0
		default:
			return float64(k-1) + (value-line[k-1])/(v-line[k-1])
		}
	}
	return float64(len(line))
}

// worths computes what variants are worth if a dataset has several references by people,
// and variants of the first.
func (r *run) worths(ctx context.Context, d *data, _ []*setting, res *Result) error {
	if !r.p.Worth {
		return nil
	}
	people := d.each(func(s *refract.Segment, _ int) []int {
		return everything(s)[min(1, len(s.References)):len(s.References)]
	})
	model := d.each(func(s *refract.Segment, _ int) (out []int) {
		for v := range s.Variants {
			if s.Variants[v].Reference == 0 {
				out = append(out, len(s.References)+v)
			}
		}
		return out
	})
	if people.most() == 0 || model.most() == 0 {
		r.note("%s: worth needs several references by people, and variants of the first of them", d.Name)
		return nil
	}
	r.note("worth: variants of the first reference against other references by people than the first; means of %d rotations of a random order, seed %d", worthOrders, r.p.Bootstrap.Seed)
	byPeople, err := r.rotations(ctx, d, people)
	if err != nil {
		return err
	}
	byModel, err := r.rotations(ctx, d, model)
	if err != nil {
		return err
	}
	for _, s := range d.series {
		if !s.info.NeedsReferences {
			continue
		}
		for _, a := range r.p.Aggregators {
			a = a.For(s.higher())
			if a.Single() || a.Native() && (s.own || !s.hasNative() || r.hasAsMax(s)) {
				continue
			}
			r.progress(d.Name, "worth, %s %s", s.info.Name, a.Name())
			x, err := r.grow(ctx, d, s, a, byPeople)
			if err != nil {
				return err
			}
			y, err := r.grow(ctx, d, s, a, byModel)
			if err != nil {
				return err
			}
			for k, st := range r.p.Statistics {
				w := r.worth(x[k], y[k])
				w.About, w.Metric, w.Aggregator = d.about(st), s.info.Name, a.Name()
				if !slices.ContainsFunc(res.Worths, w.repeats) {
					res.Worths = append(res.Worths, w)
				}
			}
		}
	}
	return nil
}

// hasAsMax reports whether the native scores of a metric are its max, which the plan has:
// their line would be left out as a repetition.
func (r *run) hasAsMax(s *series) bool {
	m, ok := s.metric.(interface{ NativeIsMax() bool })
	return ok && m.NativeIsMax() && slices.ContainsFunc(r.p.Aggregators, func(a aggregate.Aggregator) bool { return a.Name() == "max" })
}

// rotations returns the orders in which the others are added to the first reference.
func (r *run) rotations(ctx context.Context, d *data, others columnsOf) ([]*ordered, error) {
	random, err := d.shuffled(ctx, others, r.p.Bootstrap.Seed)
	if err != nil {
		return nil, fmt.Errorf("worth: %w", err)
	}
	first := d.each(func(s *refract.Segment, _ int) []int { return everything(s)[:min(1, len(s.References))] })
	out := make([]*ordered, worthOrders)
	for i := range out {
		out[i] = &ordered{first, random.rotated(i)}
	}
	return out, nil
}

// growth is the agreement of the first reference and 0, 1, … others, averaged over orders.
type growth []*Point

// grow computes all statistics of the first reference with ever more of the others.
func (r *run) grow(ctx context.Context, d *data, s *series, a aggregate.Aggregator, orders []*ordered) ([]growth, error) {
	var counts []int
	for k := range orders[0].most() + 1 {
		counts = append(counts, k)
	}
	points, err := r.points(ctx, d, s, a, orders, counts, r.p.Bootstrap.Resamples)
	if err != nil {
		return nil, fmt.Errorf("worth: %s %s: %w", s.info.Name, a.Name(), err)
	}
	out := make([]growth, len(r.p.Statistics))
	for k := range out {
		for _, p := range points[:len(counts)] {
			out[k] = append(out[k], r.point(p, p.estimates[k]))
		}
	}
	return out, nil
}

// line returns the values, or those of a resample.
func (g growth) line(of func(p *Point) float64) []float64 {
	out := make([]float64, len(g))
	for k, p := range g {
		out[k] = of(p)
	}
	return out
}

// shuffled returns the columns of each segment in random order, without those that have no
// text.
func (d *data) shuffled(ctx context.Context, columns columnsOf, seed uint64) (columnsOf, error) {
	return d.arrange(ctx, &selection.Selector{Method: selection.ByRandom, Seed: seed}, make(columnsOf, len(d.segments)), columns)
}

// rotated begins with the n-th column of each segment and wraps around.
func (c columnsOf) rotated(n int) columnsOf {
	out := make(columnsOf, len(c))
	for i, columns := range c {
		if len(columns) > 0 {
			at := n % len(columns)
			out[i] = slices.Concat(columns[at:], columns[:at])
		}
	}
	return out
}

// worth compares the two ways to grow. Both begin at the same value.
func (r *run) worth(people, model growth) Worth {
	over := func(of func(people, model []float64) float64) (float64, *Range) {
		values := correlate.Resamples{Units: people[0].resamples.Units}
		for b := range people[0].resamples.Values {
			at := func(p *Point) float64 { return p.resamples.Values[b] }
			values.Values = append(values.Values, of(people.line(at), model.line(at)))
		}
		value := func(p *Point) float64 { return float64(p.Value) }
		return of(people.line(value), model.line(value)), r.interval(values)
	}
	gain := func(of func(people, model []float64) float64) Gain {
		v, iv := over(of)
		return Gain{Number(v), iv}
	}
	exchange := func(most int, of func(people, model []float64) float64) Exchange {
		v, iv := over(of)
		within := func(v float64) Number {
			if v > float64(most) {
				return None()
			}
			return Number(v)
		}
		out := Exchange{Value: within(v), Most: most}
		if iv != nil {
			out.Interval = &Range{Low: within(float64(iv.Low)), High: within(float64(iv.High)), Undefined: iv.Undefined}
		}
		return out
	}
	last := func(line []float64) float64 { return line[len(line)-1] }
	return Worth{
		First: people[0].Value, N: people[0].N,
		Person:   gain(func(p, _ []float64) float64 { return p[1] - p[0] }),
		People:   gain(func(p, _ []float64) float64 { return last(p) - p[0] }),
		Variant:  gain(func(_, m []float64) float64 { return m[1] - m[0] }),
		Variants: gain(func(_, m []float64) float64 { return last(m) - m[0] }),
		Needed:   exchange(len(model)-1, func(p, m []float64) float64 { return reach(m, p[1]) }),
		Given:    exchange(len(people)-1, func(p, m []float64) float64 { return reach(p, last(m)) }),
	}
}

// repeats reports whether an aggregator gives another one's numbers, as native does if it
// is the metric's max.
func (w *Worth) repeats(v Worth) bool {
	return v.About == w.About && v.Metric == w.Metric && v.First == w.First && v.Person.Value == w.Person.Value && v.People.Value == w.People.Value &&
		v.Variant.Value == w.Variant.Value && v.Variants.Value == w.Variants.Value
}
