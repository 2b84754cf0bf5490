//go:build unix

package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/metricstest"
	"github.com/refract-eval/refract/metrics"
)

// python opens a metric that is a script in the folder of refract_metric.py.
func python(t *testing.T, script string) *metric {
	t.Helper()
	exe, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3, in which the helper is written")
	}
	dir := t.TempDir()
	for name, text := range map[string]func() ([]byte, error){
		"refract_metric.py": func() ([]byte, error) { return os.ReadFile("refract_metric.py") },
		"my_metric.py":      func() ([]byte, error) { return []byte(script), nil },
	} {
		data, err := text()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	return opened(t, config{Command: []string{exe, filepath.Join(dir, "my_metric.py")}, Environ: os.Environ(), Processes: 1, Timeout: time.Minute})
}

// The example in the helper's documentation works unchanged.
func TestPythonExample(t *testing.T) {
	text, err := os.ReadFile("refract_metric.py")
	require.NoError(t, err)
	_, example, _ := strings.Cut(string(text), "    import refract_metric\n")
	example, _, found := strings.Cut(example, "\nSave it as")
	require.True(t, found, "the helper has no example")
	m := python(t, "import refract_metric\n"+strings.ReplaceAll(example, "\n    ", "\n"))
	metricstest.Promises(t, m, metrics.Block{Hypotheses: []string{"a b c", "x"}, References: []string{"a b", "c d"}})
	out, err := m.Score(t.Context(), []metrics.Block{{Hypotheses: []string{"a b"}, References: []string{"a b c d", ""}}})
	assert.True(t, err == nil && out[0].Values[0] == 0.5 && out[0].Status[1] == metrics.Failed, "%+v, %v", out, err)
}

// What a metric prints is not an answer, its errors are reported, and NaN is not a number.
func TestPythonFaults(t *testing.T) {
	m := python(t, `
import os
import refract_metric

def segments(all, native):
    print("loading")
    os.system("echo progress")
    if all[0]["hypotheses"][0] == "bad":
        raise ValueError("no words")
    return [[float("nan")] + [1] * (len(s["hypotheses"]) * (1 if native else len(s["references"])) - 1) for s in all]

refract_metric.run("m", segments=segments, native=True, needs=["reference", "source"], direction="lower")
`)
	_, err := m.Score(t.Context(), []metrics.Block{{Hypotheses: []string{"bad"}, References: []string{"r"}}})
	assert.ErrorContains(t, err, `the program says: "ValueError: no words"`)
	for _, score := range []struct {
		of     func() ([]metrics.Scores, error)
		status []metrics.Status
	}{
		{func() ([]metrics.Scores, error) { return m.Score(t.Context(), []metrics.Block{block}) }, []metrics.Status{metrics.Failed, 0, 0, 0}},
		{func() ([]metrics.Scores, error) { return m.ScoreNative(t.Context(), []metrics.Block{block}) }, []metrics.Status{metrics.Failed, 0}},
	} {
		out, err := score.of()
		assert.True(t, err == nil && slices.Equal(out[0].Status, score.status), "%+v, %v", out, err)
	}
	if m.Info().Storable || m.Info().Direction != metrics.LowerIsBetter || !m.Info().NeedsSource {
		t.Errorf("%+v", m.Info())
	}
}

// Processes started by a metric die with it.
func TestPythonStart(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("on Linux only")
	}
	m := python(t, `
import os
import refract_metric

child = refract_metric.start(["sleep", "3600"])
with open(os.path.join(os.path.dirname(__file__), "pids"), "w") as f:
    f.write(f"{os.getpid()} {child.pid}")
refract_metric.run("m", lambda s, h, r: 1)
`)
	all := pids(t, filepath.Join(filepath.Dir(m.cfg.Command[1]), "pids"))
	require.True(t, len(all) == 2 && running(all[0]) && running(all[1]), "processes %v", all)
	require.NoError(t, syscall.Kill(all[0], syscall.SIGKILL))
	gone(t, all)
}
