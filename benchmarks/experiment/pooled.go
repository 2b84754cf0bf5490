package experiment

import "github.com/refract-eval/refract/internal/report"

// pooledName stands for all datasets together.
const pooledName = "pooled"

// pooled adds rows and differences of all datasets together, of accuracies:
// pairs of systems are compared within a dataset, never across.
func (r *run) pooled(res *Result) {
	if len(res.Datasets) < 2 {
		return
	}
	type key struct {
		name      SettingName
		statistic string
	}
	whole := map[key]*Row{}
	for _, parts := range groupsOf(pointers(res.Rows), func(r *Row) (key, bool) { return key{r.Setting, r.Statistic}, r.pools }) {
		if sum := pool(parts); len(parts) == len(res.Datasets) && sum.Value.Defined() {
			sum.Interval = r.interval(sum.resamples)
			whole[key{sum.Setting, sum.Statistic}] = sum
			res.Rows = append(res.Rows, *sum)
			r.note("pooled: pairs of systems of all datasets, compared within their dataset; there is no test of it")
		}
	}
	type pair struct{ a, b key }
	pairs := groupsOf(pointers(res.Differences), func(d *Difference) (pair, bool) { return pair{key{d.A, d.Statistic}, key{d.B, d.Statistic}}, true })
	for _, of := range pairs {
		d := of[0]
		a, b := whole[key{d.A, d.Statistic}], whole[key{d.B, d.Statistic}]
		if a == nil || b == nil {
			continue
		}
		res.Differences = append(res.Differences, Difference{
			About: a.About, A: d.A, B: d.B, AName: d.AName, BName: d.BName,
			AValue: a.Value, BValue: b.Value, Value: a.Value - b.Value, Interval: r.interval(differences(a.resamples, b.resamples)),
			P: report.None(), Corrected: report.None(), N: a.N, Missing: max(a.Missing, b.Missing), Unscored: max(a.Unscored, b.Unscored),
		})
	}
}

// pool is the share over the pairs of systems of all datasets, and that of each
// resample.
func pool(parts []*Row) *Row {
	first := parts[0]
	sum := &Row{
		About:   About{Dataset: pooledName, Statistic: first.Statistic, Level: first.Level, Group: first.Group, name: first.name},
		Setting: first.Setting, MinReferences: first.MinReferences, Ties: report.None(), Epsilon: report.None(),
		resamples: make([]float64, len(first.resamples)),
	}
	for _, p := range parts {
		sum.MinReferences, sum.MaxReferences = min(sum.MinReferences, p.MinReferences), max(sum.MaxReferences, p.MaxReferences)
		sum.N, sum.Missing, sum.Unscored, sum.Systems = sum.N+p.N, sum.Missing+p.Missing, sum.Unscored+p.Unscored, sum.Systems+p.Systems
		sum.Value += p.Value * Number(p.N)
		if len(p.resamples) < len(sum.resamples) {
			sum.resamples = nil
		}
		for i := range sum.resamples {
			sum.resamples[i] += p.resamples[i] * float64(p.N)
		}
	}
	sum.Groups, sum.Value = sum.Systems, sum.Value/Number(sum.N)
	for i := range sum.resamples {
		sum.resamples[i] /= float64(sum.N)
	}
	return sum
}
