// Package metricstest checks metrics: against what a peer computed, and
// against what every metric promises.
package metricstest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/refract-eval/refract/metrics"
)

// VectorsEnv names the file of peer scores.
const VectorsEnv = "REFRACT_SACREBLEU_VECTORS"

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

// Vectors compares every row of the peer's file whose spec names this
// factory's metric, within an absolute difference of 1e-9.
func Vectors(t *testing.T, f metrics.Factory) {
	path := os.Getenv(VectorsEnv)
	if path == "" {
		t.Skipf("%s is not set: make the file with benchmarks/peers/sacrebleu_vectors.py", VectorsEnv)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<20)
	worst, rows, scores := 0.0, 0, 0
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
		if err != nil {
			t.Fatal(err)
		}
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if name, _, _ := strings.Cut(r.Spec, ":"); name != f.Name {
			continue
		}
		m, err := metrics.Registry{f}.Parse(t.Context(), r.Spec)
		if err != nil {
			t.Fatal(err)
		}
		rows++
		p := m.(metrics.CorpusMetric)
		w := p.NewWorkspace()
		switch r.Kind {
		case "segment":
			var refs []string
			if err := json.Unmarshal(r.References, &refs); err != nil {
				t.Fatal(err)
			}
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
			if err := json.Unmarshal(r.References, &refs); err != nil {
				t.Fatal(err)
			}
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
			compare(r.Spec, "corpus", p.CorpusScore(sum), r.Corpus, r)
			compareSignature(t, p, r)
		}
		if t.Failed() && rows > 50 {
			t.Fatalf("stopping after the first failures")
		}
	}
	if scores == 0 {
		t.Fatalf("%s has no row for %s", path, f.Name)
	}
	t.Logf("%d rows, %d scores, largest difference %.3g", rows, scores, worst)
}

// compareSignature looks for the peer's settings, but for nrefs and version,
// in the metric's signature.
func compareSignature(t *testing.T, p metrics.Metric, r row) {
	ours := "|" + p.Signature(metrics.Corpus).String() + "|"
	for set := range strings.SplitSeq(r.Signature, "|") {
		if strings.HasPrefix(set, "nrefs:") || strings.HasPrefix(set, "version:") {
			continue
		}
		if !strings.Contains(ours, "|"+set+"|") {
			t.Errorf("%s: signature %s lacks the peer's %s", r.Spec, ours, set)
		}
	}
}

// Promises checks what every metric promises, on the given block: the same
// numbers by every way, bounds kept, and an end when the context ends.
func Promises(t *testing.T, m metrics.Metric, b metrics.Block) {
	t.Helper()
	ctx := context.Background()
	info := m.Info()
	if info.Name == "" || info.Direction == 0 {
		t.Errorf("incomplete info %+v", info)
	}
	out, err := m.Score(ctx, []metrics.Block{b, b})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != 2 {
		t.Fatalf("2 blocks gave %d matrices", len(out))
	}
	cells := len(b.Hypotheses) * b.Columns()
	for i, s := range out {
		if len(s.Values) != cells || s.Status != nil && len(s.Status) != cells {
			t.Fatalf("block %d: %d values, %d statuses for %d cells", i, len(s.Values), len(s.Status), cells)
		}
		for c, v := range s.Values {
			if s.Status != nil && s.Status[c] != metrics.Scored {
				continue
			}
			if !(v >= info.Lower && v <= info.Upper+1e-9) {
				t.Errorf("%s: score %v outside [%v, %v] for %q", info.Name, v, info.Lower, info.Upper, b)
			}
			if v != out[0].Values[c] {
				t.Errorf("%s: the same block scored %v and %v", info.Name, out[0].Values[c], v)
			}
		}
	}
	if p, ok := m.(metrics.Preparer); ok {
		w := p.NewWorkspace()
		w.Load(metrics.Block{Hypotheses: []string{"what was loaded before"}, References: []string{"must not matter", "at all"}})
		w.Load(b)
		for c, v := range w.Cells(nil) {
			if v != out[0].Values[c] {
				t.Errorf("%s: a workspace in use gives %v, a new one %v", info.Name, v, out[0].Values[c])
			}
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := m.Score(cancelled, []metrics.Block{b}); err == nil {
		t.Errorf("%s: no error under a cancelled context", info.Name)
	}
}
