package refract

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
)

// demand is what the settings of an engine need of one metric.
type demand struct {
	metric metrics.Metric
	info   metrics.Info
	index  int // among the engine's metrics

	keeper     *keeper // nil where scores are not stored
	workspaces *sync.Pool

	all          bool // every cell
	first        bool // the first column
	upper, lower bool // as many cells of a row as it takes to reach the bound

	native                            bool // scores by the metric's own rule, if it has one
	firstStatistics, nativeStatistics bool // of a corpus
	unstored                          bool // on their account
}

// add takes in what one more setting needs.
func (d *demand) add(a aggregate.Aggregator, pooled bool) {
	_, apart := d.metric.(metrics.NativeScorer) // which makes native scores without cells
	switch extreme := a.Extreme(d.info.Direction == metrics.HigherIsBetter); {
	case apart && a.Native():
	case a.Single():
		d.first = true
	case extreme > 0 && !math.IsInf(d.info.Upper, 0):
		d.upper = true
	case extreme < 0 && !math.IsInf(d.info.Lower, 0):
		d.lower = true
	default:
		d.all = true
	}
	d.native = d.native || a.Native() && metrics.HasNative(d.metric)
	d.firstStatistics = d.firstStatistics || pooled && a.Single()
	d.nativeStatistics = d.nativeStatistics || pooled && a.Native()
}

// keep has the scores stored where they may be.
func (d *demand) keep(o *Options, damage func()) {
	store := o.StoreRest
	if s, ok := d.metric.(metrics.Storable); ok && s.Storable() && o.Store != nil {
		store = o.Store
	}
	if store == nil || metrics.NeverKept(d.metric) {
		return
	}
	if d.unstored = d.firstStatistics || d.nativeStatistics; !d.unstored {
		d.keeper = newKeeper(store, damage, d.metric)
	}
}

// columns is the number of first columns that are all that is needed: 0, 1, or
// math.MaxInt for any number of them. Without a native score one is needed.
func (d *demand) columns() int {
	switch {
	case d.all || d.upper || d.lower:
		return math.MaxInt
	case d.first || !d.native:
		return 1
	}
	return 0
}

// stop is the score that ends a row, or nil.
func (d *demand) stop() *float64 {
	switch {
	case d.keeper != nil || d.all || d.upper == d.lower:
		return nil
	case d.upper:
		return &d.info.Upper
	}
	return &d.info.Lower
}

// need is what is asked of the metric for the blocks of frames, whose columns
// are asked for in an order.
func (d *demand) need(frames []*frame, order []int) metrics.Need {
	var n metrics.Need
	if d.columns() == 1 {
		n.FirstOnly = true
		return n
	}
	if n.Stop = d.stop(); n.Stop == nil {
		return n
	}
	n.Orders = make([][]int, len(frames))
	for i, f := range frames {
		n.Orders[i] = f.columnOrder(order, d.first)
	}
	return n
}

// columnOrder turns an order of a segment's columns into one of its block's: those
// that are present, and those that the order does not know at the end.
func (f *frame) columnOrder(columns []int, first bool) []int {
	rank := make(map[int]int, len(columns))
	for i, c := range columns {
		rank[c] = i
	}
	place := func(b int) int {
		c := f.refs[b]
		if first && c == 0 {
			return -1 // it is wanted for itself
		}
		if r, ok := rank[c]; ok {
			return r
		}
		return len(columns) + c
	}
	order := make([]int, len(f.refs))
	for b := range order {
		order[b] = b
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(place(a), place(b)) })
	return order
}

// learns reports whether the first segments of a run teach in which order
// columns are best asked for.
func (d *demand) learns() bool {
	_, ok := d.metric.(metrics.Selective)
	return ok && d.stop() != nil
}

// byRate orders columns by how often they reach the bound where they are
// asked for.
func byRate(frames []*frame, metric int, bound float64) []int {
	var asked, reached []float64
	for _, f := range frames {
		ms := &f.scores.Metrics[metric]
		for i, status := range ms.Status {
			c := i % ms.Columns
			for len(asked) <= c {
				asked, reached = append(asked, 0), append(reached, 0)
			}
			if status != metrics.Scored {
				continue
			}
			asked[c]++
			if ms.Values[i] == bound {
				reached[c]++
			}
		}
	}
	order := make([]int, len(asked))
	for c := range order {
		order[c] = c
	}
	// A column that was rarely asked for is held to be like the others.
	rate := func(c int) float64 { return (reached[c] + 1) / (asked[c] + 2) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rate(b), rate(a)) })
	return order
}
