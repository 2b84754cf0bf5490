package significance

import (
	"cmp"
	"math"
	"slices"
)

// Holm returns p-values corrected for their number (Holm, 1979, "A Simple Sequentially
// Rejective Multiple Test Procedure"): comparing these with a level keeps the probability
// of any false finding below it. NaN stays NaN and does not count.
func Holm(p []float64) []float64 {
	var order []int
	out := make([]float64, len(p))
	for i, v := range p {
		out[i] = v
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	largest := 0.0
	for k, i := range order {
		largest = max(largest, min(1, p[i]*float64(len(order)-k)))
		out[i] = largest
	}
	return out
}

// Significant is the rule of every verdict: a p-value up to alpha. NaN is not significant.
// It allows for the rounding of 1 - 0.95.
func Significant(p, alpha float64) bool { return p <= alpha+1e-12 }

// clusters returns the ranks, from 1, of settings from the best down, where p[i][j], i < j,
// is the p-value that the i-th is better than the j-th. A setting begins a new rank if any
// member of the current one is significantly better, with a p-value up to alpha. A NaN is
// not significant.
func clusters(p [][]float64, alpha float64) []int {
	ranks := make([]int, len(p))
	rank, first := 1, 0
	for i := range p {
		if slices.ContainsFunc(p[first:i], func(better []float64) bool { return Significant(better[i], alpha) }) {
			rank, first = rank+1, i
		}
		ranks[i] = rank
	}
	return ranks
}

// AverageRanks returns the mean of each setting's ranks over tasks,
// ranks[task][setting]. A setting without a rank, 0, in any task has NaN.
func AverageRanks(ranks [][]int) []float64 {
	if len(ranks) == 0 {
		return nil
	}
	out := make([]float64, len(ranks[0]))
	for s := range out {
		for _, task := range ranks {
			if task[s] == 0 {
				out[s] = math.NaN()
			}
			out[s] += float64(task[s])
		}
		out[s] /= float64(len(ranks))
	}
	return out
}
