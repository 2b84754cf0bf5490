package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/refract-eval/refract/internal/exact"
)

// Alpha is Krippendorff's alpha of units, for scores on an
// interval scale, or an ordinal one: 1 for perfect agreement, 0 for that of chance.
// Units with fewer than two scores do not count. It is NaN where no scores can
// differ: fewer than two, or all of them equal.
//
// Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. The
// difference of two ordinal values there is that of their mid-ranks.
func Alpha(units [][]float64, ordinal bool) float64 {
	var all []float64
	var sizes []int
	for _, u := range units {
		if len(u) > 1 {
			all, sizes = append(all, u...), append(sizes, len(u))
		}
	}
	if len(all) == 0 || slices.Min(all) == slices.Max(all) {
		return math.NaN()
	}
	if ordinal {
		midRanks(all)
	}
	mean := exact.Mean(all)
	for i := range all {
		all[i] -= mean // so that the squares are small
	}
	expected := differences(all) / float64(len(all)-1)
	observed := 0.0
	rest := all
	for _, n := range sizes {
		observed += differences(rest[:n]) / float64(n-1)
		rest = rest[n:]
	}
	return 1 - observed/expected
}

// differences is the sum of (a−b)² over all ordered pairs.
func differences(values []float64) float64 {
	var sum, squares float64
	for _, v := range values {
		sum += v
		squares += v * v
	}
	return 2 * max(0, float64(len(values))*squares-sum*sum)
}

// midRanks puts ranks in place of values: equal ones share the mean of theirs.
func midRanks(values []float64) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	for from, to := 0, 0; from < len(order); from = to {
		value := values[order[from]]
		for to = from; to < len(order) && values[order[to]] == value; to++ {
		}
		for _, i := range order[from:to] {
			values[i] = float64(from+to-1) / 2
		}
	}
}
