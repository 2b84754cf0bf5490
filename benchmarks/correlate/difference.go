package correlate

import "math"

// pairwisePearson returns Pearson's correlation of the differences of all
// pairs of elements within the same vector. The differences of n elements
// have, over all ordered pairs, a mean of 0 and sums of products that are 2n
// times those of the centred elements, so that no pair is looked at.
func pairwisePearson(rows []Row) float64 {
	var all sums
	for _, r := range scaledRows(rows) {
		all.add(centredProducts(r.Gold, r.Metric), 1)
	}
	return correlation(all)
}

// scaledRows returns copies of the rows in which all gold and all metric
// scores have a magnitude whose squares do not overflow.
func scaledRows(rows []Row) []Row {
	var gold, metric []float64
	for _, r := range rows {
		gold = append(gold, r.Gold...)
		metric = append(metric, r.Metric...)
	}
	gold, metric = standardMagnitude(gold), standardMagnitude(metric)
	out := make([]Row, len(rows))
	for i, r := range rows {
		n := len(r.Gold)
		out[i] = Row{gold[:n:n], metric[:n:n], r.unit}
		gold, metric = gold[n:], metric[n:]
	}
	return out
}

// correlation is that of vectors with sums of products xx, xy and yy.
func correlation(s sums) float64 {
	xx, xy, yy := s[0], s[1], s[2]
	if xx == 0 || yy == 0 {
		return math.NaN()
	}
	return clamp(xy / math.Sqrt(xx) / math.Sqrt(yy))
}

// centredProducts returns n times the sums of products of the elements less
// their means. A constant vector gives exact zeros.
func centredProducts(x, y []float64) sums {
	n := float64(len(x))
	if len(x) < 2 {
		return sums{}
	}
	u, v := append([]float64(nil), x...), append([]float64(nil), y...)
	for _, w := range [][]float64{u, v} {
		if isConstant(w) {
			clear(w)
		} else {
			centre(w)
		}
	}
	buffer := make([]float64, len(x))
	return sums{n * dot(buffer, u, u), n * dot(buffer, u, v), n * dot(buffer, v, v)}
}

// differenceRows pools the differences within several vectors, which share
// their scale.
type differenceRows []*pearsonRow

func (rows differenceRows) weighted(weights []int32, _ *scratch) float64 {
	var all sums
	for _, r := range rows {
		n, x, y := r.spreads(weights)
		for _, s := range []*spread{&x, &y} {
			if s.scale > 0 {
				s.scale = 1
			} else {
				s.scale = math.Inf(1) // all differences are 0
			}
		}
		all.add(r.products(weights, x, y), float64(n))
	}
	return correlation(all)
}
