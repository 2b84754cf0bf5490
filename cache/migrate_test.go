package cache_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/refract-eval/refract/cache"
)

// older returns a file of version 1 or 2, as the program of that version left
// it: testdata/version2.sqlite, whose entries are those of version2.jsonl.
func older(t *testing.T, version int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "old.db")
	rewrite(t, filepath.Join("testdata", "version2.sqlite"), file, func(b []byte) []byte { return b })
	if version == 1 {
		execute(t, file, "DROP TABLE owners", "DROP TABLE claims", "PRAGMA user_version = 1")
	}
	return file
}

func version(t *testing.T, file string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// wantOlder wants the entries of an older version, and those of some numbers.
func wantOlder(t *testing.T, s *cache.Database, further ...int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "version2.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := cache.NewMemory()
	if _, err := cache.Import(t.Context(), bytes.NewReader(b), want); err != nil {
		t.Fatal(err)
	}
	for _, i := range further {
		if err := putEntry(t.Context(), want, newEntry(i)); err != nil {
			t.Fatal(err)
		}
	}
	var keys []cache.Key
	var wanted []cache.Answer
	for e, err := range cache.NewAnswers(want).Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		keys, wanted = append(keys, e.Request.Key()), append(wanted, e.Answer)
	}
	if answers, _, err := cache.NewAnswers(s).Get(t.Context(), keys); err != nil || !slices.Equal(answers, wanted) {
		t.Errorf("Get = %+v, %v, want %+v", answers, err, wanted)
	}
	var got, due bytes.Buffer
	if _, err := cache.Export(t.Context(), &got, s); err != nil {
		t.Fatal(err)
	}
	if _, err := cache.Export(t.Context(), &due, want); err != nil {
		t.Fatal(err)
	}
	if got.String() != due.String() {
		t.Errorf("got  %s\nwant %s", &got, &due)
	}
	if r, err := s.Verify(t.Context()); err != nil || len(r.Problems) > 0 || r.Entries != int64(len(keys)) {
		t.Errorf("Verify = %+v, %v", r, err)
	}
	if st, err := s.Stats(t.Context()); err != nil || st.Entries != int64(len(keys)) || len(st.Records) != 1 || st.Records[0] != (cache.Count{Name: "answer", Entries: st.Entries}) {
		t.Errorf("Stats = %+v, %v", st, err)
	}
}

func TestMigrate(t *testing.T) {
	for old := 1; old <= 2; old++ {
		file := older(t, old)
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// A reader leaves it as it is.
		r := open(t, file, cache.ReadOnly())
		wantOlder(t, r)
		if st, err := r.Stats(t.Context()); err != nil || st.SchemaVersion != old {
			t.Errorf("Stats = %+v, %v", st, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) || version(t, file) != old {
			t.Errorf("reading has changed the file (%v)", err)
		}

		s := open(t, file)
		wantOlder(t, s)
		granted, err := s.Claim(t.Context(), []cache.Key{newEntry(29).Request.Key(), newEntry(100).Request.Key()})
		if err != nil || granted[0] || !granted[1] {
			t.Errorf("Claim = %v, %v", granted, err)
		}
		if err := errors.Join(putEntry(t.Context(), s, newEntry(100)), s.Close()); err != nil {
			t.Fatal(err)
		}
		if got := version(t, file); got != 3 {
			t.Errorf("version %d", got)
		}
		wantOlder(t, open(t, file), 100)
	}
}

// The damage of an older version is damage still.
func TestMigrateDamaged(t *testing.T) {
	file := older(t, 2)
	execute(t, file, "UPDATE answers SET text = 'better' WHERE text = 'answer 7'", "UPDATE answers SET model = 'better' WHERE text = 'answer 8'")
	for _, opts := range [][]cache.Option{{cache.ReadOnly()}, nil} {
		s := open(t, file, opts...)
		if r, err := s.Verify(t.Context()); err != nil || len(r.Problems) != 2 {
			t.Errorf("Verify = %+v, %v", r, err)
		}
		_, _, err := getAnswer(t.Context(), s, newEntry(7).Request.Key())
		wantError(t, err, cache.ErrCorrupt, file)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A file on which a process of an older version is at work stays as it is.
func TestMigrateBesideOlder(t *testing.T) {
	file := older(t, 2)
	execute(t, file, fmt.Sprintf("INSERT INTO owners VALUES (1, '', %d)", time.Now().Add(time.Minute).UnixMilli()))
	_, err := cache.OpenSQLite(t.Context(), file)
	wantError(t, err, cache.ErrLocked, file, "older version", "wait for it")
	if got := version(t, file); got != 2 {
		t.Errorf("version %d", got)
	}
	wantOlder(t, open(t, file, cache.ReadOnly()))
	execute(t, file, fmt.Sprintf("UPDATE owners SET expires = %d", time.Now().UnixMilli()))
	wantOlder(t, open(t, file))
}

func TestMigrateTwice(t *testing.T) {
	for old := 1; old <= 2; old++ {
		file := older(t, old)
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				s, err := cache.OpenSQLite(t.Context(), file)
				if err != nil {
					t.Error(err)
					return
				}
				if err := errors.Join(putEntry(t.Context(), s, newEntry(100+i)), s.Close()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		wantOlder(t, open(t, file), 100, 101, 102, 103)
	}
	// And so do processes.
	file := older(t, 1)
	execute(t, file, "DELETE FROM answers")
	shareBetweenProcesses(t, file)
	if got := version(t, file); got != 3 {
		t.Errorf("version %d", got)
	}
}

// A migration that fails leaves the file as it was.
func TestMigrateFails(t *testing.T) {
	file := older(t, 1)
	execute(t, file, "CREATE TABLE records (x)") // in the way
	if _, err := cache.OpenSQLite(t.Context(), file); err == nil {
		t.Fatal("the file was opened")
	}
	if got := version(t, file); got != 1 {
		t.Errorf("version %d", got)
	}
	wantOlder(t, open(t, file, cache.ReadOnly()))
}
