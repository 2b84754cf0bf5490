package correlate

import "math"

// labelsOver is the share of human labels that a metric saves, from a vector for each system. With
// the metric's scores of many more segments than are judged, prediction-powered inference (PPI++,
// arXiv 2311.01453) estimates a system's mean judgement from n labels as well as n/(1-r²) labels
// would alone, where r is Pearson's correlation over the system's segments: a share of r² is saved.
//
// The value is the mean of r·|r| over systems, or 0 if that is negative, because a metric that
// disagrees with people gets no weight. So chance agreement has a value around 0, and no bias.
func labelsOver(rows []Row) Result {
	var res Result
	res.mean(rows, func(i int) float64 { return shareSaved(Pearson(rows[i].Gold, rows[i].Metric)) }, false)
	res.Value = max(res.Value, 0) // NaN stays
	return res
}

func shareSaved(r float64) float64 { return r * math.Abs(r) }

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
		if v := shareSaved(r.weighted(weights, s)); !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	return max(sum/n, 0)
}
