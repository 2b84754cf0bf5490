package significance

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/refract-eval/refract/internal/numeric"
)

// Labels are what is known of the mean judgement of items, such as the outputs of a system, or
// the differences of two systems: judgements of a random draw of the items, and a metric's
// scores of all of them.
type Labels struct {
	Human  []float64 // judgements of the judged items
	Metric []float64 // the metric's scores of these; higher is better, as in Human
	Rest   []float64 // the metric's scores of the other items: never those of judged ones
	// Unit and RestUnit number the documents of the items, from 0. Nil takes every item as
	// independent of the others.
	Unit, RestUnit []int32
}

// Mean is an estimate of a mean, with its interval.
type Mean struct {
	Value, Error float64 // Error is the standard error
	Low, High    float64
}

// LabelsMean is the mean judgement that [Labels.Mean] estimates.
type LabelsMean struct {
	Classical Mean    // of only the judgements
	Powered   Mean    // of the judgements and the scores
	Weight    float64 // of the scores, on the scale of the judgements: 0 ignores them, 1 trusts them
	Judged    int     // items
	Rest      int
	Units     int // documents, or items, with a judgement
	// Effective is how many judgements would give the classical mean the variance of Powered:
	// Judged times the ratio of the two variances.
	Effective float64
	// Alike is the p-value of the hypothesis that the mean scores of the judged items and of the
	// rest differ by chance: a small one says that the judged items are no random draw.
	Alike float64
}

// Mean estimates the mean judgement of all items that might have been drawn, by prediction-powered
// inference (Angelopoulos et al., Science 2023) with a tuned weight (PPI++, arXiv 2311.01453):
//
//	mean(Human) - w·(mean(Metric) - mean(Rest))
//
// Whatever the metric is worth, this has no bias where the judged items are a random draw. The
// weight w gives the least variance. It is clipped to [0, 1] for scores that are scaled to the
// standard deviation of the judgements, so that it does not depend on the metric's unit.
//
// A variance is the sum of squares of what each document adds to the estimate, times G/(G-1) for
// the part of the judged items, of G documents, and for that of the rest, of theirs. Without
// documents each item is one: these are the usual variances, with n-1 below the line. Intervals
// take Student's t with G-1 degrees of freedom. A weight above 0 costs one more, as in any
// regression: t has G-2 then, and the standard error is multiplied by √((G-1)/(G-2)).
//
// The error says what is missing for an interval.
func (l *Labels) Mean(confidence float64) (LabelsMean, error) {
	switch {
	case len(l.Human) != len(l.Metric) || l.Unit != nil && (len(l.Unit) != len(l.Human) || len(l.RestUnit) != len(l.Rest)):
		return LabelsMean{}, fmt.Errorf("%d judgements with %d scores and %d units, and %d other scores with %d units", len(l.Human), len(l.Metric), len(l.Unit), len(l.Rest), len(l.RestUnit))
	case !(confidence > 0 && confidence < 1):
		return LabelsMean{}, fmt.Errorf("confidence %v is not between 0 and 1, such as 0.95", confidence)
	case len(l.Human) < 2:
		n := len(l.Human)
		return LabelsMean{Judged: n, Rest: len(l.Rest), Units: n, Classical: Mean{Value: average(l.Human)}}, errors.New("an interval needs two judgements or more")
	}
	m := l.mean(labelsRule{lost: 1, weight: math.NaN(), half: func(units int, tuned bool) float64 {
		freedom, factor := float64(units-1), 1.0
		if tuned {
			factor = math.Sqrt(freedom / (freedom - 1))
			freedom--
		}
		return factor * numeric.StudentQuantile((1-confidence)/2, freedom)
	}})
	if m.Units < 2 {
		return m, errors.New("an interval needs judgements of two documents or more")
	}
	return m, nil
}

// labelsRule is what the rule of Mean and ppi_py's differ in.
type labelsRule struct {
	lost   float64 // units that a mean costs, 1 or 0
	weight float64 // of the scores as they are; NaN tunes it
	raw    bool    // clip the weight of the scores as they are
	// half is half the width of an interval in standard errors, for so many units with a
	// judgement, where the weight is tuned or not.
	half func(units int, tuned bool) float64
}

func (l Labels) mean(r labelsRule) LabelsMean {
	out := LabelsMean{Judged: len(l.Human), Rest: len(l.Rest), Alike: 1}
	if l.Unit == nil {
		all := make([]int32, out.Judged+out.Rest)
		for i := range all {
			all[i] = int32(i)
		}
		l.Unit, l.RestUnit = all[:out.Judged], all[out.Judged:]
	}
	units := int(slices.Max(slices.Concat(l.Unit, l.RestUnit))) + 1
	human, judged := shares(l.Human, l.Unit, units, r.lost)
	metric, _ := shares(l.Metric, l.Unit, units, r.lost)
	rest, _ := shares(l.Rest, l.RestUnit, units, r.lost)
	out.Units = judged
	weight, scale := l.weight()
	switch {
	case !math.IsNaN(r.weight):
		weight = r.weight
	case r.raw:
		weight = min(max(weight, 0), 1)
	case judged < 3:
		weight = 0
	default:
		weight = min(max(weight, 0), scale)
	}
	if out.Weight = weight; scale > 0 {
		out.Weight /= scale
	}
	difference := average(l.Metric) - average(l.Rest)
	estimate := func(of, weight float64) Mean {
		var variance float64
		for u := range human {
			v := of*human[u] - weight*(metric[u]-rest[u])
			variance += v * v
		}
		m := Mean{Value: of*average(l.Human) - weight*difference, Error: math.Sqrt(variance)}
		half := m.Error * r.half(judged, weight > 0)
		m.Low, m.High = m.Value-half, m.Value+half
		return m
	}
	out.Classical, out.Powered = estimate(1, 0), estimate(1, weight)
	out.Effective = float64(out.Judged)
	if out.Powered.Error > 0 {
		ratio := out.Classical.Error / out.Powered.Error
		out.Effective *= ratio * ratio
	}
	if scores := estimate(0, 1); out.Rest > 0 && judged > 1 && scores.Error > 0 {
		out.Alike = 2 * numeric.StudentTail(math.Abs(difference)/scores.Error, float64(judged-1))
	}
	return out
}

// shares returns what each of some units adds to the mean of values, with the factor of the
// variance, and how many units have a value.
func shares(values []float64, unit []int32, units int, lost float64) (out []float64, n int) {
	out, seen, mean := make([]float64, units), make([]bool, units), average(values)
	for i, v := range values {
		out[unit[i]] += v - mean
		if !seen[unit[i]] {
			seen[unit[i]] = true
			n++
		}
	}
	factor := math.Sqrt(float64(n)/max(float64(n)-lost, 1)) / max(1, float64(len(values)))
	for u := range out {
		out[u] *= factor
	}
	return out, n
}

// weight estimates the weight of the scores as they are that gives the least variance, as PPI++
// does. scale is the weight that gives them the standard deviation of the judgements. Both are 0
// where scores cannot help.
func (l *Labels) weight() (tuned, scale float64) {
	n, human, metric := float64(len(l.Human)), average(l.Human), average(l.Metric)
	var covariance, humans, metrics float64
	for i, y := range l.Human {
		covariance += (y - human) * (l.Metric[i] - metric)
		humans += (y - human) * (y - human)
	}
	all := slices.Concat(l.Metric, l.Rest)
	mean := average(all)
	for _, f := range all {
		metrics += (f - mean) * (f - mean)
	}
	if metrics == 0 || len(l.Rest) == 0 {
		return 0, 0
	}
	metrics /= float64(len(all) - 1)
	return covariance / n / ((1 + n/float64(len(l.Rest))) * metrics), math.Sqrt(humans / (n - 1) / metrics)
}

// average is the mean; 0 of nothing.
func average(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / max(1, float64(len(x)))
}
