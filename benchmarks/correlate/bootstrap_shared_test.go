package correlate

import (
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"
)

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
