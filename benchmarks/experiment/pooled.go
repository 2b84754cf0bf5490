package experiment

import (
	"fmt"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// Pooled is the name of all datasets together.
const Pooled = "pooled"

// pooled adds rows and differences of all datasets together, for accuracies: pairs of
// systems are compared only within a dataset.
func (r *run) pooled(res *Result) {
	if len(res.Datasets) < 2 {
		return
	}
	whole := map[string]*Row{}
	rows, all := res.Rows, map[string][]*Row{}
	for i := range rows {
		if key := fmt.Sprint(rows[i].Setting, rows[i].Statistic); rows[i].pools {
			all[key] = append(all[key], &rows[i])
		}
	}
	for i := range rows {
		parts := all[fmt.Sprint(rows[i].Setting, rows[i].Statistic)]
		if len(parts) == 0 || parts[0] != &rows[i] {
			continue
		}
		if sum := pool(parts); len(parts) == len(res.Datasets) && sum.Value.Defined() {
			sum.Interval = r.interval(sum.resamples)
			whole[fmt.Sprint(sum.Setting, sum.Statistic)] = sum
			res.Rows = append(res.Rows, *sum)
			r.note("pooled: pairs of systems of all datasets, compared within their dataset; there is no test of it")
		}
	}
	seen := map[string]bool{}
	for _, d := range res.Differences {
		key := fmt.Sprint(d.A, d.B, d.Statistic)
		if seen[key] {
			continue
		}
		seen[key] = true
		if a, b := whole[fmt.Sprint(d.A, d.Statistic)], whole[fmt.Sprint(d.B, d.Statistic)]; a != nil && b != nil {
			res.Differences = append(res.Differences, Difference{
				About: a.About, A: d.A, B: d.B, AName: d.AName, BName: d.BName,
				AValue: a.Value, BValue: b.Value, Value: a.Value - b.Value, Interval: r.interval(a.resamples.Less(b.resamples)),
				P: None(), Corrected: None(), N: a.N, Missing: max(a.Missing, b.Missing), Unscored: max(a.Unscored, b.Unscored),
			})
		}
	}
}

// pool is the share over the pairs of systems of all datasets, also for each resample.
func pool(parts []*Row) *Row {
	sum := Row{About: parts[0].About, Setting: parts[0].Setting, MinReferences: parts[0].MinReferences, Ties: None(), Epsilon: None(),
		resamples: correlate.Resamples{Values: make([]float64, len(parts[0].resamples.Values)), Units: parts[0].resamples.Units}}
	sum.Dataset, sum.Human = Pooled, ""
	for _, p := range parts {
		sum.MinReferences, sum.MaxReferences = min(sum.MinReferences, p.MinReferences), max(sum.MaxReferences, p.MaxReferences)
		sum.N, sum.Missing, sum.Unscored, sum.Systems = sum.N+p.N, sum.Missing+p.Missing, sum.Unscored+p.Unscored, sum.Systems+p.Systems
		sum.Value += p.Value * Number(p.N)
		if len(p.resamples.Values) < len(sum.resamples.Values) {
			sum.resamples.Values = nil
		}
		sum.resamples.Units = min(sum.resamples.Units, p.resamples.Units) // the smallest decides how far it may be off
		for i := range sum.resamples.Values {
			sum.resamples.Values[i] += p.resamples.Values[i] * float64(p.N)
		}
	}
	sum.Groups, sum.Value = sum.Systems, sum.Value/Number(sum.N)
	for i := range sum.resamples.Values {
		sum.resamples.Values[i] /= float64(sum.N)
	}
	return &sum
}
