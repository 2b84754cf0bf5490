package correlate

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMTME compares all deterministic statistics of all metrics stored in WMT22's zh-en
// folder with values that mt-metrics-eval computed once or, if REFRACT_MTME_VALUES names a
// file, with those that benchmarks/peers/mtme_check.py has just written. mt-metrics-eval's
// pairwise differences, and its calibration at other groupings, take more memory than
// machines have, so they are missing.
//
// mt-metrics-eval sums in single precision for soft accuracy, and so misses two differences
// of MQM scores that are as large as the observed ones; with exact sums its values are
// those named soft_exact.
func TestMTME(t *testing.T) {
	if testing.Short() {
		t.Skip("it does sums alone, for seconds")
	}
	const tolerance, single = 1e-9, 3.0 / 91 / 1000
	dataDir(t)
	name := os.Getenv("REFRACT_MTME_VALUES")
	if name == "" {
		name = "testdata/mtme_wmt22_zh-en.json"
	}
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	var document struct {
		Origin string
		Values map[string]map[string]float64
		Exact  map[string]float64 `json:"soft_exact"`
	}
	require.NoError(t, json.Unmarshal(b, &document), "%s", name)
	assert.Len(t, document.Values, 10, name)
	compared, worst := 0, 0.0
	for metric, values := range document.Values {
		p := readPairs(t, metric)
		for key, want := range values {
			statistic, group, _ := strings.Cut(strings.TrimPrefix(key, "epsilon "), " ")
			s, err := ParseStatistic(statistic)
			require.NoError(t, err)
			g, err := ParseGrouping(group)
			require.NoError(t, err)
			res, err := Measure{Statistic: s, Grouping: g}.Of(p)
			require.NoError(t, err)
			got := res.Value
			if strings.HasPrefix(key, "epsilon ") {
				got = res.Epsilon
			}
			if s == StatSoftAccuracy {
				assert.True(t, near(got, want, single), "%s: %s = %.12f, mt-metrics-eval has %.12f", metric, key, got, want)
				want = document.Exact[metric]
			}
			assert.True(t, near(got, want, tolerance), "%s: %s = %.12f, mt-metrics-eval has %.12f", metric, key, got, want)
			compared++
			worst = max(worst, got-want, want-got)
		}
	}
	t.Logf("%d values, largest difference %.2g; %s", compared, worst, document.Origin)
}
