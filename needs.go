package refract

import (
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
	workspaces *sync.Pool  // of a Preparer

	all    bool // every cell
	first  bool // the first column
	native bool // scores by the metric's own rule, if it has one

	firstStatistics, nativeStatistics bool // of a corpus
}

// add takes in what one more setting needs.
func (d *metricNeeds) add(a aggregate.Aggregator, pooled bool) {
	_, apart := d.metric.(metrics.NativeScorer) // which makes native scores without cells
	d.all = d.all || !a.Single() && !(apart && a.Native())
	d.first = d.first || a.Single()
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
	if d.info.Keep == metrics.KeepUnneeded && !o.StoreUnneeded || metrics.NeverKept(d.metric) {
		store = nil
	}
	p, prepares := d.metric.(metrics.Preparer)
	if d.firstStatistics || d.nativeStatistics {
		store = nil // statistics are made of the texts
	}
	if store != nil || !prepares {
		d.cache = newScoreCache(store, damage, d.metric)
		return
	}
	d.workspaces = &sync.Pool{New: func() any { return p.NewWorkspace() }}
}
