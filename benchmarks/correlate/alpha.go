package correlate

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Scale says how far apart two ratings are.
type Scale uint8

// The scales.
const (
	IntervalScale Scale = iota // by the square of their difference
	OrdinalScale               // by the square of the number of ratings between them, those of each counted half
)

// Ratings are the scores that raters gave to the outputs of a table: Of has those of each cell,
// the systems of the first segment first. A rater who did not rate an output has none there.
type Ratings struct {
	Segments, Systems int
	Of                [][]float64
}

// Alpha is Krippendorff's alpha (2011), the agreement of raters: 1 - Do/De, where Do is the mean
// distance of two ratings of one output, and De that of any two. Outputs with one rating are left
// out. It is 1 for full agreement, about 0 for chance, and NaN where all ratings are equal.
func (r *Ratings) Alpha(s Scale) float64 {
	return newAlphaRow(r, s, make([]int32, len(r.Of))).weighted([]int32{1}, new(scratch))
}

// Alpha returns [Ratings.Alpha] and that of resamples of the units, from those with an output that
// has several ratings.
func (b Bootstrap) Alpha(ctx context.Context, r *Ratings, s Scale) (float64, Resamples, error) {
	p := NewPairs(r.Segments, r.Systems)
	if len(r.Of) != len(p.Gold) {
		return math.NaN(), Resamples{}, fmt.Errorf("ratings of %d cells, want %d × %d", len(r.Of), r.Segments, r.Systems)
	}
	for i, of := range r.Of {
		p.GoldOK[i], p.MetricOK[i] = len(of) > 1, len(of) > 1
	}
	_, resamples, err := b.ofRow(ctx, p, func(unit []int32, _ int) row { return newAlphaRow(r, s, unit) })
	if err != nil {
		return math.NaN(), Resamples{}, err
	}
	return r.Alpha(s), resamples, nil
}

// alphaRow holds ratings as indices of their sorted values.
type alphaRow struct {
	scale  Scale
	values []float64 // divided by the largest, so that no square overflows
	of     [][]int32 // of each cell that has several ratings
	unit   []int32   // of these
}

func newAlphaRow(r *Ratings, s Scale, unit []int32) *alphaRow {
	a := &alphaRow{scale: s, values: slices.Concat(r.Of...)}
	slices.Sort(a.values)
	a.values = slices.Compact(a.values)
	for i, ratings := range r.Of {
		if len(ratings) > 1 {
			of := make([]int32, len(ratings))
			for k, v := range ratings {
				at, _ := slices.BinarySearch(a.values, v)
				of[k] = int32(at)
			}
			a.of, a.unit = append(a.of, of), append(a.unit, unit[i])
		}
	}
	largest := 0.0
	for _, v := range a.values {
		largest = max(largest, math.Abs(v))
	}
	for i := range a.values {
		a.values[i] /= max(largest, math.SmallestNonzeroFloat64)
	}
	return a
}

// weighted computes Do and De from squared distances to means. The ordinal distance of two values
// is that of their middle ranks.
func (a *alphaRow) weighted(weights []int32, s *scratch) float64 {
	counts, place := s.floats(len(a.values), len(a.values))
	var n, distinct float64
	for i, of := range a.of {
		for _, v := range of {
			counts[v] += float64(weights[a.unit[i]])
		}
	}
	for v, c := range counts {
		if place[v] = a.values[v]; a.scale == OrdinalScale {
			place[v] = n + c/2
		}
		if n += c; c > 0 {
			distinct++
		}
	}
	if distinct < 2 {
		return math.NaN()
	}
	var mean, within, all float64
	for v, c := range counts {
		mean += c * place[v] / n
	}
	for v, c := range counts {
		all += c * (place[v] - mean) * (place[v] - mean)
	}
	for i, of := range a.of {
		if w, m := float64(weights[a.unit[i]]), float64(len(of)); w > 0 {
			mean, sum := 0.0, 0.0
			for _, v := range of {
				mean += place[v] / m
			}
			for _, v := range of {
				sum += (place[v] - mean) * (place[v] - mean)
			}
			within += w * sum * m / (m - 1)
		}
	}
	return 1 - (n-1)/n*within/all
}
