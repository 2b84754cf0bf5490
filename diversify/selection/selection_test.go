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

func checkOrder(t *rapid.T, order []int, n int) {
	sorted := slices.Sorted(slices.Values(order))
	for i, c := range sorted {
		if c != i {
			t.Fatalf("%v is no order of %d candidates", order, n)
		}
	}
	if len(order) != n {
		t.Fatalf("%v has not %d candidates", order, n)
	}
}

// Each step of facility chooses a candidate that adds most.
func TestFacilitySteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, given := drawMatrix(t, 24)
		order := facility(m, given)
		checkOrder(t, order, len(m)-given)
		var set uint
		for step, c := range order {
			for _, other := range order[step:] {
				if got, best := covered(m, given, set|1<<c), covered(m, given, set|1<<other); got < best-1e-9 {
					t.Fatalf("step %d takes %d, which covers %v, though %d covers %v", step, c, got, other, best)
				}
			}
			set |= 1 << c
		}
	})
}

// covered returns the value of a set of candidates together with the given texts, by the
// definition.
func covered(m Matrix, given int, set uint) float64 {
	var sum float64
	for i := given; i < len(m); i++ {
		var nearest float64
		for j := range len(m) {
			if j < given || set>>(j-given)&1 == 1 {
				nearest = max(nearest, m[i][j])
			}
		}
		sum += nearest
	}
	return sum
}

// Each step of farthest chooses the first of the candidates farthest from all chosen ones.
func TestFarthestSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, given := drawMatrix(t, 24)
		order := farthest(m, given)
		checkOrder(t, order, len(m)-given)
		nearest := func(c int, before []int) float64 {
			s := math.Inf(-1)
			for g := range given {
				s = max(s, m[c+given][g])
			}
			for _, b := range before {
				s = max(s, m[c+given][b+given])
			}
			return s
		}
		for step, c := range order {
			for other := range len(m) - given {
				if slices.Contains(order[:step], other) {
					continue
				}
				a, b := nearest(c, order[:step]), nearest(other, order[:step])
				if b < a || b == a && other < c {
					t.Fatalf("step %d takes %d at similarity %v, though %d is at %v", step, c, a, other, b)
				}
			}
		}
	})
}

func TestParseMethod(t *testing.T) {
	for _, name := range MethodNames() {
		m, err := ParseMethod(name)
		if err != nil || m.String() != name {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	_, err := ParseMethod("furthest")
	assert.ErrorContains(t, err, `did you mean "farthest"`)
}
