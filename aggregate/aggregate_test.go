package aggregate

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/numeric"
)

func apply(t *testing.T, spec string, scores []float64, ok []bool, higher bool, p Policy) (Result, error) {
	t.Helper()
	a, err := Parse(spec)
	require.NoError(t, err)
	return a.Apply(scores, ok, higher, p, nil)
}

func TestApply(t *testing.T) {
	s := []float64{2, 8, 4, 1}
	for _, tt := range []struct {
		spec   string
		higher bool
		want   float64
	}{
		{"single", true, 2},
		{"max", true, 8},
		{"max", false, 8}, // literally the largest, whatever the direction
		{"mean", true, 3.75},
		{"min", true, 1},
		{"median", true, 3},
		{"best", true, 8},
		{"best", false, 1},
		{"best:k=2", true, 6},
		{"best:2", false, 1.5},
		{"best:k=9", true, 3.75},
		{"power:p=1", true, 3.75},
		{"power", true, math.Sqrt((4.0 + 64 + 16 + 1) / 4)},
		{"power:p=-1", true, 4 / (0.5 + 0.125 + 0.25 + 1)},
		{"power:0", true, math.Pow(64, 0.25)},
		{"softmax:t=0.01", true, 8},
		{"softmax:t=0.01", false, 1},
		{"softmax:t=1e9", true, 3.75},
	} {
		got, err := apply(t, tt.spec, s, nil, tt.higher, Exclude)
		if err != nil || !got.OK || math.Abs(got.Value-tt.want) > 1e-8 {
			t.Errorf("%s (higher %v) = %+v, %v, want %v", tt.spec, tt.higher, got, err, tt.want)
		}
	}
	assert.True(t, slices.Equal(s, []float64{2, 8, 4, 1}), "Apply changed its input: %v", s)
}

func TestMissing(t *testing.T) {
	s, ok := []float64{99, 4, 2}, []bool{false, true, true}
	for _, tt := range []struct {
		spec   string
		policy Policy
		want   Result
		err    error
	}{
		{"max", Exclude, Result{4, true, 2, 1}, nil},
		{"mean", Exclude, Result{3, true, 2, 1}, nil},
		{"max", Propagate, Result{0, false, 2, 1}, nil},
		{"max", Fail, Result{0, false, 2, 1}, ErrMissing},
		// The first reference is missing; the second is not the first.
		{"single", Exclude, Result{0, false, 0, 1}, nil},
	} {
		got, err := apply(t, tt.spec, s, ok, true, tt.policy)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s under %v = %+v, %v, want %+v, %v", tt.spec, tt.policy, got, err, tt.want, tt.err)
		}
	}
	got, _ := apply(t, "mean", nil, nil, true, Exclude)
	assert.False(t, got.OK, "mean of nothing = %+v", got)
}

func TestUndefined(t *testing.T) {
	_, err := apply(t, "power", []float64{1, -2}, nil, true, Exclude)
	assert.ErrorContains(t, err, "-2", "power mean of a negative score")
	_, err = apply(t, "native", []float64{1}, nil, true, Exclude)
	assert.Error(t, err, "native reduced scores")
}

func TestParseErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"maxx":          `did you mean "max"?`,
		"max:3":         "takes no parameter",
		"best:k=0":      "whole number",
		"best:k=1.5":    "whole number",
		"best:n=1":      `unknown parameter "n"`,
		"softmax:t=0":   "positive",
		"softmax:t=x":   "not a number",
		"power:p=NaN":   "finite",
		"softmax:t=NaN": "positive",
		"":              "unknown aggregator",
	} {
		_, err := Parse(spec)
		var se *SpecError
		if !errors.As(err, &se) || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %q", spec, err, want)
		}
	}
	for _, d := range Docs() {
		a, err := Parse(d.Spec)
		if err != nil || a.Name() != d.Spec || d.Text == "" {
			t.Errorf("documented spec %q: %q, %v", d.Spec, a.Name(), err)
		}
	}
}

// Every reduction lies between the least and the greatest score, does not depend on
// the order of the references (except single), and shifts and scales with the scores.
func TestReductionsAreMeans(t *testing.T) {
	specs := []string{"single", "max", "mean", "min", "median", "best:k=3", "softmax:t=2", "softmax:t=0.1", "power:p=3", "power:p=-2", "power:p=0"}
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.SliceOfN(rapid.Float64Range(0, 100), 1, 12).Draw(rt, "scores")
		higher := rapid.Bool().Draw(rt, "higher")
		spec := rapid.SampledFrom(specs).Draw(rt, "spec")
		a, err := Parse(spec)
		require.NoError(rt, err)
		got, err := a.Apply(s, nil, higher, Exclude, nil)
		require.NoError(rt, err)
		const slack = 1e-9
		if got.Value < slices.Min(s)-slack || got.Value > slices.Max(s)+slack {
			rt.Fatalf("%s of %v = %v", spec, s, got.Value)
		}
		if !a.Single() {
			back := slices.Clone(s)
			slices.Reverse(back)
			other, _ := a.Apply(back, nil, higher, Exclude, nil)
			require.Equal(rt, got.Value, other.Value, "%s of %v", spec, s)
		}
	})
}

// Means equal those of exact rational arithmetic, rounded once, so equal means are
// tied whatever the number and order of the scores.
func TestMeansAreRational(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, 100), rapid.Map(rapid.IntRange(0, 9), func(i int) float64 { return float64(i) / 10 })), 1, 12).Draw(rt, "scores")
		sorted := slices.Sorted(slices.Values(s))
		best := len(s) - min(3, len(s))
		for spec, of := range map[string][]float64{"mean": s, "best:k=3": sorted[best:], "median": sorted[(len(s)-1)/2 : len(s)/2+1]} {
			sum := new(big.Rat)
			for _, v := range of {
				sum.Add(sum, new(big.Rat).SetFloat64(v))
			}
			want, _ := sum.Quo(sum, big.NewRat(int64(len(of)), 1)).Float64()
			if got, err := Must(spec).Apply(s, nil, true, Exclude, nil); err != nil || got.Value != want {
				rt.Fatalf("%s of %v = %v, %v, want %v", spec, s, got.Value, err, want)
			}
		}
	})
	a, b := numeric.Mean([]float64{0.1, 0.2, 0.3}), numeric.Mean([]float64{0.1, 0.2, 0.3, 0.1, 0.2, 0.3})
	assert.Equal(t, b, a, "the same scores twice have another mean")
}

// Default aggregators follow the metric's direction; those that a user names do not.
func TestDefaultsFollowTheDirection(t *testing.T) {
	for _, a := range Default("single", "max", "mean") {
		low := a.For(false)
		if a.For(true).Name() != a.Name() || (low.Name() == "min") != (a.Name() == "max") || low.TakesWorst(false) {
			t.Errorf("%s is %s for a higher score, %s for a lower one", a.Name(), a.For(true).Name(), low.Name())
		}
	}
	if a := Must("max"); a.For(false).Name() != "max" || !a.For(false).TakesWorst(false) || a.TakesWorst(true) {
		t.Errorf("max that was asked for is %s", a.For(false).Name())
	}
}
