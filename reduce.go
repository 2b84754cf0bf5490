package refract

import (
	"fmt"
	"slices"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
)

// Reduced is the score of one hypothesis after aggregation over references.
type Reduced struct {
	Value      float64 // meaningless unless Status is Scored
	Status     metrics.Status
	References int // number of references used; 0 for a metric that needs none
	Missing    int // number of references without a score, handled by the policy
}

// Reducer aggregates the scores of segments under the settings of an engine. It
// reuses memory and is not safe for concurrent use.
type Reducer struct {
	engine *Engine
	ok     []bool
	buf    []float64
}

// Reducer returns a reducer for the engine's scores.
func (e *Engine) Reducer() *Reducer { return &Reducer{engine: e} }

// Reduce aggregates the scores of hypothesis h of a segment under the engine's setting
// with the given index. Under the policy Fail the error is aggregate.ErrMissing if a score
// is missing; other errors say that the aggregator cannot be applied to the scores.
func (r *Reducer) Reduce(s *SegmentScores, setting, h int) (Reduced, error) {
	return r.ReduceMatrix(&s.Metrics[r.engine.metric[setting]], setting, h)
}

// ReduceMatrix is Reduce for a given matrix of the setting's metric, such as one with
// some of the references.
func (r *Reducer) ReduceMatrix(ms *MetricScores, setting, h int) (Reduced, error) {
	info := &r.engine.scorers[r.engine.metric[setting]].info
	a, policy := r.engine.settings[setting].Aggregator, r.engine.options.Missing
	if a.Name() == "" {
		return Reduced{}, fmt.Errorf("setting %d asks only for the cells of %s, without an aggregator", setting, info.Name)
	}
	row := ms.Values[h*ms.Columns : (h+1)*ms.Columns]
	status := ms.Status[h*ms.Columns : (h+1)*ms.Columns]
	if slices.Contains(status, metrics.Ended) {
		return Reduced{Status: metrics.Ended, Missing: len(status)}, nil // the run reports the error
	}
	if !info.NeedsReferences {
		// There is one score and nothing to aggregate.
		if policy == aggregate.Fail && status[0] != metrics.Scored {
			return Reduced{}, aggregate.ErrMissing
		}
		return Reduced{Value: row[0], Status: status[0]}, nil
	}
	if status[0] == metrics.MissingHypothesis && policy != aggregate.Fail {
		return Reduced{Status: status[0]}, nil // not because of a reference
	}
	present, unneeded := 0, 0
	for _, s := range status {
		switch s {
		case metrics.Scored:
			present++
		case metrics.Unneeded:
			unneeded++
		}
	}
	if a.Native() {
		return native(ms, info, policy, h, present+unneeded)
	}
	if unneeded > 0 && (!a.Single() || status[0] == metrics.Unneeded) {
		return Reduced{}, fmt.Errorf("%s was scored against some references only, as another aggregator allowed; score again for %s", info.Name, a.Name())
	}
	if a.Single() {
		status = status[:1]
	}
	var ok []bool
	if present < ms.Columns {
		ok = r.ok[:0]
		for _, s := range status {
			ok = append(ok, s == metrics.Scored)
		}
		r.ok = ok
	}
	if cap(r.buf) < len(row) {
		r.buf = make([]float64, len(row))
	}
	res, err := a.Apply(row[:len(status)], ok, info.Direction == metrics.HigherIsBetter, policy, r.buf)
	if err != nil {
		return Reduced{}, err
	}
	out := Reduced{Value: res.Value, References: res.Used, Missing: res.Missing}
	if !res.OK {
		out.Status = firstMissing(status)
	}
	return out, nil
}

func native(ms *MetricScores, info *metrics.Info, policy aggregate.Policy, h, present int) (Reduced, error) {
	if ms.Native == nil && present == 0 {
		// Nothing of the segment was scored.
		if policy == aggregate.Fail {
			return Reduced{}, aggregate.ErrMissing
		}
		return Reduced{Status: firstMissing(ms.Status[h*ms.Columns : (h+1)*ms.Columns]), Missing: ms.Columns}, nil
	}
	if ms.Native == nil {
		return Reduced{}, fmt.Errorf("%s has no native score over several references here; use another aggregator", info.Name)
	}
	out := Reduced{Value: ms.Native[h], Status: ms.NativeStatus[h], References: present, Missing: ms.Columns - present}
	if out.Missing == 0 {
		return out, nil
	}
	switch policy {
	case aggregate.Fail:
		return out, aggregate.ErrMissing
	case aggregate.Propagate:
		if out.Status == metrics.Scored {
			out.Status = firstMissing(ms.Status[h*ms.Columns : (h+1)*ms.Columns])
		}
	}
	return out, nil
}

func firstMissing(status []metrics.Status) metrics.Status {
	for _, s := range status {
		if s != metrics.Scored {
			return s
		}
	}
	return metrics.Failed
}
