package cache_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"

	"github.com/refract-eval/refract/cache"
)

// rowsVariable is of how many rows a large cache is made, where the answers of a
// test's own number are few.
const rowsVariable = "REFRACT_CACHE_ROWS"

// What goes through all rows holds few of them.
func TestManyRows(t *testing.T) {
	manyRows(t, open(t, filepath.Join(t.TempDir(), "answers.db")))
}

func TestPostgresManyRows(t *testing.T) {
	manyRows(t, openPostgres(t, postgresSchema(t)))
}

func manyRows(t *testing.T, s *cache.Database) {
	rows := 15_000
	if set := os.Getenv(rowsVariable); set != "" {
		var err error
		if rows, err = strconv.Atoi(set); err != nil {
			t.Fatal(err)
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	for from := 0; from < rows; from += 1000 {
		entries := make([]cache.Entry, 0, 1000)
		for n := from; n < min(from+1000, rows); n++ {
			e := realistic(n)
			e.Request.Model = []string{"model-a", "model-b"}[n%2]
			entries = append(entries, e)
		}
		if _, err := cache.NewAnswers(s).Put(t.Context(), entries...); err != nil {
			t.Fatal(err)
		}
	}
	bounded := func(what string, do func(ctx context.Context, look func()) error) {
		t.Helper()
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		before, most, looks := m.HeapAlloc, uint64(0), 0
		var mu sync.Mutex // database/sql looks at contexts from goroutines of its own
		if err := do(t.Context(), func() {
			mu.Lock()
			defer mu.Unlock()
			if looks++; looks%100 == 0 {
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		mu.Lock()
		defer mu.Unlock()
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
		const bound = 6 << 20 // the rows have 700 bytes each
		if most > before+bound {
			t.Errorf("%s of %d rows: the heap grew from %d to %d bytes", what, rows, before, most)
		}
		t.Logf("%s: the heap grew by %d bytes", what, int64(most)-int64(before))
	}
	bounded("export", func(ctx context.Context, look func()) error {
		n, err := cache.Export(ctx, looking{look}, s)
		if err == nil && n != rows {
			t.Errorf("%d rows exported, want %d", n, rows)
		}
		return err
	})
	bounded("prune", func(ctx context.Context, look func()) error {
		done, err := s.Prune(watched{ctx, look}, cache.Prune{Model: "model-a"})
		if err == nil && (done.Entries != int64(rows) || done.Pruned != int64(rows/2)) {
			t.Errorf("Prune = %+v", done)
		}
		return err
	})
	if st, err := s.Stats(t.Context()); err != nil || st.Entries != int64(rows/2) || len(st.Models) != 1 {
		t.Errorf("Stats = %+v, %v", st, err)
	}
}

// realistic returns an entry with a prompt and an answer as long as those of a
// translated sentence and its paraphrase.
func realistic(n int) cache.Entry {
	e := newEntry(n)
	e.Request.Prompt, e.Text = fmt.Sprintf("%0*d", 240, n), fmt.Sprintf("%0*d", 150, n)
	return e
}

// looking calls a function at every write.
type looking struct{ look func() }

func (l looking) Write(p []byte) (int, error) {
	l.look()
	return io.Discard.Write(p)
}

// watched calls a function whenever it is asked for an error, as it is at
// every row.
type watched struct {
	context.Context
	look func()
}

func (w watched) Err() error {
	w.look()
	return w.Context.Err()
}
