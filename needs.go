package refract

import (
	"sync"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
)

// metricNeeds is what the settings of an engine need from one metric.
type metricNeeds struct {
	metric metrics.Metric
	info   metrics.Info
	index  int // in the engine's metrics

	cache      *scoreCache // if the metric is not a Preparer or its scores are stored; else nil
	workspaces *sync.Pool  // if the metric is a Preparer

	all    bool // every cell
	first  bool // the first column
	native bool // native scores, if the metric has them

	firstStatistics, nativeStatistics bool // for corpus scores
}

// add adds the needs of one more setting.
func (d *metricNeeds) add(a aggregate.Aggregator, pooled bool) {
	_, apart := d.metric.(metrics.NativeScorer) // computes native scores without cells
	d.all = d.all || !a.Single() && !(apart && a.Native())
	d.first = d.first || a.Single()
	d.native = d.native || a.Native() && metrics.HasNative(d.metric)
	d.firstStatistics = d.firstStatistics || pooled && a.Single()
	d.nativeStatistics = d.nativeStatistics || pooled && a.Native()
}

// keep sets up storing the scores, if they may be stored.
func (d *metricNeeds) keep(o *Options, damage func()) {
	store := o.StoreRest
	if d.info.Keep == metrics.KeepAlways && o.Store != nil {
		store = o.Store
	}
	if d.info.Keep == metrics.KeepUnneeded && !o.StoreUnneeded || d.info.Keep == metrics.KeepNever {
		store = nil
	}
	p, prepares := d.metric.(metrics.Preparer)
	if d.firstStatistics || d.nativeStatistics {
		store = nil // statistics cannot be computed from stored scores
	}
	if store != nil || !prepares {
		d.cache = newScoreCache(store, damage, d.metric)
		return
	}
	d.workspaces = &sync.Pool{New: func() any { return p.NewWorkspace() }}
}
