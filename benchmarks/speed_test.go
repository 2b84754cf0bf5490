// Package benchmarks measures the program on real data and on generated text.
// peers/speed.sh compares it with its peers.
package benchmarks

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
	"github.com/refract-eval/refract/metrics/chrf"
	"github.com/refract-eval/refract/metrics/ter"
)

// data returns the folder of real data, or skips the benchmark.
func data(tb testing.TB) string {
	dir := os.Getenv("REFRACT_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "mt-metrics-eval-v2", "wmt22")); err != nil {
		tb.Skip("the WMT22 data is not there; set REFRACT_DATA to its folder")
	}
	return dir
}

// segments returns the WMT22 zh-en test set with refA, its ten diversified references and
// the 14 systems with MQM scores.
func segments(tb testing.TB) []*refract.Segment {
	dir := data(tb)
	ds, err := dataset.Open("mtme:"+filepath.Join(dir, "mt-metrics-eval-v2", "wmt22", "zh-en"),
		dataset.Options{JudgementNames: []string{"mqm"}})
	if err == nil {
		ds, err = dataset.WithReferences(ds, "div-ref:"+filepath.Join(dir, "div-ref", "wmt22.zh-en.refA.diversified"), dataset.Options{})
	}
	require.NoError(tb, err)
	judged := map[string]bool{}
	var out []*refract.Segment
	for s, err := range ds.Segments(context.Background()) {
		require.NoError(tb, err)
		for _, j := range s.Judgements {
			judged[j.System] = judged[j.System] || j.Valid
		}
		out = append(out, s)
	}
	for _, s := range out {
		kept := s.Hypotheses[:0]
		for _, h := range s.Hypotheses {
			if judged[h.System] && !h.Human {
				kept = append(kept, h)
			}
		}
		s.Hypotheses = kept
	}
	return out
}

// BenchmarkMatrix scores the whole matrix, with texts in memory.
func BenchmarkMatrix(b *testing.B) {
	segs := segments(b)
	for _, spec := range []string{"bleu", "chrf", "chrf++", "ter"} {
		m, err := metrics.Registry{bleu.Factory(), chrf.Factory(), chrf.PlusPlusFactory(), ter.Factory()}.Parse(b.Context(), spec)
		require.NoError(b, err)
		e, err := refract.NewEngine([]refract.Setting{{Metric: m}}, refract.Options{Workers: 1})
		require.NoError(b, err)
		b.Run(spec, func(b *testing.B) {
			pairs := 0
			for b.Loop() {
				out, err := e.Score(context.Background(), segs)
				require.NoError(b, err)
				pairs = 0
				for _, s := range out {
					pairs += len(s.Metrics[0].Values)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(pairs), "ns/pair")
		})
	}
}

// BenchmarkFloor reads every character n-gram of every distinct text once, up to order 6,
// and only hashes it. No program that counts n-grams can be faster.
func BenchmarkFloor(b *testing.B) {
	segs := segments(b)
	type distinct struct{ runes []uint32 }
	var texts []distinct
	pairs := 0
	for _, s := range segs {
		seen := map[string]bool{}
		add := func(t refract.Text) {
			if seen[t.Value] {
				return
			}
			seen[t.Value] = true
			var d distinct
			for _, r := range t.Value {
				if r != ' ' {
					d.runes = append(d.runes, uint32(r))
				}
			}
			texts = append(texts, d)
		}
		for _, t := range s.AllReferences(nil) {
			add(t)
		}
		for _, h := range s.Hypotheses {
			add(h.Text)
		}
		pairs += len(s.Hypotheses) * s.NumReferences()
	}
	grams := 0
	var sink uint64
	for b.Loop() {
		grams = 0
		for _, t := range texts {
			for i := range t.runes {
				var h uint64
				for n := 0; n < 6 && i+n < len(t.runes); n++ {
					h = (h ^ uint64(t.runes[i+n])) * 0x9e3779b97f4a7c15
					sink += h
					grams++
				}
			}
		}
	}
	if sink == 42 {
		fmt.Println()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(pairs), "ns/pair")
	b.ReportMetric(float64(grams)/float64(pairs), "ngrams/pair")
}

// BenchmarkPairwise does fastchrf's task: every hypothesis of a list against every
// reference of a list. REFRACT_PAIRWISE names a JSON file with "hypotheses" and
// "references", which peers/fastchrf_speed.py writes.
func BenchmarkPairwise(b *testing.B) {
	path := os.Getenv("REFRACT_PAIRWISE")
	if path == "" {
		b.Skip("REFRACT_PAIRWISE names no file; peers/fastchrf_speed.py makes one")
	}
	f, err := os.Open(path)
	require.NoError(b, err)
	defer f.Close()
	var batches []metrics.Block
	dec := json.NewDecoder(bufio.NewReader(f))
	require.NoError(b, dec.Decode(&batches))
	m, err := chrf.New(chrf.Defaults())
	require.NoError(b, err)
	pairs := 0
	for b.Loop() {
		out, err := m.Score(context.Background(), batches)
		require.NoError(b, err)
		pairs = 0
		for _, s := range out {
			pairs += len(s.Values)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(pairs), "ns/pair")
}
