package command

import (
	"fmt"
	"math"
	"slices"

	"github.com/refract-eval/refract/benchmarks/agreement"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
)

// addSystemScores takes the scores of systems that a folder has for its
// metrics, beside those of segments. Most are the means of these; those of
// corpus metrics are not.
func (r *compareRun) addSystemScores(spec string) error {
	all, err := dataset.StoredMetrics(spec, correlate.SystemLevel)
	if err != nil {
		return err
	}
	for i := range r.columns {
		at := slices.IndexFunc(all, func(m dataset.StoredMetric) bool {
			return r.columns[i].stored != nil && m.Label() == r.columns[i].metric
		})
		if at < 0 {
			continue
		}
		r.columns[i].systemScores = map[string]float64{}
		for _, s := range all[at].Systems {
			if len(s.Values) == 1 && s.Valid[0] {
				r.columns[i].systemScores[s.System] = s.Values[0]
			}
		}
	}
	return nil
}

// ofSystems replaces the means of a table at system level by the stored scores
// of systems, where there is one for each and they are others. It has no
// segments to resample.
func (c *column) ofSystems(means *correlate.Pairs, systems []string) (*correlate.Pairs, bool) {
	if c.systemScores == nil {
		return nil, false
	}
	out := correlate.NewPairs(1, len(systems))
	copy(out.Gold, means.Gold)
	copy(out.GoldOK, means.GoldOK)
	differs := false
	for i, s := range systems {
		v, ok := c.systemScores[s]
		if !ok {
			return nil, false
		}
		out.Metric[i], out.MetricOK[i] = v, true
		differs = differs || !means.MetricOK[i] || math.Abs(v-means.Metric[i]) > 1e-6*(1+math.Abs(v))
	}
	return out, differs
}

// storedSystems puts stored scores in place of a table at system level, and says
// whether it did. Tests and soft accuracy need scores of segments.
func (c *comparer) storedSystems(cmp *compared, col *agreement.Collector, m correlate.Measure, k int, table *correlate.Pairs) (*correlate.Pairs, bool, error) {
	column := &cmp.columns[k]
	if column.systemScores == nil || c.levelOf(m) != correlate.SystemLevel || m.Statistic == correlate.StatSoftAccuracy || c.significanceFlags.on() {
		return table, false, nil
	}
	means, err := col.At(correlate.SystemLevel, cmp.segments[k])
	if err != nil {
		return nil, false, err
	}
	own, ok := column.ofSystems(means, cmp.names)
	if !ok {
		return table, false, nil
	}
	return own, true, nil
}

func storedNote(metric string) string {
	return fmt.Sprintf("%s at system level: the folder's own scores of systems, which are not the means of its segments; no interval", metric)
}
