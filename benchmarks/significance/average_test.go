package significance

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// By hand: two tasks with weights 3 and 1, a correlation and a share. Setting 7 has 0.8 and
// 0.5, which is 0.9 and 0.5 in [0, 1], and so 0.8; setting 4 has 0.4 and 0.9, which is 0.7
// and 0.9, and so 0.75. Setting 9 is only in one task.
func TestAverage(t *testing.T) {
	tests := func(draws ...float64) [][]Result { return [][]Result{{{}, {Draws: draws}}, {{}, {}}} }
	three := tests(0.3, -0.1, 0.1, 0.2)
	three[0] = append(three[0], Result{})
	three[1] = append(three[1], Result{})
	tasks := []Task{
		{&Comparison{Order: []int{1, 0, 2}, Values: []float64{0.4, 0.8, 0.1}, Ranks: []int{2, 1, 3}, Tests: append(three, make([]Result, 3))}, []int{4, 7, 9}, 3, -1, 1},
		// The order is reversed, and the test has stopped early: the draws of the mean are
		// 3/4·d/2 of the first minus 1/4·d of this one.
		{&Comparison{Order: []int{1, 0}, Values: []float64{0.5, 0.9}, Ranks: []int{2, 1}, Tests: tests(0.2, -0.4)}, []int{7, 4}, 1, 0, 1},
	}
	// 0.1125-0.05 = 0.0625, -0.0375+0.1 = 0.0625, 0.0375-0.05 = -0.0125,
	// 0.075+0.1 = 0.175; three of four are 0.05 or more, and p is 4/5.
	want := []Standing{{7, 0.8, 0.75*1 + 0.25*2, 1}, {4, 0.75, 0.75*2 + 0.25*1, 1}}
	check := func(alpha float64, want []Standing) {
		t.Helper()
		got := Average(tasks, alpha, Options{})
		if !slices.EqualFunc(got, want, func(a, b Standing) bool {
			return a.Setting == b.Setting && a.Cluster == b.Cluster && math.Abs(a.Value-b.Value) < 1e-12 && math.Abs(a.Rank-b.Rank) < 1e-12
		}) {
			t.Errorf("alpha %v: %v, want %v", alpha, got, want)
		}
	}
	check(0.79, want)
	want[1].Cluster = 2
	check(0.81, want)
	tasks[1].Tests = nil // as with another method
	want[0].Cluster, want[1].Cluster = 0, 0
	check(0.05, want)
}

// TestMTMEAverages compares with the averages and clusters that mt-metrics-eval computes
// from the same draws; REFRACT_MTME_AVERAGES replaces the stored ones.
func TestMTMEAverages(t *testing.T) {
	b, err := os.ReadFile(cmp.Or(os.Getenv("REFRACT_MTME_AVERAGES"), "testdata/mtme_averages.json"))
	require.NoError(t, err)
	var document struct {
		Tasks []struct {
			Weight, Least float64
			Values        map[string]float64
			Order         []string
			Pairs         []struct {
				A, B  string
				Draws []float64
			}
		}
		Standings []struct {
			Metric  string
			Average float64
			Rank    int
		}
		P [][]float64
	}
	require.NoError(t, json.Unmarshal(b, &document))
	var tasks []Task
	at, drawn := []map[int]int{}, map[string]int{}
	number := func(metric string) int { return int(metric[0] - 'a') }
	for _, of := range document.Tasks {
		n := len(of.Order)
		task := Task{Comparison: &Comparison{Tests: make([][]Result, n), Ranks: make([]int, n)}, Weight: of.Weight, Least: of.Least, Most: 1}
		places := map[int]int{}
		for i, m := range of.Order {
			task.Order, task.Settings, task.Values = append(task.Order, i), append(task.Settings, number(m)), append(task.Values, of.Values[m])
			task.Tests[i], task.Ranks[i], places[number(m)] = make([]Result, n), i+1, i
		}
		for _, p := range of.Pairs {
			task.Tests[slices.Index(of.Order, p.A)][slices.Index(of.Order, p.B)].Draws = p.Draws
			pair := min(p.A, p.B) + max(p.A, p.B)
			drawn[pair] = max(drawn[pair], len(p.Draws))
		}
		tasks, at = append(tasks, task), append(at, places)
	}
	got := Average(tasks, 0.05, Options{OneSided: true})
	require.Len(t, got, len(document.Standings))
	for i, want := range document.Standings {
		if got[i].Setting != number(want.Metric) || math.Abs(got[i].Value-want.Average) > 1e-12 || got[i].Cluster != want.Rank {
			t.Errorf("%+v, want %+v", got[i], want)
		}
		for j := i + 1; j < len(got); j++ {
			a, b := want.Metric, document.Standings[j].Metric
			n := float64(drawn[min(a, b)+max(a, b)])
			seen := (document.P[i][j]*n + 1) / (n + 1) // with the observed one
			if p := averageP(tasks, at, 1, &got[i], &got[j], Options{OneSided: true}); math.Abs(p-seen) > 1e-12 {
				t.Errorf("%s against %s: p %v, want %v", a, b, p, seen)
			}
		}
	}
}

// A test keeps the differences that its p-value counts.
func TestDraws(t *testing.T) {
	tables := simulated(60, 6, 3, 3.2)
	for _, m := range []correlate.Measure{
		{Statistic: correlate.StatPearson}, {Statistic: correlate.StatAccuracy},
		{Statistic: correlate.StatAcc23, Grouping: correlate.BySegment}, {Statistic: correlate.StatSoftAccuracy},
	} {
		method := MethodPermBoth
		if m.Statistic.Calibrated() {
			method = MethodPermPairs
		}
		o := Options{Resamples: 90, Block: 40, Seed: 3, Draws: true}
		res, err := Compare(t.Context(), method, tables[0], tables[1], m, o)
		require.NoError(t, err)
		large := 0
		for _, d := range res.Draws {
			if math.Abs(d) >= math.Abs(res.Delta)*(1-1e-9) {
				large++
			}
		}
		if len(res.Draws) != res.Resamples || res.P != float64(large+1)/float64(res.Resamples+1) {
			t.Errorf("%v: %d draws of %d, p %v", m, len(res.Draws), res.Resamples, res.P)
		}
		o.Draws = false
		without, err := Compare(t.Context(), method, tables[0], tables[1], m, o)
		assert.True(t, err == nil && without.Draws == nil && without.P == res.P, "%v: %v, %v", m, without, err)
	}
}

// Equal values share a rank, and the next rank counts all of them.
func TestByValue(t *testing.T) {
	of := func(metric ...float64) *correlate.Pairs {
		p := correlate.NewPairs(4, 1)
		copy(p.Gold, []float64{1, 2, 3, 4})
		copy(p.Metric, metric)
		for i := range p.Gold {
			p.GoldOK[i], p.MetricOK[i] = true, true
		}
		return p
	}
	c, err := ByValue([]*correlate.Pairs{of(1, 2, 4, 3), of(1, 1, 1, 1), of(2, 4, 8, 6), of(1, 2, 3, 4), of(4, 3, 2, 1)}, correlate.Measure{})
	assert.True(t, err == nil && slices.Equal(c.Ranks, []int{2, 0, 2, 1, 4}), "%v, %v", c, err)
}
