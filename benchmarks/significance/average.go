package significance

import (
	"cmp"
	"math"
	"slices"
)

// Task is one of several comparisons whose results are averaged.
type Task struct {
	*Comparison
	Settings    []int   // number of the setting of each table
	Weight      float64 // above 0
	Least, Most float64 // the measure's bounds, which are mapped to 0 and 1
}

// Standing is the result of a setting over all tasks.
type Standing struct {
	Setting int
	Value   float64 // weighted mean of the measures, each scaled to [0, 1]
	Rank    float64 // weighted mean of the ranks
	// Cluster is the rank by significance of the difference of means, from 1; 0 if a task has
	// no draws.
	Cluster int
}

// Average orders the settings that have a rank in every task by the weighted mean of their
// measures. A resample of the mean combines the resamples of all tasks, as kept by
// Options.Draws; a task that stopped early repeats its draws. Clusters use p-values up to
// alpha, one- or two-sided as in Options.OneSided.
func Average(tasks []Task, alpha float64, o Options) []Standing {
	total := 0.0
	count, at := map[int]int{}, make([]map[int]int, len(tasks)) // at is the position in a task's order
	for k, t := range tasks {
		total += t.Weight
		at[k] = map[int]int{}
		for place, table := range t.Order {
			if t.Ranks[table] > 0 {
				count[t.Settings[table]]++
				at[k][t.Settings[table]] = place
			}
		}
	}
	var out []Standing
	for s, n := range count {
		if n < len(tasks) {
			continue
		}
		of := Standing{Setting: s}
		for k, t := range tasks {
			table := t.Order[at[k][s]]
			of.Value += t.Weight / total * (t.Values[table] - t.Least) / (t.Most - t.Least)
			of.Rank += t.Weight / total * float64(t.Ranks[table])
		}
		out = append(out, of)
	}
	slices.SortFunc(out, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Setting, b.Setting))
	})
	p := make([][]float64, len(out))
	for i := range out {
		p[i] = make([]float64, len(out))
		for j := i + 1; j < len(out); j++ {
			p[i][j] = averageP(tasks, at, total, &out[i], &out[j], o)
			if math.IsNaN(p[i][j]) {
				return out
			}
		}
	}
	for i, c := range clusters(p, alpha) {
		out[i].Cluster = c
	}
	return out
}

// averageP is the p-value of the difference between the means of settings a and b; NaN if a
// task has no draws.
func averageP(tasks []Task, at []map[int]int, total float64, a, b *Standing, o Options) float64 {
	draws, factors, n := make([][]float64, len(tasks)), make([]float64, len(tasks)), 0
	for k, t := range tasks {
		x, y := at[k][a.Setting], at[k][b.Setting]
		factors[k] = t.Weight / total / (t.Most - t.Least)
		if x > y {
			x, y, factors[k] = y, x, -factors[k]
		}
		if y >= len(t.Tests) || len(t.Tests[x][y].Draws) == 0 {
			return math.NaN()
		}
		draws[k] = t.Tests[x][y].Draws
		n = max(n, len(draws[k]))
	}
	large := 0
	for r := range n {
		sum := 0.0
		for k, d := range draws {
			sum += factors[k] * d[r%len(d)]
		}
		if o.asLarge(sum, a.Value-b.Value) {
			large++
		}
	}
	return share(large, n)
}
