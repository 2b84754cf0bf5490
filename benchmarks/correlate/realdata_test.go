package correlate

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// dataDir returns the folder of the real data, or skips the test.
func dataDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("REFRACT_DATA")
	if dir == "" {
		root, err := os.Getwd()
		require.NoError(t, err)
		for {
			if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
				break
			}
			parent := filepath.Dir(root)
			require.NotEqual(t, root, parent, "no go.mod above the test")
			root = parent
		}
		dir = filepath.Join(root, "..", "shared", "data")
	}
	dir = filepath.Join(dir, "mt-metrics-eval-v2", "wmt22")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the WMT22 data is not at %s: set REFRACT_DATA", dir)
	}
	return dir
}

// readScores reads a .seg.score file: a system and a score or None per line, with the
// segments of a system in order.
func readScores(t testing.TB, name string) (systems []string, scores map[string][]string) {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	scores = map[string][]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		system, score, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			t.Fatalf("%s: no tab in %q", name, lines.Text())
		}
		if scores[system] == nil {
			systems = append(systems, system)
		}
		scores[system] = append(scores[system], score)
	}
	require.NoError(t, lines.Err())
	return systems, scores
}

// readPairs reads a metric's scores against MQM, without the references.
func readPairs(t testing.TB, metric string) *Pairs {
	t.Helper()
	dir := dataDir(t)
	names, gold := readScores(t, filepath.Join(dir, "human-scores", "zh-en.mqm.seg.score"))
	_, scores := readScores(t, filepath.Join(dir, "metric-scores", "zh-en", metric+".seg.score"))
	var systems []string
	for _, s := range names {
		if s != "refA" && s != "refB" {
			systems = append(systems, s)
		}
	}
	// The order decides the direction of soft accuracy's p-values, and so the effect of ties.
	slices.Sort(systems)
	p := NewPairs(len(gold[systems[0]]), len(systems))
	set := func(values []float64, ok []bool, i int, text string) {
		if text == "None" {
			return
		}
		v, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		values[i], ok[i] = v, true
	}
	for k, s := range systems {
		for seg := range p.Segments {
			set(p.Gold, p.GoldOK, p.Index(seg, k), gold[s][seg])
			set(p.Metric, p.MetricOK, p.Index(seg, k), scores[s][seg])
		}
	}
	return p
}
