package experiment_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/benchmarks/experiment"
)

// realData returns the folder of real data, or skips the test.
func realData(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("REFRACT_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	dir, err := filepath.Abs(dir)
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(dir, "mt-metrics-eval-v2", "wmt22")); err != nil {
		t.Skip("the WMT22 data is not there; set REFRACT_DATA to its folder")
	}
	return dir
}

// examples/wmt22.yaml has the known figures of the paper's setting on the released
// expansions of WMT22 zh-en (Div-Ref, table 2, prints those of a later run).
func TestKnownFiguresOfWMT22(t *testing.T) {
	if testing.Short() {
		t.Skip("it does sums alone, for seconds")
	}
	e := parse(t, "../../examples/wmt22.yaml")
	e.Dir, e.Bootstrap.Resamples, e.Test.Resamples = t.TempDir(), 20, 120
	require.NoError(t, os.Symlink(realData(t), filepath.Join(e.Dir, "data")))
	r := runner(e)
	res, err := r.Run(t.Context(), e)
	require.NoError(t, err)
	want := map[string]float64{
		"bleu single original": 0.144958, "bleu max all": 0.192893, "bleu mean all": 0.165758, "bleu native all": 0.187757,
		"chrf single original": 0.147006, "chrf max all": 0.189264, "chrf mean all": 0.105817,
	}
	assert.Len(t, res.Rows, len(want))
	for _, r := range res.Rows {
		if v := want[r.Setting.String()]; math.Abs(float64(r.Value)-v) > 1e-6 || r.N != 26250 || r.Missing != 0 || r.Systems != 14 {
			t.Errorf("%s: %v over %d of %d systems, %d missing; want %v", r.Setting, r.Value, r.N, r.Systems, r.Missing, v)
		}
	}
	if !slices.ContainsFunc(res.Differences, func(d experiment.Difference) bool {
		return d.A.String() == "bleu max all" && d.B.Aggregator == "single" && d.Significant && math.Abs(float64(d.Value)-0.048) < 5e-4
	}) {
		t.Errorf("max of bleu is not better by 0.048 among %+v", res.Differences)
	}
	if !slices.ContainsFunc(res.Same, func(s experiment.Same) bool { return s.Setting.Metric == "chrf" && s.Cells == 26250 }) {
		t.Error("native and max of chrf are not the same")
	}
}
