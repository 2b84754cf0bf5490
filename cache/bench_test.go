package cache_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/refract-eval/refract/cache"
)

func BenchmarkSQLitePutAlone(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "answers.db"))
	for i := 0; b.Loop(); i++ {
		if err := putEntry(b.Context(), s, newEntry(i)); err != nil {
			b.Fatal(err)
		}
	}
}

// realistic returns an entry with a prompt and an answer as long as those of a
// translated sentence and its paraphrase.
func realistic(n int) cache.Entry {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	words := func(bytes int) string {
		var b strings.Builder
		for b.Len() < bytes {
			fmt.Fprintf(&b, "%x ", random.IntN(1<<24))
		}
		return b.String()
	}
	e := newEntry(n)
	e.Request.Prompt, e.Text = words(180+random.IntN(120)), words(100+random.IntN(100))
	return e
}

// fill stores n realistic entries, with so many in flight at each store, claimed
// before if so asked, and returns their keys.
func fill(b *testing.B, n int, claim bool, flights int, stores ...cache.Store) []cache.Key {
	keys := make([]cache.Key, n)
	entries := make([]cache.Entry, n)
	for i := range entries {
		entries[i] = realistic(i)
		keys[i] = entries[i].Request.Key()
	}
	b.ResetTimer()
	before := cpuTime(b)
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, s := range stores {
		answers := cache.NewAnswers(s)
		for range flights {
			wg.Go(func() {
				for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
					if claim {
						if granted, err := s.Claim(b.Context(), keys[i:i+1]); err != nil || !granted[0] {
							b.Error(granted, err)
							return
						}
					}
					if _, err := answers.Put(b.Context(), entries[i]); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(n), "cpu-ns/op")
	return keys
}

// BenchmarkSQLitePut256 and BenchmarkSQLiteClaimPut256 store b.N answers, with
// 256 in flight.
func BenchmarkSQLitePut256(b *testing.B) {
	fill(b, b.N, false, 256, open(b, filepath.Join(b.TempDir(), "answers.db")))
}

func BenchmarkSQLiteClaimPut256(b *testing.B) {
	fill(b, b.N, true, 256, open(b, filepath.Join(b.TempDir(), "answers.db")))
}

// BenchmarkGetMany reads 200,000 answers, in parts as a run asks for them. An
// operation is one answer.
func BenchmarkGetMany(b *testing.B) {
	const n = 200_000
	below := open(b, filepath.Join(b.TempDir(), "answers.db"))
	keys := fill(b, n, false, 256, below)
	answers, random := cache.NewAnswers(below), slices.Clone(keys)
	rand.New(rand.NewPCG(1, 1)).Shuffle(n, func(i, j int) { random[i], random[j] = random[j], random[i] })
	for _, test := range []struct {
		name string
		keys []cache.Key
		part int
	}{
		{"1", keys, 1},
		{"10", keys, 10},
		{"100", keys, 100},
		{"1000", keys, 1000},
		{"10000", keys, 10_000},
		{"10000 in random order", random, 10_000},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			before := cpuTime(b)
			for done := 0; done < b.N; {
				from := done % n
				to := min(from+test.part, n, from+b.N-done)
				_, found, err := answers.Get(b.Context(), test.keys[from:to])
				if err != nil || slices.Contains(found, false) {
					b.Fatal(err)
				}
				done += to - from
			}
			b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

// BenchmarkScores writes 26,250 blocks of 250 bytes in one transaction, and
// reads them at once. An operation is a block.
func BenchmarkScores(b *testing.B) {
	const n = 26_250
	s := cache.NewScores(open(b, filepath.Join(b.TempDir(), "answers.db")))
	keys, values := make([][32]byte, n), make([][]byte, n)
	for i := range keys {
		keys[i] = newEntry(i).Request.Key()
		values[i] = []byte(strings.Repeat(string(rune('a'+i%26)), 250))
	}
	run := func(name string, do func() error) {
		b.Run(name, func(b *testing.B) {
			before := cpuTime(b)
			for done := 0; done < b.N; done += n {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
			whole := (b.N + n - 1) / n * n
			b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(whole), "cpu-ns/block")
		})
	}
	run("write", func() error { return s.Put(b.Context(), keys, values) })
	run("replace", func() error { return s.Put(b.Context(), keys, values) })
	run("read", func() error {
		got, err := s.Get(b.Context(), keys)
		if err == nil && len(got[n-1]) != 250 {
			b.Error("a block is missing")
		}
		return err
	})
}
