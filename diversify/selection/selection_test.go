package selection

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// drawMatrix draws a matrix with many ties for at most most texts.
func drawMatrix(t *rapid.T, most int) (m Matrix, given int) {
	n := rapid.IntRange(0, most).Draw(t, "texts")
	given = rapid.IntRange(0, min(n, 3)).Draw(t, "given")
	values := rapid.SliceOfN(rapid.OneOf(
		rapid.Float64Range(0, 1),
		rapid.Map(rapid.IntRange(0, 4), func(i int) float64 { return float64(i) / 4 }),
	), n*n, n*n).Draw(t, "similarities")
	m = NewMatrix(n, func(i, j int) float64 { return values[i*n+j] })
	return m, given
}

// By the definitions, each step of an order takes a candidate that is worth most, with farthest the
// first of them.
func TestSteps(t *testing.T) {
	for name, method := range map[string]struct {
		order func(Matrix, int) []int
		worth func(m Matrix, given int, chosen []int, c int) float64
		slack float64 // of rounding
	}{
		"farthest": {farthest, func(m Matrix, _ int, chosen []int, c int) float64 { return -nearest(m, chosen, c, math.Inf(-1)) }, 0},
		"facility": {facility, func(m Matrix, given int, chosen []int, c int) (sum float64) {
			for i := given; i < len(m); i++ {
				sum += nearest(m, append(chosen, c), i, 0)
			}
			return sum
		}, 1e-9},
	} {
		rapid.Check(t, func(t *rapid.T) {
			m, given := drawMatrix(t, 24)
			var chosen, all []int
			for i := range m {
				if all = append(all, i); i < given {
					chosen = append(chosen, i)
				}
			}
			for step, c := range method.order(m, given) {
				c += given
				got := method.worth(m, given, slices.Clip(chosen), c)
				for _, other := range all[given:] {
					worth := method.worth(m, given, slices.Clip(chosen), other)
					if !slices.Contains(chosen, other) && (worth > got+method.slack || worth == got && other < c && method.slack == 0) {
						t.Fatalf("%s: step %d takes %d, which is worth %v, though %d is worth %v", name, step, c, got, other, worth)
					}
				}
				chosen = append(chosen, c)
			}
			if slices.Sort(chosen); !slices.Equal(chosen, all) {
				t.Fatalf("%s: %v is no order of %d candidates", name, chosen, len(m)-given)
			}
		})
	}
}

// nearest returns the similarity of a text to the nearest of others, at least none.
func nearest(m Matrix, others []int, c int, none float64) float64 {
	for _, o := range others {
		none = max(none, m[c][o])
	}
	return none
}

func TestParseMethod(t *testing.T) {
	for _, name := range MethodNames() {
		m, err := ParseMethod(name)
		assert.True(t, err == nil && m.String() == name, "%s: %v, %v", name, m, err)
	}
	_, err := ParseMethod("furthest")
	assert.ErrorContains(t, err, `did you mean "farthest"`)
}
