package correlate

import (
	"fmt"
	"math"
	"slices"
)

// checkLengths panics where two slices that must be aligned are not: the
// caller's mistake, which no number can express.
func checkLengths(x, y []float64) {
	if len(x) != len(y) {
		panic(fmt.Sprintf("correlate: %d scores against %d", len(x), len(y)))
	}
}

func hasNaN(x []float64) bool {
	return slices.ContainsFunc(x, math.IsNaN)
}

// denseRanks numbers the distinct values of x from 0 in ascending order and
// returns the number of each element and how many there are. The zeros of
// both signs are one value.
func denseRanks(x []float64) (ranks []int32, distinct int) {
	type item struct {
		value float64
		index int32
	}
	items := make([]item, len(x))
	for i, v := range x {
		items[i] = item{v, int32(i)}
	}
	slices.SortFunc(items, func(a, b item) int {
		switch { // faster than cmp.Compare, which looks for NaN
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	ranks = make([]int32, len(x))
	for i, it := range items {
		if i == 0 || it.value != items[i-1].value {
			distinct++
		}
		ranks[it.index] = int32(distinct - 1)
	}
	return ranks, distinct
}

// sortByRank returns the elements of an order, by default 0, 1, …, sorted by
// their ranks, equal ones as they are, and where each rank ends.
func sortByRank(order, ranks []int32, distinct int) (sorted, ends []int32) {
	ends = make([]int32, distinct)
	for _, r := range ranks {
		ends[r]++
	}
	var sum int32
	for r, n := range ends {
		ends[r] = sum
		sum += n
	}
	sorted = make([]int32, len(ranks))
	for k := range ranks {
		i := int32(k)
		if order != nil {
			i = order[k]
		}
		r := ranks[i]
		sorted[ends[r]] = i
		ends[r]++
	}
	return sorted, ends
}
