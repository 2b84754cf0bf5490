package significance

import (
	"context"
	"math"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/numeric"
)

// williamsP returns the one-sided p-value of Williams' test (Williams, 1959; Graham and
// Baldwin, 2014, "Testing for Significance of Increased Correlation with Human Judgment")
// of the hypothesis that r1 is not larger than r2. r1 and r2 are the correlations of two
// metrics with the same n gold scores, and r12 is the correlation between the metrics. It
// is NaN for fewer than four scores, and if the correlations leave nothing to test.
func williamsP(r1, r2, r12 float64, n int) float64 {
	if n < 4 {
		return math.NaN()
	}
	m := float64(n)
	k := 1 - r1*r1 - r2*r2 - r12*r12 + 2*r1*r2*r12
	mean := (r1 + r2) / 2
	t := (r1 - r2) * math.Sqrt((m-1)*(1+r12)) /
		math.Sqrt(2*(m-1)/(m-3)*k+mean*mean*math.Pow(1-r12, 3))
	return numeric.StudentTail(t, m-3)
}

func williams(_ context.Context, t paired) (Result, error) {
	x, y := t.Rows(t.a), t.Rows(t.b)
	between := []correlate.Row{{Gold: x[0].Metric, Metric: y[0].Metric}}
	r1, r2, r12 := t.Over(x).Value, t.Over(y).Value, t.Over(between).Value
	p := williamsP(r1, r2, r12, len(x[0].Gold))
	if !t.OneSided {
		p = 2 * min(p, 1-p)
	}
	return Result{Delta: r1 - r2, P: p}, nil
}
