package diversify_test

import (
	"testing"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
)

// BenchmarkWarm expands 10,000 segments of two references with ten prompts,
// 200,000 answers, all of them stored.
func BenchmarkWarm(b *testing.B) {
	for name, open := range map[string]func(b *testing.B) cache.Store{
		"memory": func(*testing.B) cache.Store { return cache.NewMemory() },
		"sqlite": func(b *testing.B) cache.Store { return openSQLite(b, cacheFile(b)) },
	} {
		b.Run(name, func(b *testing.B) {
			ds := numbered(10_000)
			cfg := config(completer(echo))
			cfg.Store = open(b)
			cfg.Concurrency = 256
			mustRun(b, newExpander(b, cfg), ds)
			cfg.Client = nil
			x := newExpander(b, cfg)
			b.ReportAllocs()
			answers := 0
			for b.Loop() {
				s, err := x.Expand(b.Context(), ds, func(*refract.Segment) error { return nil })
				if err != nil {
					b.Fatal(err)
				}
				answers += s.Cached
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(answers), "ns/answer")
		})
	}
}

// BenchmarkCold expands 100 segments against a model that answers at once:
// 2,000 calls and what they cost beside the model.
func BenchmarkCold(b *testing.B) {
	ds := numbered(100)
	for b.Loop() {
		cfg := config(completer(echo))
		cfg.Concurrency = 64
		if _, err := newExpander(b, cfg).Expand(b.Context(), ds, func(*refract.Segment) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
