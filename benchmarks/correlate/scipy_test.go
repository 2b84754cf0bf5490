package correlate

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// near reports whether two numbers are equal within tolerance; NaN equals only NaN.
func near(a, b, tolerance float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.IsNaN(a) && math.IsNaN(b)
	}
	return math.Abs(a-b) <= tolerance
}

// undefined is a JSON number, or NaN for null.
type undefined float64

func (u *undefined) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*u = undefined(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(u))
}

// TestSciPyVectors checks the file that benchmarks/peers/scipy_check.py wrote.
func TestSciPyVectors(t *testing.T) {
	const tolerance = 1e-12
	name := os.Getenv("REFRACT_SCIPY_VECTORS")
	if name == "" {
		t.Skip("REFRACT_SCIPY_VECTORS is not set: run benchmarks/peers/scipy_check.py and name its output there")
	}
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	var document struct {
		SciPy   string
		Vectors []struct {
			Name                       string
			X, Y                       []float64
			Kendall, Spearman, Pearson undefined
		}
		Quantiles []struct {
			Values  []float64
			Q, Want float64
		}
		Tables []struct {
			Name              string
			Segments, Systems int
			Gold              []*float64
			Metric            []float64
			Expected          []struct {
				Statistic, Group string
				Value            undefined
				Groups           int
			}
		}
	}
	require.NoError(t, json.Unmarshal(b, &document), "%s", name)
	if len(document.Vectors) == 0 || len(document.Quantiles) == 0 {
		t.Fatalf("%s holds no vectors or no quantiles", name)
	}

	worst := map[Statistic]float64{}
	compare := func(s Statistic, where string, got, want float64) {
		t.Helper()
		assert.True(t, near(got, want, tolerance), "%v of %s = %.17g, SciPy: %.17g", s, where, got, want)
		if d := math.Abs(got - want); d > worst[s] {
			worst[s] = d
		}
	}
	for _, c := range document.Vectors {
		compare(StatKendall, c.Name, Kendall(c.X, c.Y), float64(c.Kendall))
		compare(StatSpearman, c.Name, Spearman(c.X, c.Y), float64(c.Spearman))
		compare(StatPearson, c.Name, Pearson(c.X, c.Y), float64(c.Pearson))
	}
	for _, c := range document.Quantiles {
		got := quantile(c.Values, c.Q)
		assert.True(t, near(got, c.Want, tolerance), "quantile %v of %d values = %v, numpy: %v", c.Q, len(c.Values), got, c.Want)
	}
	for _, c := range document.Tables {
		p := &Pairs{Segments: c.Segments, Systems: c.Systems, Metric: c.Metric}
		for _, g := range c.Gold {
			p.GoldOK = append(p.GoldOK, g != nil)
			if g == nil {
				g = new(float64)
			}
			p.Gold = append(p.Gold, *g)
		}
		for _, e := range c.Expected {
			s, err := ParseStatistic(e.Statistic)
			require.NoError(t, err)
			g, err := ParseGrouping(e.Group)
			require.NoError(t, err)
			res, err := Measure{Statistic: s, Grouping: g}.Of(p)
			require.NoError(t, err, "%s", c.Name)
			compare(s, c.Name+" by "+e.Group, res.Value, float64(e.Value))
			assert.Equal(t, e.Groups, res.Groups, "%v of %s by %s", s, c.Name, e.Group)
		}
	}
	t.Logf("SciPy %s: %d pairs of vectors, %d quantiles, %d tables; largest differences: %v",
		document.SciPy, len(document.Vectors), len(document.Quantiles), len(document.Tables), worst)
}
