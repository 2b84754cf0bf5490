package experiment

import (
	"math"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/report"
)

// rank orders the systems of a dataset under all settings: those that all
// settings score, so that places compare, but for a setting that scores none.
func rank(d *data, settings []*setting, confidence float64) Ranking {
	out := Ranking{Dataset: d.Name, Human: d.human, Settings: []SettingName{}, Names: []string{}, LeftOut: []string{}}
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
	sure := d.sure(&gold, confidence)
	for i := range d.systems {
		if first[i].Rank == 1 {
			out.Ahead = count(sure[i], 1)
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
		under := d.sure(s.table.Pairs, confidence)
		for i := range d.systems {
			for j, by := range under[i] {
				// by is against what people say, and the way in which the place moved
				p := &out.Systems[i].Under[k]
				p.Clear = p.Clear || by != 0 && by == -sure[i][j] && float64(by)*(first[i].Rank-p.Rank) > 0
			}
		}
	}
	out.Systems = slices.DeleteFunc(out.Systems, func(s report.RankedSystem) bool { return slices.Contains(out.LeftOut, s.Name) })
	slices.SortStableFunc(out.Systems, func(a, b report.RankedSystem) int { return a.First.Before(b.First) })
	return out
}

// count says how often a value occurs.
func count(all []int8, v int8) (n int) {
	for _, s := range all {
		if s == v {
			n++
		}
	}
	return n
}

// sure tells of each pair of systems whether the mean of the first is larger, 1,
// or smaller, -1, than that of the second by the metric of a table, over the cells
// that both have: by the normal interval of the difference, whose error is taken
// over what resamples draw. 0 is not decided.
func (d *data) sure(p *correlate.Pairs, confidence float64) [][]int8 {
	out := make([][]int8, p.Systems)
	for i := range out {
		out[i] = make([]int8, p.Systems)
	}
	if d.units.Systems || !(confidence > 0) {
		return out
	}
	units := p.Segments
	if d.units.Of != nil {
		units = int(slices.Max(d.units.Of)) + 1
	}
	least := math.Sqrt2 * math.Erfinv(confidence)
	sums, cells := make([]float64, units), make([]float64, units)
	for i := range out {
		for j := range i {
			clear(sums)
			clear(cells)
			var sum, n float64
			for s := range p.Segments {
				a, b := p.Index(s, i), p.Index(s, j)
				if !p.GoldOK[a] || !p.GoldOK[b] || !p.MetricOK[a] || !p.MetricOK[b] {
					continue
				}
				u := s
				if d.units.Of != nil {
					u = int(d.units.Of[s])
				}
				by := p.Metric[a] - p.Metric[b]
				sums[u], cells[u], sum, n = sums[u]+by, cells[u]+1, sum+by, n+1
			}
			mean, drawn, square := sum/n, 0.0, 0.0
			for u, c := range cells {
				if c > 0 {
					drawn++
					square += (sums[u] - mean*c) * (sums[u] - mean*c)
				}
			}
			if drawn < 2 || !(math.Abs(sum) > least*math.Sqrt(square*drawn/(drawn-1))) {
				continue
			}
			out[i][j] = int8(math.Copysign(1, mean))
			out[j][i] = -out[i][j]
		}
	}
	return out
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
