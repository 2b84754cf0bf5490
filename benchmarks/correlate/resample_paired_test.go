package correlate

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Tables with pairs in the same segments are resampled alike: of a table with
// itself nothing differs, and the values of one are those of the other after
// a change that keeps the ranks.
func TestResampleIsPaired(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawTable(t)
		q := &Pairs{Segments: p.Segments, Systems: p.Systems, Gold: p.Gold, GoldOK: p.GoldOK, MetricOK: p.MetricOK}
		for _, v := range p.Metric {
			q.Metric = append(q.Metric, 2*v) // exact
		}
		o := BootstrapOptions{Resamples: 20, Confidence: 0.9, Seed: 5}
		boot := NewBootstrap(o)
		a, err := boot.Resample(t.Context(), Measure{}, p)
		if err != nil {
			t.Fatal(err)
		}
		b, err := boot.Resample(t.Context(), Measure{}, q)
		if err != nil {
			t.Fatal(err)
		}
		for r := range a {
			if a[r] != b[r] && !(math.IsNaN(a[r]) && math.IsNaN(b[r])) {
				t.Fatalf("resample %d: %v and %v", r, a[r], b[r])
			}
		}
		iv, err := boot.Interval(t.Context(), Measure{}, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := Percentiles(a, o.Confidence); got != iv && !math.IsNaN(iv.Low) {
			t.Fatalf("percentiles %+v, the interval is %+v", got, iv)
		}
	})
}
