package significance

import (
	"context"
	"math"

	"github.com/refract-eval/refract/benchmarks/correlate"
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
	return upperTail(t, m-3)
}

// upperTail is the probability that Student's t with this many degrees of freedom exceeds
// t.
func upperTail(t, freedom float64) float64 {
	switch {
	case math.IsInf(t, 0):
		return (1 - math.Copysign(1, t)) / 2
	case t < 0:
		return 1 - upperTail(-t, freedom)
	}
	x, y := freedom/(freedom+t*t), t*t/(freedom+t*t)
	if x < (freedom+2)/(freedom+5) { // where the fraction converges
		return incompleteBeta(x, y, freedom/2, 0.5) / 2
	}
	return (1 - incompleteBeta(y, x, 0.5, freedom/2)) / 2
}

// incompleteBeta is the regularized incomplete beta function of x, which is 1-y, by its
// continued fraction, of which about the root of a+b terms matter.
func incompleteBeta(x, y, a, b float64) float64 {
	fraction := 1.0
	for i := 2000; i > 0; i-- {
		m := float64(i / 2)
		term := m * (b - m) / (a + 2*m - 1)
		if i%2 == 1 {
			term = -(a + m) * (a + b + m) / (a + 2*m + 1)
		}
		fraction = 1 + term*x/(a+2*m)/fraction
	}
	whole, _ := math.Lgamma(a + b)
	one, _ := math.Lgamma(a)
	other, _ := math.Lgamma(b)
	return math.Exp(a*math.Log(x)+b*math.Log(y)+whole-one-other) / a / fraction
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
