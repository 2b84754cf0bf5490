package correlate

import "math"

// labelsOver is the share of human labels that a metric saves, from a vector for each system. With
// the metric's scores of many more segments than are judged, prediction-powered inference (PPI++,
// arXiv 2311.01453) estimates a system's mean judgement from n labels as well as n/(1-r²) labels
// would alone, where r is Pearson's correlation over all segments: a share of r² is saved.
//
// The value is the mean of [shareSaved] over systems, or 0 if that is negative, because a metric
// that disagrees with people gets no weight.
func labelsOver(rows []Row) Result {
	var res Result
	res.mean(rows, func(i int) float64 {
		return shareSaved(Pearson(rows[i].Gold, rows[i].Metric), int64(len(rows[i].Gold)))
	}, false)
	res.Value = max(res.Value, 0) // NaN stays
	return res
}

// shareSaved estimates ρ·|ρ| from Pearson's correlation r of n pairs of scores: r·|r| less its
// bias, for which r is taken as normal around ρ. It is undefined for fewer than three.
func shareSaved(r float64, n int64) float64 {
	spread := (1 - r*r) / math.Sqrt(float64(n-2))
	switch {
	case n < 3:
		return math.NaN()
	case spread == 0:
		return r
	}
	return r*math.Abs(r) - spread*spread*math.Erf(r/spread/math.Sqrt2)
}

// labelsRow holds the vectors of all systems.
type labelsRow []*pearsonRow

func newLabelsRow(rows []Row, _ bool) (row, error) {
	var out labelsRow
	for _, r := range rows {
		out = append(out, newPearsonRow(r.Gold, r.Metric, r.unit))
	}
	return out, nil
}

func (l labelsRow) weighted(weights []int32, s *scratch) float64 {
	sum, n := 0.0, 0.0
	for _, r := range l {
		if v := shareSaved(r.weighted(weights, s), size(r.unit, weights)); !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	return max(sum/n, 0)
}
