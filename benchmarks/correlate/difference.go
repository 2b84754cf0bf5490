package correlate

import "math"

// pairwisePearson returns Pearson's correlation of the differences of all
// pairs of elements within the same vector. The differences of n elements
// have, over all ordered pairs, a mean of 0 and sums of products that are 2n
// times those of the centred elements, so that no pair is looked at.
func pairwisePearson(rows []Row) float64 {
	var sum products
	for _, r := range scaledRows(rows) {
		sum.add(centredProducts(r.Gold, r.Metric), 1)
	}
	return sum.correlation()
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

// products are sums of products of differences.
type products struct{ xx, xy, yy float64 }

func (p *products) add(q products, times float64) {
	p.xx += float64(times * q.xx)
	p.xy += float64(times * q.xy)
	p.yy += float64(times * q.yy)
}

func (p products) correlation() float64 {
	if p.xx == 0 || p.yy == 0 {
		return math.NaN()
	}
	return clamp(p.xy / math.Sqrt(p.xx) / math.Sqrt(p.yy))
}

// centredProducts returns n times the sums of products of the elements less
// their means. A constant vector gives exact zeros.
func centredProducts(x, y []float64) products {
	n := float64(len(x))
	if len(x) < 2 {
		return products{}
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
	return products{n * dot(buffer, u, u), n * dot(buffer, u, v), n * dot(buffer, v, v)}
}

// differenceRows pools the differences within several vectors, which share
// their scale.
type differenceRows []*pearsonRow

func (rows differenceRows) weighted(weights []int32, _ *scratch) float64 {
	var sum products
	for _, r := range rows {
		n, x, y := r.spreads(weights)
		for _, s := range []*spread{&x, &y} {
			if s.scale > 0 {
				s.scale = 1
			} else {
				s.scale = math.Inf(1) // all differences are 0
			}
		}
		sum.add(r.products(weights, x, y), float64(n))
	}
	return sum.correlation()
}

// wholeDifferences pools the differences within vectors that are drawn whole.
type wholeDifferences []wholeRow[products]

func (all wholeDifferences) weighted(weights []int32, _ *scratch) float64 {
	var sum products
	for _, r := range all {
		if w := weights[r.unit]; w > 0 {
			sum.add(r.of, float64(w))
		}
	}
	return sum.correlation()
}
