package cache_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/cache/cachetest"
)

// version1 is the schema as the program wrote it at version 1. It stays as it
// is, whatever the program does later.
const version1 = `
CREATE TABLE answers (
	key               BLOB NOT NULL PRIMARY KEY,
	kind              TEXT NOT NULL,
	model             TEXT NOT NULL,
	revision          TEXT NOT NULL,
	prompt            TEXT NOT NULL,
	params            TEXT NOT NULL,
	sample            INTEGER NOT NULL,
	text              TEXT,
	finish_reason     TEXT NOT NULL,
	served_model      TEXT NOT NULL,
	prompt_tokens     INTEGER NOT NULL,
	completion_tokens INTEGER NOT NULL,
	created           INTEGER,
	digest            BLOB NOT NULL
) STRICT`

// filledVersion1 returns a file of version 1 with n entries.
func filledVersion1(t *testing.T, n int) string {
	t.Helper()
	// The rows have not changed since, so this program may write them.
	newer := filled(t, n)
	file := filepath.Join(t.TempDir(), "old.db")
	execute(t, file, "PRAGMA journal_mode = WAL", version1,
		fmt.Sprintf("PRAGMA application_id = %d", 0x52465243), "PRAGMA user_version = 1")
	execute(t, newer, "ATTACH '"+file+"' AS old; INSERT INTO old.answers SELECT * FROM main.answers; DETACH old")
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

func wantAll(t *testing.T, s cache.Backend, n int) {
	t.Helper()
	keys := make([]cache.Key, n)
	for i := range keys {
		keys[i] = cachetest.Entry(i).Request.Key()
	}
	answers, found, err := s.GetMany(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		e, ok, err := s.Get(t.Context(), keys[i])
		if err != nil || !ok || e != cachetest.Entry(i) || !found[i] || answers[i] != e.Answer {
			t.Errorf("entry %d: Get = %+v, %v, %v; GetMany = %+v, %v", i, e, ok, err, answers[i], found[i])
		}
	}
	if r, err := s.Verify(t.Context()); err != nil || len(r.Problems) > 0 || r.Entries != int64(n) {
		t.Errorf("Verify = %+v, %v", r, err)
	}
}

func TestMigrateVersion1(t *testing.T) {
	file := filledVersion1(t, 30)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// A reader leaves it as it is.
	r := open(t, file, cache.ReadOnly())
	wantAll(t, r, 30)
	if st, err := r.Stats(t.Context()); err != nil || st.SchemaVersion != 1 || st.Entries != 30 {
		t.Errorf("Stats = %+v, %v", st, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) || version(t, file) != 1 {
		t.Errorf("reading has changed the file (%v)", err)
	}

	s := open(t, file)
	wantAll(t, s, 30)
	if st, err := s.Stats(t.Context()); err != nil || st.SchemaVersion != 2 {
		t.Errorf("Stats = %+v, %v", st, err)
	}
	granted, err := s.Claim(t.Context(), []cache.Key{cachetest.Entry(29).Request.Key(), cachetest.Entry(30).Request.Key()})
	if err != nil || granted[0] || !granted[1] {
		t.Errorf("Claim = %v, %v", granted, err)
	}
	if err := errors.Join(s.Put(t.Context(), cachetest.Entry(30)), s.Close()); err != nil {
		t.Fatal(err)
	}
	if got := version(t, file); got != 2 {
		t.Errorf("version %d", got)
	}
	wantAll(t, open(t, file), 31)
}

// A process of version 1 that has the file open goes on storing.
func TestMigrateBesideVersion1(t *testing.T) {
	file := filledVersion1(t, 1)
	old, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	insert, err := old.PrepareContext(t.Context(), "INSERT INTO answers SELECT zeroblob(32), kind, model, revision, prompt, params, sample, text, finish_reason, served_model, prompt_tokens, completion_tokens, created, digest FROM answers LIMIT 1")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, file)
	if _, err := insert.ExecContext(t.Context()); err != nil {
		t.Error(err)
	}
	if st, err := s.Stats(t.Context()); err != nil || st.Entries != 2 {
		t.Errorf("Stats = %+v, %v", st, err)
	}
	if err := insert.Close(); err != nil {
		t.Error(err)
	}
}

func TestMigrateTwice(t *testing.T) {
	for range 5 {
		file := filledVersion1(t, 3)
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				s, err := cache.OpenSQLite(t.Context(), file)
				if err != nil {
					t.Error(err)
					return
				}
				if err := errors.Join(s.Put(t.Context(), cachetest.Entry(3+i)), s.Close()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		wantAll(t, open(t, file), 7)
	}
	// And so do processes.
	file := filledVersion1(t, 0)
	shareBetweenProcesses(t, file)
	if got := version(t, file); got != 2 {
		t.Errorf("version %d", got)
	}
}

// A migration that fails leaves the file as it was.
func TestMigrateFails(t *testing.T) {
	file := filledVersion1(t, 3)
	execute(t, file, "CREATE TABLE claims (x)") // in the way
	if _, err := cache.OpenSQLite(t.Context(), file); err == nil {
		t.Fatal("the file was opened")
	}
	if got := version(t, file); got != 1 {
		t.Errorf("version %d", got)
	}
	wantAll(t, open(t, file, cache.ReadOnly()), 3)
}
