package metrics_test

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/metrics"
)

// vectorsEnv names the file of peer scores.
const vectorsEnv = "REFRACT_SACREBLEU_VECTORS"

// row is one line of the file that benchmarks/peers/sacrebleu_vectors.py
// writes.
type row struct {
	Kind       string
	Spec       string
	Hypotheses []string
	References json.RawMessage
	Cells      [][]float64
	Native     []float64
	Corpus     float64
	Signature  string
}

// TestSacreBLEU compares every row of the peer's file, within an absolute
// difference of 1e-9. Other makers of such files are ter_vectors.py, with texts
// that are hard for TER, and rouge_vectors.py, with what rouge-score computes.
func TestSacreBLEU(t *testing.T) {
	path := os.Getenv(vectorsEnv)
	if path == "" {
		t.Skipf("%s is not set: make the file with benchmarks/peers/sacrebleu_vectors.py", vectorsEnv)
	}
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<20)
	worst, rows, scores := 0.0, map[string]int{}, 0
	compare := func(spec, what string, got, want float64, r row) {
		scores++
		d := math.Abs(got - want)
		worst = max(worst, d)
		if !(d <= 1e-9) {
			t.Errorf("%s %s: got %v, the peer has %v\nhypotheses %q\nreferences %s", spec, what, got, want, r.Hypotheses, r.References)
		}
	}
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		var r row
		require.NoError(t, json.Unmarshal(line, &r))
		m, err := lexical().Parse(t.Context(), r.Spec)
		require.NoError(t, err)
		name, _, _ := strings.Cut(r.Spec, ":")
		rows[name]++
		w := m.(metrics.Preparer).NewWorkspace()
		switch r.Kind {
		case "segment":
			var refs []string
			require.NoError(t, json.Unmarshal(r.References, &refs))
			w.Load(metrics.Block{Hypotheses: r.Hypotheses, References: refs})
			cells := w.Cells(nil)
			native := w.(metrics.NativeWorkspace).Native(nil)
			for h := range r.Hypotheses {
				for c := range refs {
					compare(r.Spec, "cell", cells[h*len(refs)+c], r.Cells[h][c], r)
				}
				compare(r.Spec, "native", native[h], r.Native[h], r)
			}
		case "corpus":
			var refs [][]string
			require.NoError(t, json.Unmarshal(r.References, &refs))
			var sum []float64
			for i, h := range r.Hypotheses {
				w.Load(metrics.Block{Hypotheses: []string{h}, References: refs[i]})
				stats := w.(metrics.StatisticsWorkspace).NativeStatistics(nil, 0)
				if sum == nil {
					sum = make([]float64, len(stats))
				}
				for j, v := range stats {
					sum[j] += v
				}
			}
			p := m.(metrics.CorpusMetric)
			compare(r.Spec, "corpus", p.CorpusScore(sum), r.Corpus, r)
			compareSignature(t, p, r)
		}
		require.False(t, t.Failed() && rows[name] > 50, "stopping after the first failures")
	}
	require.NotEqual(t, 0, scores, "%s has no row", path)
	t.Logf("%v rows, %d scores, largest difference %.3g", rows, scores, worst)
}

// compareSignature looks for the peer's settings, except nrefs and version,
// in the metric's signature.
func compareSignature(t *testing.T, p metrics.Metric, r row) {
	ours := "|" + p.Signature(metrics.Corpus).String() + "|"
	for set := range strings.SplitSeq(r.Signature, "|") {
		if strings.HasPrefix(set, "nrefs:") || strings.HasPrefix(set, "version:") {
			continue
		}
		assert.True(t, strings.Contains(ours, "|"+set+"|"), "%s: signature %s lacks the peer's %s", r.Spec, ours, set)
	}
}
