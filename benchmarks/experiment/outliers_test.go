package experiment

import (
	"math"
	"slices"
	"testing"
)

// By hand: the median of 1 2 3 4 100 is 3, the deviations from it are 2 1 0 1 97
// with median 1, so that a robust deviation is 1.483.
func TestDistances(t *testing.T) {
	got := distances([]float64{1, 100, 2, 4, 3})
	want := []float64{-2 / 1.483, 97 / 1.483, -1 / 1.483, 1 / 1.483, 0}
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
		t.Errorf("%v, want %v", got, want)
	}
	// Of an even number the median is the mean of the middle two: 3.5, with
	// deviations 2.5 1.5 0.5 0.5 1.5 2.5 of median 1.5.
	if got := distances([]float64{1, 2, 3, 4, 5, 6}); math.Abs(got[5]-2.5/(1.483*1.5)) > 1e-12 {
		t.Errorf("%v", got)
	}
	for _, few := range [][]float64{nil, {1, 2, 3, 900}, {1, 1, 1, 1, 900}} {
		if got := distances(few); got != nil {
			t.Errorf("%v: %v", few, got)
		}
	}
}

func TestFarOut(t *testing.T) {
	d := DatasetInfo{Outliers: []Outlier{{"a", "mqm", -3.14}, {"b", "mqm", 2.6}, {"a", "bleu single", 4}, {"a", "chrf", 5}, {"a", "ter", 6}}}
	const want = "outliers among systems, over 2.5 deviations (1.483·MAD) from the median: a (mqm -3.1, bleu single 4.0, chrf 5.0, 1 more); b (mqm 2.6)"
	if got := d.FarOut(); got != want {
		t.Errorf("%s", got)
	}
}
