package experiment

import (
	"context"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// ranking orders the systems of a dataset under all settings. Only systems scored by every
// setting have a place, so that places are comparable; a setting that scores none does not
// count for this rule.
func (r *run) ranking(_ context.Context, d *data, settings []*setting, res *Result) error {
	if !r.p.Ranking {
		return nil
	}
	out := Ranking{Dataset: d.Name, Human: d.human, Settings: []SettingName{}, LeftOut: []string{}}
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
	places := func(means []float64, cells []int, direction float64) []Place {
		out := make([]Place, len(means))
		for i, v := range means { // the highest is the best
			if out[i].Score = None(); cells[i] > 0 && !lacks[i] {
				out[i] = Place{Score: Number(direction * v), Cells: cells[i]}
			}
		}
		RankPlaces(out, direction)
		return out
	}
	first := places(human, judged, d.turned(1))
	for i, name := range d.systems {
		if lacks[i] {
			out.LeftOut = append(out.LeftOut, name)
		}
		out.Systems = append(out.Systems, RankedSystem{Name: name, First: first[i], Under: []Place{}})
	}
	for k, s := range settings {
		out.Settings = append(out.Settings, s.name)
		for i, p := range places(means[k], cells[k], float64(s.series.info.Direction)) {
			out.Systems[i].Under = append(out.Systems[i].Under, p)
		}
	}
	out.Systems = slices.DeleteFunc(out.Systems, func(s RankedSystem) bool { return slices.Contains(out.LeftOut, s.Name) })
	slices.SortStableFunc(out.Systems, func(a, b RankedSystem) int { return a.First.Before(b.First) })
	res.Rankings = append(res.Rankings, out)
	return nil
}

// Without says which systems have no place, "" if all have one.
func (k *Ranking) Without() string {
	if len(k.LeftOut) == 0 {
		return ""
	}
	return "without a place, as not every setting scores them: " + strings.Join(k.LeftOut, ", ")
}

// RankedSystem is a system with its place by human scores, or by another yardstick, and
// its place under each setting.
type RankedSystem struct {
	Name  string  `json:"name"`
	First Place   `json:"human"`
	Under []Place `json:"under"`
}

// Place is where a system stands. A zero Rank means that it has no place.
type Place struct {
	Score Number  `json:"score"` // mean over segments, in units of the metric
	Rank  float64 `json:"rank"`  // from 1, half numbers for ties; 0 without a score
	Cells int     `json:"cells"` // segments that entered
}

// RankPlaces ranks the places that have a score, the largest sign·score first.
func RankPlaces(places []Place, sign float64) {
	for i := range places {
		if places[i].Rank = 0; !places[i].Score.Defined() {
			continue
		}
		better, equal := 0, 0
		for k := range places {
			switch d := sign * float64(places[k].Score-places[i].Score); {
			case d > 0:
				better++
			case d == 0:
				equal++
			}
		}
		places[i].Rank = float64(better) + float64(equal+1)/2
	}
}

// Before orders places by rank, with those that have none at the end.
func (p Place) Before(q Place) int {
	a, b := p.Rank, q.Rank
	switch {
	case a == b:
		return 0
	case b == 0 || a != 0 && a < b:
		return -1
	}
	return 1
}
