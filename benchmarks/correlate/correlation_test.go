package correlate

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var nan = math.NaN()

func TestCorrelations(t *testing.T) {
	third := 1.0 / 3
	tests := []struct {
		name                       string
		x, y                       []float64
		kendall, spearman, pearson float64
	}{
		{"none", nil, nil, nan, nan, nan},
		{"one", []float64{1}, []float64{2}, nan, nan, nan},
		{"two, alike", []float64{1, 2}, []float64{-7, 0.1}, 1, 1, 1},
		{"two, opposed", []float64{1, 2}, []float64{3, 2.9}, -1, -1, -1},
		{"two, tied", []float64{1, 1}, []float64{3, 2}, nan, nan, nan},
		{"x constant", []float64{4, 4, 4}, []float64{1, 2, 3}, nan, nan, nan},
		{"y constant", []float64{1, 2, 3}, []float64{4, 4, 4}, nan, nan, nan},
		{"zeros of both signs are one value", []float64{0, math.Copysign(0, -1)}, []float64{1, 2}, nan, nan, nan},
		{"one swap", []float64{1, 2, 3}, []float64{1, 3, 2}, third, 0.5, 0.5},
		// 4 concordant, 0 discordant, one pair tied in each; Pearson: Σuv = 9/4,
		// Σu² = Σv² = 11/4.
		{"ties", []float64{1, 1, 2, 3}, []float64{1, 2, 3, 3}, 0.8, 8.0 / 9, 9.0 / 11},
		// Four pairs of six are tied in both.
		{"joint ties", []float64{0, 0, 1, 1}, []float64{5, 5, 6, 6}, 1, 1, 1},
		{"independent", []float64{0, 0, 1, 1}, []float64{0, 1, 0, 1}, 0, 0, 0},
		{"not a number", []float64{1, nan, 3}, []float64{1, 2, 3}, nan, nan, nan},
		{"not a number in y", []float64{1, 2, 3}, []float64{1, nan, 3}, nan, nan, nan},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, c := range []struct {
				name      string
				got, want float64
			}{
				{"kendall", Kendall(test.x, test.y), test.kendall},
				{"spearman", Spearman(test.x, test.y), test.spearman},
				{"pearson", Pearson(test.x, test.y), test.pearson},
			} {
				assert.True(t, near(c.got, c.want, 1e-15), "%s = %v, want %v", c.name, c.got, c.want)
			}
		})
	}
}

// Magnitudes at which sums or squares exceed the range of float64.
func TestPearsonExtremes(t *testing.T) {
	x := []float64{6, 5, -7, 3.5, 1}
	y := []float64{2, -1, 3, 0, -9}
	want := Pearson(x, y)
	for _, exponent := range []int{1021, 600, 400, -400, -600, -1000} {
		scaled := make([]float64, len(x))
		for i, v := range x {
			scaled[i] = math.Ldexp(v, exponent)
		}
		assert.Equal(t, want, Pearson(scaled, y), "with x times 2^%d", exponent)
		got := newPearsonRow(y, scaled, make([]int32, len(x))).weighted([]int32{1}, nil)
		assert.True(t, near(got, want, 1e-15), "weighted, with y times 2^%d: %v, want %v", exponent, got, want)
	}
	for _, exponent := range []int{400, 0, -400} {
		lastDigits := []float64{1, 1 + 0x1p-52, 1 + 0x3p-52}
		for i, v := range lastDigits {
			lastDigits[i] = math.Ldexp(v, exponent)
		}
		// The mean is 4/3 of the last digit, and rounds to one.
		got, want := Pearson(lastDigits, lastDigits), 1.0
		assert.True(t, near(got, want, 1e-15), "differences in the last digit at 2^%d: %v, want %v", exponent, got, want)
	}
	outlier := newPearsonRow([]float64{1e100, 1e-200, 3e-200, 2e-200}, []float64{0, 1, 2, 3}, []int32{0, 1, 1, 1})
	got := outlier.weighted([]int32{0, 1}, nil)
	assert.True(t, near(got, 0.5, 1e-15), "without the outlier: %v, want 0.5", got)
	smallest := math.SmallestNonzeroFloat64
	want = Pearson([]float64{0, 1, 3}, []float64{1, 2, 3})
	assert.Equal(t, want, Pearson([]float64{0, smallest, 3 * smallest}, []float64{1, 2, 3}), "of the smallest numbers")
}

func TestPearsonOfTwoIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		two := rapid.SliceOfNDistinct(rapid.Float64Range(-100, 100), 2, 2, rapid.ID)
		x, y := two.Draw(t, "x"), two.Draw(t, "y")
		want := float64(order(x[0], x[1]) * order(y[0], y[1]))
		if want == 0 { // zeros of both signs
			t.Skip("constant")
		}
		require.Equal(t, want, Pearson(x, y))
		require.Equal(t, want, newPearsonRow(x, y, []int32{0, 0}).weighted([]int32{1}, nil), "weighted")
	})
}

func order(a, b float64) int64 {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// drawScores draws n scores: continuous ones, or few values with many ties.
func drawScores(t *rapid.T, n int, label string) []float64 {
	score := rapid.Float64Range(-100, 100)
	if rapid.Bool().Draw(t, label+" has ties") {
		score = rapid.Map(rapid.IntRange(0, rapid.IntRange(0, 6).Draw(t, label+" levels")),
			func(v int) float64 { return float64(v) / 10 })
	}
	return rapid.SliceOfN(score, n, n).Draw(t, label)
}

func drawVectors(t *rapid.T) (x, y []float64) {
	n := rapid.IntRange(0, 40).Draw(t, "n")
	return drawScores(t, n, "x"), drawScores(t, n, "y")
}

// naiveRanks counts the smaller and the equal elements for each element.
func naiveRanks(x []float64) []float64 {
	ranks := make([]float64, len(x))
	for i, v := range x {
		below, equal := 0, 0
		for _, u := range x {
			switch order(u, v) {
			case -1:
				below++
			case 0:
				equal++
			}
		}
		ranks[i] = float64(below) + float64(equal+1)/2
	}
	return ranks
}

func TestSpearmanIsPearsonOfRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := drawVectors(t)
		got, want := Spearman(x, y), Pearson(naiveRanks(x), naiveRanks(y))
		require.True(t, near(got, want, 1e-12), "%v, want %v", got, want)
	})
}

func TestCorrelationProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := drawVectors(t)
		keptX, keptY := slices.Clone(x), slices.Clone(y)
		undefined := len(x) < 2 || isConstant(x) || isConstant(y)
		for _, s := range []Statistic{StatKendall, StatSpearman, StatPearson} {
			r := statistics[s].vector(x, y)
			require.Equal(t, undefined, math.IsNaN(r), "%v = %v", s, r)
			if r < -1 || r > 1 {
				t.Fatalf("%v = %v is out of bounds", s, r)
			}
			got := statistics[s].vector(y, x)
			require.True(t, near(got, r, 1e-14), "%v = %v, and %v with the vectors exchanged", s, r, got)
			got = statistics[s].vector(negated(x), y)
			require.True(t, near(got, -r, 1e-14), "%v = %v, and %v with x negated", s, r, got)
			if got := statistics[s].vector(x, x); !undefined && !near(got, 1, 1e-14) {
				t.Fatalf("%v of x with itself = %v", s, got)
			}
		}
		// Monotone maps change no rank, and so not a single bit. The cube is applied to ranks to
		// keep it strictly monotone in float64.
		up := naiveRanks(x)
		for i, v := range up {
			up[i] = v*v*v - 5
		}
		if a, b := Kendall(up, y), Kendall(x, y); a != b && !undefined {
			t.Fatalf("kendall %v, after a monotone map %v", b, a)
		}
		if a, b := Spearman(up, y), Spearman(x, y); a != b && !undefined {
			t.Fatalf("spearman %v, after a monotone map %v", b, a)
		}
		require.True(t, slices.Equal(x, keptX) && slices.Equal(y, keptY), "the input was changed")
	})
}

func negated(x []float64) []float64 {
	n := make([]float64, len(x))
	for i, v := range x {
		n[i] = -v
	}
	return n
}
