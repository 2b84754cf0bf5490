package experiment

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/report"
)

// rank orders the systems of a dataset under all settings: those that all
// settings score, so that places compare, but for a setting that scores none.
func rank(d *data, settings []*setting, b Bootstrap) Ranking {
	out := Ranking{Dataset: d.Name, Human: d.human, Settings: []SettingName{}, Names: []string{}, LeftOut: []string{}, Ahead: -1}
	gold := *d.gold
	gold.Metric, gold.MetricOK = gold.Gold, gold.GoldOK
	human, _, judged := correlate.SystemMeans(&gold)
	means, cells := make([][]float64, len(settings)), make([][]int, len(settings))
	lacks := make([]bool, len(d.systems))
	for k, s := range settings {
		_, means[k], cells[k] = correlate.SystemMeans(s.table.Pairs)
		for i, n := range cells[k] {
			lacks[i] = lacks[i] || n == 0 && slices.Max(cells[k]) > 0
		}
	}
	for i, name := range d.systems {
		if lacks[i] {
			judged[i] = 0
			out.LeftOut = append(out.LeftOut, name)
		}
	}
	first := places(human, judged, 1)
	drawn := d.drawMeans(&gold, judged, b)
	if top := slices.IndexFunc(first, func(p report.Place) bool { return p.Rank == 1 }); top >= 0 && len(drawn) > 0 {
		out.Ahead = 0
		for j := range d.systems {
			if ahead := offZero(drawn, b.Confidence, func(means []float64) float64 { return means[top] - means[j] }); j != top && ahead > 0 {
				out.Ahead++
			}
		}
	}
	for i, name := range d.systems {
		out.Systems = append(out.Systems, report.RankedSystem{Name: name, First: first[i], Under: []report.Place{}})
	}
	for k, s := range settings {
		out.Settings = append(out.Settings, s.name)
		out.Names = append(out.Names, s.name.Metric+", "+s.label)
		for i := range d.systems {
			if lacks[i] {
				cells[k][i] = 0
			}
		}
		for i, p := range places(means[k], cells[k], float64(s.series.info.Direction)) {
			out.Systems[i].Under = append(out.Systems[i].Under, p)
		}
		shifts := d.drawMeans(s.table.Pairs, cells[k], b)
		for n := range shifts {
			shifts[n] = shift(drawn[n], shifts[n])
		}
		for i := range d.systems {
			p := &out.Systems[i].Under[k]
			p.Clear = p.Rank > 0 && first[i].Rank > 0 && len(shifts) > 0 && offZero(shifts, b.Confidence, func(shifts []float64) float64 { return shifts[i] }) != 0
		}
	}
	out.Systems = slices.DeleteFunc(out.Systems, func(s report.RankedSystem) bool { return slices.Contains(out.LeftOut, s.Name) })
	slices.SortStableFunc(out.Systems, func(a, b report.RankedSystem) int { return a.First.Before(b.First) })
	return out
}

// drawMeans returns the mean of each system by the metric of a table, over the
// judged cells, in each resample; NaN for a system without a cell. All tables of
// a dataset are drawn alike.
func (d *data) drawMeans(p *correlate.Pairs, cells []int, b Bootstrap) [][]float64 {
	if d.units.Systems {
		return nil
	}
	units := p.Segments
	if d.units.Of != nil {
		units = int(slices.Max(d.units.Of)) + 1
	}
	sums, counts := make([]float64, units*p.Systems), make([]float64, units*p.Systems)
	for s := range p.Segments {
		u := s
		if d.units.Of != nil {
			u = int(d.units.Of[s])
		}
		for i := range p.Systems {
			if at := p.Index(s, i); cells[i] > 0 && p.GoldOK[at] && p.MetricOK[at] {
				sums[u*p.Systems+i] += p.Metric[at]
				counts[u*p.Systems+i]++
			}
		}
	}
	draw := rand.New(rand.NewPCG(b.Seed, 1))
	out := make([][]float64, b.Resamples)
	n := make([]float64, p.Systems)
	for r := range out {
		out[r] = make([]float64, p.Systems)
		clear(n)
		for range units {
			at := draw.IntN(units) * p.Systems
			for i := range n {
				out[r][i] += sums[at+i]
				n[i] += counts[at+i]
			}
		}
		for i := range n {
			out[r][i] /= n[i]
		}
	}
	return out
}

// shift is how many places each system is better by the second means than by
// the first.
func shift(first, second []float64) []float64 {
	out := make([]float64, len(first))
	for i := range out {
		for j := range out {
			out[i] += above(first[j], first[i]) - above(second[j], second[i])
		}
	}
	return out
}

// above is 1 where a is better than b, and half for a tie.
func above(a, b float64) float64 {
	switch {
	case a > b:
		return 1
	case a == b:
		return 0.5
	}
	return 0
}

// offZero is 1 or -1 where the interval of what the resamples give is above or
// below 0, and else 0.
func offZero(resamples [][]float64, confidence float64, of func([]float64) float64) int {
	values := make([]float64, len(resamples))
	for i := range values {
		values[i] = of(resamples[i])
	}
	switch iv := correlate.Percentiles(values, confidence); {
	case iv.Low > 0:
		return 1
	case iv.High < 0:
		return -1
	}
	return 0
}

// Without says which systems have no place, "" where all have one.
func (k *Ranking) Without() string {
	if len(k.LeftOut) == 0 {
		return ""
	}
	return "without a place, as not every setting scores them: " + strings.Join(k.LeftOut, ", ")
}

// places ranks means of which the highest is the best, and turns them into the
// metric's units.
func places(means []float64, cells []int, direction float64) []report.Place {
	out := make([]report.Place, len(means))
	for i, v := range means {
		out[i] = report.Place{Score: Number(direction * v), Cells: cells[i]}
		if cells[i] == 0 {
			out[i].Score = report.None()
		}
	}
	report.Ranks(out, direction)
	return out
}
