package significance

import (
	"fmt"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// Options are the settings of the test PERM-BOTH.
type Options struct {
	Resamples int // how many, 1 to [correlate.MaxResamples]; 1,000 is usual
	// Block is the number of resamples after which the test looks
	// whether the rest is needed: it ends where the p-value is below 0.02 or
	// above 0.5. 0 means that all are drawn; 100 is usual.
	Block int
	Seed  uint64
	Draws bool // keep what the test draws in [Result]
}

// Early stopping ends where the p-value of a whole block is outside these.
const (
	surelySmall = 0.02
	surelyLarge = 0.5
)

func (o Options) check() error {
	if o.Resamples < 1 || o.Resamples > correlate.MaxResamples {
		return fmt.Errorf("%d resamples: want 1 to %d", o.Resamples, correlate.MaxResamples)
	}
	if o.Block < 0 {
		return fmt.Errorf("blocks of %d resamples: want 0 or more", o.Block)
	}
	return nil
}

// Result is what a test says.
type Result struct {
	Delta float64 // measure of the first table less that of the second
	// P is the one-sided p-value, in [0, 1]; NaN if undefined. That of n resamples
	// is at least 1/(n+1), what was seen being one of them.
	P         float64
	Resamples int // drawn
	Cells     int // cells with all three scores, which the test stands on
	// Draws are the differences of the resamples, where
	// Options.Draws asks for them.
	Draws []float64
}
