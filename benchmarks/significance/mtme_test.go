package significance

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// wmt22 reads a metric's scores and the MQM scores of WMT22 zh-en, or skips the test.
func wmt22(t *testing.T, metric string) *correlate.Pairs {
	t.Helper()
	dir := os.Getenv("REFRACT_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	dir = filepath.Join(dir, "mt-metrics-eval-v2", "wmt22")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the WMT22 data is not at %s: set REFRACT_DATA", dir)
	}
	read := func(name string) map[string][]string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		scores := map[string][]string{}
		for line := range strings.Lines(string(b)) {
			system, score, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
			scores[system] = append(scores[system], score)
		}
		return scores
	}
	gold := read("human-scores/zh-en.mqm.seg.score")
	scores := read("metric-scores/zh-en/" + metric + ".seg.score")
	var systems []string
	for s, v := range gold {
		if s != "refA" && s != "refB" && slices.ContainsFunc(v, func(x string) bool { return x != "None" }) {
			systems = append(systems, s)
		}
	}
	slices.Sort(systems)
	p := correlate.NewPairs(len(gold[systems[0]]), len(systems))
	for k, s := range systems {
		for seg := range p.Segments {
			i := p.Index(seg, k)
			var goldErr, err error
			p.Gold[i], goldErr = strconv.ParseFloat(gold[s][seg], 64)
			p.Metric[i], err = strconv.ParseFloat(scores[s][seg], 64)
			p.GoldOK[i], p.MetricOK[i] = goldErr == nil, err == nil
		}
	}
	return p
}

// TestMTMEPValues compares with p-values that mt-metrics-eval computed once or, if
// REFRACT_MTME_PVALUES names a file, that benchmarks/peers/mtme_check.py has just written:
// within the error of both samples, and exactly where nothing is sampled. Its differences
// use standardized scores, in which some close scores are tied.
func TestMTMEPValues(t *testing.T) {
	if testing.Short() {
		t.Skip("it does sums alone, for seconds")
	}
	const resamples = 200
	name := os.Getenv("REFRACT_MTME_PVALUES")
	if name == "" {
		name = "testdata/mtme_pvalues.json"
	}
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	var document struct {
		Origin string
		Tests  []struct {
			Test, Statistic, Group, A, B string
			P, Delta                     float64
			Resamples                    int
		}
	}
	require.NoError(t, json.Unmarshal(b, &document))
	tables := map[string]*correlate.Pairs{}
	table := func(metric string) *correlate.Pairs {
		if tables[metric] == nil {
			tables[metric] = wmt22(t, metric)
		}
		return tables[metric]
	}
	for _, want := range document.Tests {
		method, err := ParseMethod(want.Test)
		require.NoError(t, err)
		m := correlate.Measure{}
		if m.Statistic, err = correlate.ParseStatistic(want.Statistic); err != nil {
			t.Fatal(err)
		}
		if m.Grouping, err = correlate.ParseGrouping(want.Group); err != nil {
			t.Fatal(err)
		}
		got, err := Compare(t.Context(), method, table(want.A), table(want.B), m, Options{Resamples: resamples, Seed: 1, OneSided: true})
		require.NoError(t, err)
		tolerance := 1e-9
		if want.Resamples > 0 {
			p := min(max((got.P+want.P)/2, 0.01), 0.99)
			tolerance = 4 * math.Sqrt(p*(1-p)*(1/float64(want.Resamples)+1.0/resamples))
		}
		if !near(got.P, want.P, tolerance) || !near(got.Delta, want.Delta, 1e-7) {
			t.Errorf("%+v: p %v and difference %v", want, got.P, got.Delta)
		}
		t.Logf("%s of %s by %s, %s against %s: p %.4f, mt-metrics-eval %.4f of %d", want.Test, want.Statistic, want.Group, want.A, want.B, got.P, want.P, want.Resamples)
	}
	t.Log(document.Origin)
}

// TestSpeedOnWMT22 writes the seconds that tests take to the file named by
// REFRACT_MTME_SPEED, for benchmarks/peers/mtme_check.py.
func TestSpeedOnWMT22(t *testing.T) {
	name := os.Getenv("REFRACT_MTME_SPEED")
	if name == "" {
		t.Skip("REFRACT_MTME_SPEED names no file: run benchmarks/peers/mtme.sh")
	}
	a, b := wmt22(t, "COMET-22-refA"), wmt22(t, "metricx_xxl_MQM_2020-refA")
	bySegment := correlate.Measure{Statistic: correlate.StatKendall, Grouping: correlate.BySegment}
	seconds := map[string]float64{}
	best := func(what string, n int, do func()) {
		for range 3 {
			start := time.Now()
			do()
			s := time.Since(start).Seconds() / float64(n)
			if old, ok := seconds[what]; !ok || s < old {
				seconds[what] = s
			}
		}
	}
	perm := func(m correlate.Measure, n int) func() {
		return func() {
			_, err := Compare(t.Context(), MethodPermBoth, a, b, m, Options{Resamples: n, Seed: 1})
			require.NoError(t, err)
		}
	}
	best("PERM-BOTH, Kendall, flattened", 2000, perm(correlate.Measure{}, 2000))
	best("PERM-BOTH, Kendall, by item", 2000, perm(bySegment, 2000))
	rows := bySegment.Rows(b)
	const metrics = 20
	best("acc23 with tie calibration", metrics, func() { // as compare does with several metrics
		var all sync.WaitGroup
		slots := make(chan struct{}, runtime.GOMAXPROCS(0))
		for range metrics {
			slots <- struct{}{}
			all.Go(func() {
				correlate.Calibrate(rows)
				<-slots
			})
		}
		all.Wait()
	})
	out, err := json.Marshal(seconds)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, out, 0o644))
}
