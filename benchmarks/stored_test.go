package benchmarks

import (
	"path/filepath"
	"testing"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/metrics/bleu"
)

// BenchmarkStored reads the whole matrix of BLEU from a SQLite store, with texts in memory.
func BenchmarkStored(b *testing.B) {
	segs := segments(b)
	store, err := cache.Open(b.Context(), filepath.Join(b.TempDir(), "scores.sqlite"))
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	m, err := bleu.New(bleu.Options{})
	if err != nil {
		b.Fatal(err)
	}
	e, err := refract.NewEngine([]refract.Setting{{Metric: m}}, refract.Options{StoreRest: cache.NewScores(store), Workers: 1, Batch: 64})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := e.Score(b.Context(), segs); err != nil {
		b.Fatal(err)
	}
	cells := 0
	for b.Loop() {
		cells = 0
		for from := 0; from < len(segs); from += 64 {
			out, err := e.Score(b.Context(), segs[from:min(from+64, len(segs))])
			if err != nil {
				b.Fatal(err)
			}
			for _, s := range out {
				cells += len(s.Metrics[0].Values)
			}
		}
	}
	b.ReportMetric(float64(cells)*float64(b.N)/b.Elapsed().Seconds(), "cells/s")
}
