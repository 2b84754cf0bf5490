package analysis

import (
	"math"
	"testing"
)

// TestCountSpans has what the shared task's functions give (wmt-conference/wmt25-mteval
// d1f6ab9, scoring_esa.py).
func TestCountSpans(t *testing.T) {
	marked := func(s Severity, from, to int) Error {
		return Error{Severity: s, Place: InHypothesis, Span: Span{from, to}}
	}
	var sum SpanCounts
	for _, c := range []struct {
		length        int
		people, judge []Error
		f1            float64
	}{
		{20, []Error{marked(Major, 0, 5), marked(Minor, 3, 8)}, []Error{marked(Minor, 0, 6), marked(Critical, 12, 16)}, 0.45},
		{7, nil, []Error{{Severity: Major, Place: InSource}, {Place: InHypothesis, Span: Span{0, 3}}}, 1},
		{10, nil, []Error{marked(Minor, 2, 6)}, 0},
	} {
		n := CountSpans(c.length, c.people, c.judge)
		if got := n.F1(); math.Abs(got-c.f1) > 1e-15 {
			t.Errorf("F1 of %v against %v: %v, want %v", c.judge, c.people, got, c.f1)
		}
		sum = SpanCounts{sum.Agreed + n.Agreed, sum.Marked + n.Marked, sum.Claimed + n.Claimed}
	}
	if want := (SpanCounts{4.5, 10, 14}); sum != want || sum.Precision() != 0.32142857142857145 || sum.Recall() != 0.45 || sum.F1() != 0.375 {
		t.Errorf("together %v: precision %v, recall %v, F1 %v", sum, sum.Precision(), sum.Recall(), sum.F1())
	}
}
