package experiment

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/report"
)

// favourName is the statistic that tells how much the scores of the systems of a
// family rise over those of others.
const favourName = "favour"

// families parts the systems by each family of the plan that has made variants,
// and that some systems are of, but not all.
func (r *run) families(d *data) []stratum {
	var out []stratum
	for _, name := range slices.Sorted(maps.Keys(r.p.Families)) {
		members := r.p.Families[name]
		made := slices.ContainsFunc(d.models, func(m string) bool { return slices.Contains(members, m) })
		inside, outside := make([]bool, len(d.systems)), make([]bool, len(d.systems))
		n := 0
		for i, s := range d.systems {
			if inside[i] = slices.Contains(members, s); inside[i] {
				n++
			}
			outside[i] = !inside[i]
		}
		switch {
		case !made:
			r.note("family %s: no variant of %s is by a model of it", name, d.Name)
			continue
		case n == 0 || n == len(d.systems):
			r.note("family %s: %d of the %d systems of %s are of it, so that there is nothing to compare", name, n, len(d.systems), d.Name)
			continue
		}
		r.note("favour of family %s: how much the scores of its systems lie above those of others, beside the human scores, in standard deviations; the difference is what the references add to that", name)
		everywhere := slices.Repeat([]bool{true}, len(d.segments))
		out = append(out,
			stratum{dimension: byFamily, name: english.Count(n, "system") + " of " + name, segments: everywhere, systems: inside, count: len(d.segments), favoured: true},
			stratum{dimension: byFamily, name: fmt.Sprintf("%s not of %s", english.Count(len(d.systems)-n, "system"), name), segments: everywhere, systems: outside, count: len(d.segments)})
	}
	return out
}

// of is how many of all systems a stratum has.
func (s *stratum) of(all int) int {
	if s.systems == nil {
		return all
	}
	n := 0
	for _, in := range s.systems {
		if in {
			n++
		}
	}
	return n
}

// favour tells how much two settings favour the systems of a stratum: by how
// much their standardized scores lie above the human ones, more than those of
// the other systems do. a and b have the same cells.
func (r *run) favour(d *data, pr pair, a, b *table, s *stratum) Stratum {
	out := Stratum{
		About: d.about(Statistic{}), A: pr.a.name, B: pr.b.name, AName: pr.a.label, BName: pr.b.label,
		Dimension: byFamily, Name: s.name, Segments: s.count,
	}
	out.Statistic = favourName
	_, out.N = a.judged()
	out.Missing = s.count*a.Systems - out.N
	perA, perB := d.above(a, s), d.above(b, s)
	all := func(per []excess) Number {
		var sum excess
		for i := range per {
			sum.add(&per[i])
		}
		return Number(sum.value())
	}
	out.AValue, out.BValue = all(perA), all(perB)
	out.Value = out.AValue - out.BValue
	if n := r.p.Bootstrap.Resamples; n > 0 && !d.units.Systems {
		values := make([]float64, n)
		for i := range values {
			rng := rand.New(rand.NewPCG(r.p.Bootstrap.Seed, uint64(i)))
			var x, y excess
			for range perA {
				k := rng.IntN(len(perA))
				x.add(&perA[k])
				y.add(&perB[k])
			}
			values[i] = x.value() - y.value()
		}
		out.Interval = r.interval(values)
	}
	return out
}

// excess sums by how much scores lie above the human ones, of the systems of a
// stratum and of the others.
type excess struct{ inside, outside, insiders, outsiders float64 }

func (e *excess) add(f *excess) {
	e.inside += f.inside
	e.outside += f.outside
	e.insiders += f.insiders
	e.outsiders += f.outsiders
}

func (e *excess) value() float64 { return e.inside/e.insiders - e.outside/e.outsiders }

// above returns the excess of each unit that resamples draw.
func (d *data) above(t *table, s *stratum) []excess {
	var cells []int
	for i, ok := range t.GoldOK {
		if ok && t.MetricOK[i] {
			cells = append(cells, i)
		}
	}
	metric, gold := deviation(t.Metric, cells), deviation(t.Gold, cells)
	per := make([]excess, unitsOf(d.units, len(d.segments)))
	for _, i := range cells {
		unit := i / t.Systems
		if d.units.Of != nil {
			unit = int(d.units.Of[unit])
		}
		v := t.Metric[i]/metric - t.Gold[i]/gold
		if e := &per[unit]; s.systems[i%t.Systems] {
			e.inside, e.insiders = e.inside+v, e.insiders+1
		} else {
			e.outside, e.outsiders = e.outside+v, e.outsiders+1
		}
	}
	return per
}

func unitsOf(u correlate.Units, segments int) int {
	if len(u.Of) == 0 {
		return segments
	}
	return int(slices.Max(u.Of)) + 1
}

// deviation is the standard deviation of some values.
func deviation(values []float64, cells []int) float64 {
	var sum, squares float64
	for _, i := range cells {
		sum += values[i]
	}
	mean := sum / float64(len(cells))
	for _, i := range cells {
		squares += (values[i] - mean) * (values[i] - mean)
	}
	return math.Sqrt(squares / float64(len(cells)))
}

// favourVerdict says whether a set of references favours a family.
func favourVerdict(s *Stratum, several bool) Verdict {
	v := Verdict{Dataset: s.Dataset, Kind: "strata", Value: s.Value}
	says := "favours them"
	switch {
	case s.Interval == nil:
		says, v.Outcome = "there is no interval", report.Unclear
	case s.Interval.Low <= 0 && s.Interval.High >= 0:
		says, v.Outcome = "it cannot be told to favour them or others", report.Unclear
	case s.Value < 0:
		says = "favours others"
	}
	v.Text = fmt.Sprintf("%s, %s against %s%s: scores of %s rise by %s standard deviations more than those of others: %s; %s",
		s.A.Metric, s.AName, s.BName, s.on(several), s.Name, change(s.Value, s.Interval), says, notCorrected)
	return v
}
