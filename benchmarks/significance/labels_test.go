package significance

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/numeric"
)

var (
	sixOfSixteen = Labels{Human: []float64{3, 5, 2, 4, 6, 1}, Metric: []float64{2.5, 4.5, 3, 4, 5, 2}, Rest: []float64{3, 3.5, 2, 4.5, 5, 1.5, 4, 2.5, 3.5, 6}}
	opposite     = Labels{Human: []float64{1, 0, 1, 1, 0, 1}, Metric: []float64{.2, .9, .4, .3, .6, .5}, Rest: []float64{.1, .8, .5, .4, .7, .6, .3, .9, .2, .5}}
)

// ppiInterval is an interval of ppi_py's ppi_mean_ci.
type ppiInterval struct {
	Human, Metric, Rest          []float64
	Confidence, Value, Low, High float64
	Weight                       *float64 // nil tunes it
}

// TestLikePPIPy holds the figures of ppi_py 0.2.3, by its rule, and those of a file of
// benchmarks/peers/ppi_check.py that REFRACT_PPI_VECTORS names.
func TestLikePPIPy(t *testing.T) {
	same := func(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance*(1+math.Abs(want)) }
	rule := func(c ppiInterval) labelsRule {
		r := labelsRule{raw: true, weight: math.NaN(), half: func(int, bool) float64 { return numeric.NormalQuantile((1 - c.Confidence) / 2) }}
		if c.Weight != nil {
			r.weight = *c.Weight
		}
		return r
	}
	of := func(l Labels, confidence float64, weight *float64, value, low, high float64) ppiInterval {
		return ppiInterval{l.Human, l.Metric, l.Rest, confidence, value, low, high, weight}
	}
	overlapping := sixOfSixteen // the trap: judged items passed as the rest, too
	overlapping.Rest = slices.Concat(overlapping.Metric, overlapping.Rest)
	none, whole := 0.0, 1.0
	cases := []ppiInterval{
		of(sixOfSixteen, .9, nil, 3.5338491295938104, 2.6963251736795146, 4.3713730855081065),
		of(sixOfSixteen, .95, nil, 3.5338491295938104, 2.5358777825482526, 4.531820476639368),
		of(sixOfSixteen, .9, &whole, 3.55, 2.696144738908357, 4.403855261091643),
		of(sixOfSixteen, .9, &none, 3.5, 2.3531806006917586, 4.646819399308241),
		of(overlapping, .9, nil, 3.5267369952710075, 2.793612078358757, 4.259861912183258),
		of(opposite, .9, nil, 0.6666666666666666, 0.35011443856734503, 0.9832188947659882),
		of(opposite, .9, &whole, 0.6833333333333333, 0.21453134636154686, 1.15213532030512),
	}
	if name := os.Getenv("REFRACT_PPI_VECTORS"); name != "" {
		var more []ppiInterval
		text, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(text, &more)
		}
		require.True(t, err == nil && len(more) != 0, "%d intervals: %v", len(more), err)
		cases = append(cases, more...)
	}
	for i, c := range cases {
		l := Labels{Human: c.Human, Metric: c.Metric, Rest: c.Rest}
		m := l.mean(rule(c)).Powered
		if !same(m.Value, c.Value, 1e-12) || !same(m.Low, c.Low, 1e-12) || !same(m.High, c.High, 1e-12) {
			t.Errorf("case %d: %.17g [%.17g, %.17g], want %.17g [%.17g, %.17g]", i, m.Value, m.Low, m.High, c.Value, c.Low, c.High)
		}
	}
	m := sixOfSixteen.mean(rule(cases[0]))
	weight, _ := sixOfSixteen.weight()
	below, _ := opposite.weight()
	if !same(m.Effective, 11.249852689469401, 1e-14) || !same(m.Powered.Error, 0.5091784108878676, 1e-14) || !same(weight, 0.6769825918762088, 1e-14) || !same(below, -0.9163802978235965, 1e-14) {
		t.Errorf("%+v, weights %.17g and %.17g", m, weight, below)
	}
	// The difference estimator of surveys is the same number: mean(Y) + b·(mean of all F - mean of
	// the judged F), with variance (1 - n/M)·Var(Y - b·F)/n for the mean of exactly these M items.
	n, all := 6.0, 16.0
	b := weight * (1 + n/(all-n))
	residuals := make([]float64, 6)
	for i := range residuals {
		residuals[i] = sixOfSixteen.Human[i] - b*sixOfSixteen.Metric[i]
	}
	judged := Labels{Human: residuals, Metric: residuals}
	finite := (1 - n/all) * math.Pow(judged.mean(labelsRule{lost: 1, half: func(int, bool) float64 { return 0 }}).Classical.Error, 2)
	value := average(sixOfSixteen.Human) + b*(average(slices.Concat(sixOfSixteen.Metric, sixOfSixteen.Rest))-average(sixOfSixteen.Metric))
	if !same(value, m.Powered.Value, 1e-14) || math.Abs(finite-0.061796212775934146) > 1e-15 {
		t.Errorf("survey: %.17g, variance %.17g", value, finite)
	}
}

// TestLabelsMean holds what is true of any labels.
func TestLabelsMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := func(name string, n int) []float64 {
			return rapid.SliceOfN(rapid.Map(rapid.IntRange(-40, 40), func(i int) float64 { return float64(i) / 8 }), n, n).Draw(t, name)
		}
		n, rest := rapid.IntRange(2, 9).Draw(t, "n"), rapid.IntRange(0, 20).Draw(t, "rest")
		l := Labels{Human: scores("human", n), Metric: scores("metric", n), Rest: scores("others", rest)}
		m, err := l.Mean(.95)
		require.NoError(t, err)
		c, p := m.Classical, m.Powered
		if !(c.Low <= c.Value && c.Value <= c.High && p.Low <= p.Value && p.Value <= p.High && m.Weight >= 0 && m.Weight <= 1 && m.Alike >= 0 && m.Alike <= 1) {
			t.Fatalf("%+v", m)
		}
		if (rest == 0 || m.Weight == 0) && (p != c || m.Effective != float64(n)) {
			t.Fatalf("scores that are not used change the mean: %+v", m)
		}
		// Another unit of the metric changes nothing, and one item a document is no document.
		scaled := l
		scaled.Metric, scaled.Rest = timesAndMore(l.Metric, 64, 3), timesAndMore(l.Rest, 64, 3)
		for i := range n {
			scaled.Unit = append(scaled.Unit, int32(2*i+1))
		}
		for i := range rest {
			scaled.RestUnit = append(scaled.RestUnit, int32(2*i))
		}
		if s, _ := scaled.Mean(.95); math.Abs(s.Powered.Value-p.Value)+math.Abs(s.Powered.High-p.High)+math.Abs(s.Classical.High-c.High)+math.Abs(s.Weight-m.Weight) > 1e-6*(1+math.Abs(p.High)+math.Abs(p.Value)) {
			t.Fatalf("%+v in another unit: %+v", m, s)
		}
	})
	for _, l := range []Labels{{Human: []float64{1}, Metric: []float64{1}}, {Human: []float64{1, 2}, Metric: []float64{1}}, {Human: []float64{1, 2}, Metric: []float64{1, 3}, Unit: []int32{0, 0}}} {
		_, err := l.Mean(.95)
		assert.Error(t, err, "%+v: no error", l)
	}
}

func timesAndMore(x []float64, times, more float64) []float64 {
	out := slices.Clone(x)
	for i := range out {
		out[i] = times*out[i] + more
	}
	return out
}

// TestLabelsCover simulates systems of 2,000 outputs, of which few are judged: 95 % intervals
// cover the mean in 93 to 97 % of runs.
func TestLabelsCover(t *testing.T) {
	if testing.Short() {
		t.Skip("36,000 runs")
	}
	const runs, items, size, truth = 1000, 2000, 10, -4.0
	random := rand.New(rand.NewPCG(1, 2))
	for _, judged := range []int{10, 50, 200} {
		for _, correlation := range []float64{.8, 0, -.6} {
			for _, documents := range []bool{false, true} {
				for _, difference := range []bool{false, true} {
					covered, saved := 0, 0.0
					for range runs {
						human, metric, of := make([]float64, items), make([]float64, items), make([]int32, items)
						add := func(sign, mean float64) {
							var shared, error float64
							for i := range human {
								if of[i] = int32(i / size); documents && i%size == 0 {
									shared, error = random.NormFloat64(), random.NormFloat64()
								}
								v := shared + random.NormFloat64()
								human[i] += sign * (mean + 2*v)
								metric[i] += sign * 30 * (correlation*v + math.Sqrt(1-correlation*correlation)*(error+random.NormFloat64()))
							}
						}
						if add(1, truth); difference {
							add(-1, 0)
						}
						l, taken := Labels{}, make([]bool, items)
						for len(l.Human) < judged {
							if i := random.IntN(items); !taken[i] {
								taken[i] = true
								l.Human, l.Metric, l.Unit = append(l.Human, human[i]), append(l.Metric, metric[i]), append(l.Unit, of[i])
							}
						}
						for i, f := range metric {
							if !taken[i] {
								l.Rest, l.RestUnit = append(l.Rest, f), append(l.RestUnit, of[i])
							}
						}
						if !documents {
							l.Unit, l.RestUnit = nil, nil
						}
						m, err := l.Mean(.95)
						require.NoError(t, err)
						if m.Powered.Low <= truth && truth <= m.Powered.High {
							covered++
						}
						saved += m.Effective / float64(judged) / float64(runs)
					}
					share := float64(covered) / float64(runs)
					t.Logf("%d judged, correlation %v, documents %v, difference %v: covers %.3f, labels × %.2f", judged, correlation, documents, difference, share, saved)
					if share < .93 || share > .97 || correlation < 0 && saved > 1.1 {
						t.Error("out of bounds")
					}
				}
			}
		}
	}
}
