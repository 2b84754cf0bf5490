package significance

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// williamsP returns the one-sided p-value of Williams' test (Williams, 1959;
// Graham and Baldwin, 2014, "Testing for Significance of Increased Correlation
// with Human Judgment") that r1 is not larger than r2, where r1 and r2 are the
// correlations of two metrics with the same n gold scores, and r12 is that of
// the metrics with each other. It is NaN for fewer than four scores, and where
// the correlations leave nothing to test.
func williamsP(r1, r2, r12 float64, n int) float64 {
	if n < 4 {
		return math.NaN()
	}
	m := float64(n)
	k := 1 - r1*r1 - r2*r2 - r12*r12 + 2*r1*r2*r12
	mean := (r1 + r2) / 2
	t := (r1 - r2) * math.Sqrt((m-1)*(1+r12)) /
		math.Sqrt(2*(m-1)/(m-3)*k+mean*mean*math.Pow(1-r12, 3))
	return upperTail(t, m-3)
}

// upperTail is the probability that Student's t with that many degrees of
// freedom is larger than t.
func upperTail(t, freedom float64) float64 {
	switch {
	case math.IsNaN(t):
		return t
	case math.IsInf(t, 0):
		return (1 - math.Copysign(1, t)) / 2
	}
	tail := mathext.RegIncBeta(freedom/2, 0.5, freedom/(freedom+t*t)) / 2
	if t < 0 {
		return 1 - tail
	}
	return tail
}

func williams(_ context.Context, t paired) (Result, error) {
	x, y := t.Rows(t.a), t.Rows(t.b)
	between := []correlate.Row{{Gold: x[0].Metric, Metric: y[0].Metric}}
	r1, r2, r12 := t.Over(x).Value, t.Over(y).Value, t.Over(between).Value
	return Result{Delta: r1 - r2, P: williamsP(r1, r2, r12, len(x[0].Gold))}, nil
}
