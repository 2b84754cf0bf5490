package cache_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
)

// lock keeps a file locked through another connection until the test ends.
func lock(t testing.TB, file string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, errors.Join(conn.Close(), db.Close()))
	})
	for _, s := range statements {
		if _, err := conn.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestLocked(t *testing.T) {
	file := filled(t, 1)
	s := open(t, file, cache.BusyTimeout(50*time.Millisecond))
	lock(t, file, "BEGIN EXCLUSIVE")
	wantError(t, putEntry(t.Context(), s, newEntry(5)), cache.ErrLocked, file, "another file")
	// Readers of a log do not wait for a writer.
	if _, ok, err := getAnswer(t.Context(), s, newEntry(0).Request.Key()); err != nil || !ok {
		t.Errorf("Get = %v, %v", ok, err)
	}
}

func TestLockedAtOpen(t *testing.T) {
	file := filled(t, 1)
	lock(t, file, "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "COMMIT")
	for _, opts := range [][]cache.Option{nil, {cache.ReadOnly()}} {
		_, err := cache.Open(t.Context(), file, append(opts, cache.BusyTimeout(50*time.Millisecond))...)
		wantError(t, err, cache.ErrLocked, file)
	}
}

// Waiting for a lock ends with the context, long before the busy timeout. If it does not,
// the test times out.
func TestCancelWhileLocked(t *testing.T) {
	file := filled(t, 1)
	s := open(t, file, cache.BusyTimeout(time.Hour))
	lock(t, file, "BEGIN EXCLUSIVE")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			if err := putEntry(ctx, s, newEntry(10+i)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Put = %v, want the context's error", err)
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil { // the writer has given up, too
		t.Error(err)
	}
}

func TestCancelOpenWhileLocked(t *testing.T) {
	file := filled(t, 1)
	lock(t, file, "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "COMMIT")
	for _, opts := range [][]cache.Option{nil, {cache.ReadOnly()}} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := cache.Open(ctx, file, append(opts, cache.BusyTimeout(time.Hour))...)
		wantError(t, err, context.DeadlineExceeded, file)
	}
}
