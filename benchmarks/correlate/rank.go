package correlate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// checkLengths panics if two slices that must be aligned are not: a bug in the caller that
// no number can express.
func checkLengths(x, y []float64) {
	if len(x) != len(y) {
		panic(fmt.Sprintf("correlate: %d scores against %d", len(x), len(y)))
	}
}

func hasNaN(x []float64) bool {
	return slices.ContainsFunc(x, math.IsNaN)
}

// denseRanks numbers the distinct values of x from 0 in ascending order and returns the
// number of each element, and how many numbers there are. Zeros of both signs are one
// value.
func denseRanks(x []float64) (ranks []int32, distinct int) {
	items := make([]rankItem, len(x))
	for i, v := range x {
		items[i] = rankItem{key: ascending(v), index: int32(i)}
	}
	items = sortItems(items)
	ranks = make([]int32, len(x))
	for i, it := range items {
		if i == 0 || it.key != items[i-1].key {
			distinct++
		}
		ranks[it.index] = int32(distinct - 1)
	}
	return ranks, distinct
}

type rankItem struct {
	key   uint64
	index int32
	other int32 // left to the caller
}

// ascending maps numbers to integers in the same order.
func ascending(v float64) uint64 {
	b := math.Float64bits(v + 0) // turn -0 into 0
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

// sortItems sorts by key. For many items it uses a radix sort, which takes a quarter of the
// time of a comparison sort, but twice the memory.
func sortItems(items []rankItem) []rankItem {
	const digit, most = 11, 1 << 24
	if len(items) < 1<<digit || len(items) > most {
		slices.SortFunc(items, func(a, b rankItem) int { return cmp.Compare(a.key, b.key) })
		return items
	}
	other := make([]rankItem, len(items))
	for shift := 0; shift < 64; shift += digit {
		var next [1 << digit]int32
		for i := range items {
			next[items[i].key>>shift&(1<<digit-1)]++
		}
		if int(next[items[0].key>>shift&(1<<digit-1)]) == len(items) {
			continue
		}
		sum := int32(0)
		for d, n := range next {
			next[d] = sum
			sum += n
		}
		for _, it := range items {
			to := &next[it.key>>shift&(1<<digit-1)]
			other[*to] = it
			*to++
		}
		items, other = other, items
	}
	return items
}

// sortByRank returns the elements of an order, by default 0, 1, …, sorted stably by rank,
// and where each rank ends.
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
