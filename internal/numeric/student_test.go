package numeric

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Values of SciPy's stats.t.isf.
func TestQuantile(t *testing.T) {
	for _, c := range []struct{ tail, freedom, want float64 }{
		{0.025, 1, 12.706204736174705}, {0.0005, 1, 636.6192487686544}, {0.025, 2, 4.302652729749462}, {0.05, 4.5, 2.065575888878525},
		{0.025, 9, 2.262157162854099}, {0.025, 27, 2.0518305164802833}, {0.0001, 27, 4.298696299745362}, {0.5, 7, 0}, {0.025, 1e6, 1.9599663568141072},
	} {
		if got := StudentQuantile(c.tail, c.freedom); math.Abs(got-c.want) > 1e-9*(1+c.want) {
			t.Errorf("%v of %v: %.12g, want %.12g", c.tail, c.freedom, got, c.want)
		}
	}
}

func TestExpandAndShrink(t *testing.T) {
	if got := ExpandTail(0.025, 28); math.Abs(got-0.01833218174855264) > 1e-12 { // by SciPy
		t.Error(got)
	}
	rapid.Check(t, func(t *rapid.T) {
		// A share under 1e-7 would lose digits at the other side, where it is taken from 1.
		tail, units := rapid.Float64Range(0.01, 0.5).Draw(t, "tail"), rapid.Float64Range(5, 1e5).Draw(t, "units")
		share := ExpandTail(tail, units)
		if back := ShrinkTail(share, units); share > tail || math.Abs(back-tail) > 1e-9 {
			t.Fatalf("%v of %v units becomes %v, and again %v", tail, units, share, back)
		}
		if other := ShrinkTail(1-share, units); math.Abs(other-(1-tail)) > 1e-9 {
			t.Fatalf("the other side: %v, want %v", other, 1-tail)
		}
	})
}
