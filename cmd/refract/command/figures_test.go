package command

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// dataDirectory is where real data may be.
func dataDirectory() string {
	return cmp.Or(os.Getenv("REFRACT_DATA"), filepath.Join("..", "..", "..", "..", "shared", "data"))
}

// realData returns the folder of real data, or skips.
func realData(t *testing.T) string {
	t.Helper()
	dir := dataDirectory()
	if _, err := os.Stat(filepath.Join(dir, "mt-metrics-eval-v2", "wmt22")); err != nil {
		t.Skip("the WMT22 data is not there; set REFRACT_DATA to its folder")
	}
	return dir
}

// The figures that the paper's setting is known to give on the released
// expansions of WMT22 zh-en (Div-Ref, table 2, prints those of a later run of
// the expansion).
func TestKnownFiguresOfWMT22(t *testing.T) {
	if testing.Short() {
		t.Skip("it does sums alone, for seconds")
	}
	data := realData(t)
	wmt := "mtme:" + filepath.Join(data, "mt-metrics-eval-v2", "wmt22", "zh-en")
	want := map[string]float64{
		"bleu single": 0.144958, "bleu max": 0.192893, "bleu mean": 0.165758, "bleu native": 0.187757,
		"chrf single": 0.147006, "chrf max": 0.189264, "chrf mean": 0.105817, // native is max, and told once
	}
	rows := tableRows(t, "compare", wmt, "--references", "div-ref:"+filepath.Join(data, "div-ref", "wmt22.zh-en.refA.diversified"),
		"--statistic", "kendall", "--resamples", "0")
	if len(rows) != len(want) {
		t.Errorf("%d rows, want %d", len(rows), len(want))
	}
	for _, r := range rows {
		key := r["metric"].(string) + " " + r["aggregate"].(string)
		if v := r["value"].(float64); math.Abs(v-want[key]) > 1e-6 {
			t.Errorf("%s: Kendall's tau-b %v, want %v", key, v, want[key])
		}
		if r["n"].(float64) != 26250 || r["missing"].(float64) != 0 || r["ci"] != nil {
			t.Errorf("%s: n %v, missing %v, ci %v", key, r["n"], r["missing"], r["ci"])
		}
	}
}

func TestStoredMetricsOfWMT22(t *testing.T) {
	data := realData(t)
	wmt := "mtme:" + filepath.Join(data, "mt-metrics-eval-v2", "wmt22", "zh-en")
	rows := tableRows(t, "compare", wmt, "-m", "stored", "--statistic", "kendall", "--resamples", "0")
	if len(rows) != 10 {
		t.Errorf("%d stored metrics, want 10", len(rows))
	}
	want := map[string]float64{"BLEU-refA": 0.144958, "chrF-refA": 0.147006}
	for _, r := range rows {
		name := r["metric"].(string)
		if r["n"].(float64) != 26250 {
			t.Errorf("%s: n %v", name, r["n"])
		}
		if w, known := want[name]; known && math.Abs(r["value"].(float64)-w) > 1e-6 {
			t.Errorf("%s: %v, want %v", name, r["value"], w)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("not compared: %v", want)
	}
}
