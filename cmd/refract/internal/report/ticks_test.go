package report_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
)

// Numbers of a small range have more decimals.
func TestDecimals(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      int
	}{{0, 100, 1}, {20, 30, 2}, {-25, 0, 1}, {0, 1, 3}, {0.93, 0.96, 4}, {0.5, 0.5, 1}, {0, 1e-9, 6}, {0, math.Inf(1), 1}, {math.Inf(1), math.Inf(-1), 1}} {
		assert.Equal(t, c.want, report.Decimals(c.low, c.high, 1), "%v to %v", c.low, c.high)
	}
	assert.Equal(t, 2, report.Decimals(0, 100, 2))
}

// Ticks are few, round, in order and within the range.
func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e6, 1e6).Draw(t, "low")
		high := low + rapid.Float64Range(1e-3, 1e6).Draw(t, "width")
		ticks, digits := report.Ticks(low, high)
		if len(ticks) < 2 || len(ticks) > 11 || digits < 0 || digits > 4 {
			t.Fatalf("%v to %v: %v, %d digits", low, high, ticks, digits)
		}
		for i, v := range ticks {
			scaled := v * math.Pow(10, float64(digits))
			if v < low-1e-9*math.Abs(low) || v > high+1e-9*math.Abs(high) || i > 0 && v <= ticks[i-1] || math.Abs(scaled-math.Round(scaled)) > 1e-6*max(1, math.Abs(scaled)) {
				t.Fatalf("%v to %v: %v, %d digits", low, high, ticks, digits)
			}
		}
	})
	for _, none := range [][2]float64{{1, 1}, {2, 1}, {0, math.Inf(1)}, {math.NaN(), 1}} {
		ticks, _ := report.Ticks(none[0], none[1])
		assert.Nil(t, ticks, "%v: %v", none, ticks)
	}
}
