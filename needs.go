package refract

import (
	"math"
	"sync"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
)

// metricNeeds is what the settings of an engine need of one metric.
type metricNeeds struct {
	metric metrics.Metric
	info   metrics.Info
	index  int // among the engine's metrics

	cache      *scoreCache // what asks a metric that is no Preparer, or has its scores stored; else nil
	workspaces *sync.Pool

	all   bool // every cell
	first bool // the first column

	native                            bool // scores by the metric's own rule, if it has one
	firstStatistics, nativeStatistics bool // of a corpus
	unstored                          bool // on their account
}

// add takes in what one more setting needs.
func (d *metricNeeds) add(a aggregate.Aggregator, pooled bool) {
	_, apart := d.metric.(metrics.NativeScorer) // which makes native scores without cells
	switch {
	case apart && a.Native():
	case a.Single():
		d.first = true
	default:
		d.all = true
	}
	d.native = d.native || a.Native() && metrics.HasNative(d.metric)
	d.firstStatistics = d.firstStatistics || pooled && a.Single()
	d.nativeStatistics = d.nativeStatistics || pooled && a.Native()
}

// keep has the scores stored where they may be.
func (d *metricNeeds) keep(o *Options, damage func()) {
	store := o.StoreRest
	if d.info.Keep == metrics.KeepAlways && o.Store != nil {
		store = o.Store
	}
	if store != nil && metrics.NeverKept(d.metric) {
		store = nil
	}
	if d.unstored = store != nil && (d.firstStatistics || d.nativeStatistics); d.unstored {
		store = nil
	}
	if _, prepares := d.metric.(metrics.Preparer); store != nil || !prepares {
		d.cache = newScoreCache(store, damage, d.metric)
	}
}

// columns is the number of first columns that are all that is needed: 0, 1, or
// math.MaxInt for any number of them. Without a native score one is needed.
func (d *metricNeeds) columns() int {
	switch {
	case d.all:
		return math.MaxInt
	case d.first || !d.native:
		return 1
	}
	return 0
}
