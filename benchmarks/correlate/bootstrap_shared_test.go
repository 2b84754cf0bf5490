package correlate

import (
	"math"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"
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
		o := BootstrapOptions{Resamples: 20, Seed: 5}
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
	})
}

// A Bootstrap is shared by goroutines, and draws alike whether it keeps the
// draws of a pool, has dropped them, or never kept them.
func TestBootstrapShared(t *testing.T) {
	boot := NewBootstrap(BootstrapOptions{Resamples: 60, Seed: 2})
	var tables []*Pairs
	var want [][]float64
	for i := range 2 * keptPools {
		p := simulated(20+i, 3) // each has a pool of its own
		values, err := NewBootstrap(boot.BootstrapOptions).Resample(t.Context(), Measure{}, p)
		if err != nil {
			t.Fatal(err)
		}
		tables, want = append(tables, p), append(want, values)
	}
	var group errgroup.Group
	for range 3 {
		for i, p := range tables {
			group.Go(func() error {
				got, err := boot.Resample(t.Context(), Measure{}, p)
				if err == nil && !slices.Equal(got, want[i]) {
					t.Errorf("table %d: other values", i)
				}
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(boot.drawn) != keptPools {
		t.Errorf("%d pools are kept, want %d", len(boot.drawn), keptPools)
	}
	kept := boot.drawn[0]
	fresh := draws{seed: kept.seed, pool: kept.pool, units: kept.units}
	for i, weights := range fresh.weights(10, 20) {
		if !slices.Equal(weights, kept.kept[10+i]) {
			t.Errorf("resample %d: other draws", 10+i)
		}
	}
}
