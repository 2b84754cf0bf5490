package cache_test

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/cache/cachetest"
)

func BenchmarkSQLiteGet(b *testing.B) {
	s := open(b, filled(b, 1000))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, ok, err := s.Get(b.Context(), cachetest.Entry(i%1000).Request.Key()); err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkLRUGet(b *testing.B) {
	s := cache.NewLRU(open(b, filled(b, 1000)), 1000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, ok, err := s.Get(b.Context(), cachetest.Entry(i%1000).Request.Key()); err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
}

// BenchmarkSQLitePut stores answers of 1 kB from 64 goroutines per core.
func BenchmarkSQLitePut(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "answers.db"))
	text := strings.Repeat("0123456789abcdef", 64)
	var next atomic.Int64
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			e := cachetest.Entry(int(next.Add(1)))
			e.Text = text
			if err := s.Put(b.Context(), e); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkSQLitePutAlone(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "answers.db"))
	for i := 0; b.Loop(); i++ {
		if err := s.Put(b.Context(), cachetest.Entry(i)); err != nil {
			b.Fatal(err)
		}
	}
}
