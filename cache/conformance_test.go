package cache_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
)

func openMemory(*testing.T) cache.Store { return cache.NewMemory() }

func openSQLite(t *testing.T) cache.Store {
	return open(t, filepath.Join(t.TempDir(), "answers.db"))
}

// open opens a cache file for the duration of a test.
func open(t testing.TB, file string, opts ...cache.Option) *cache.Database {
	t.Helper()
	s, err := cache.Open(t.Context(), file, opts...)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, s.Close(), "Close")
	})
	return s
}

func TestConformance(t *testing.T) {
	for _, store := range []struct {
		name string
		open func(*testing.T) cache.Store
	}{
		{"memory", openMemory},
		{"sqlite", openSQLite},
	} {
		t.Run(store.name, func(t *testing.T) { runSuite(t, store.open) })
	}
}

// place returns an opener for a file or a database.
func place(where string) opener {
	return func(t *testing.T, opts ...cache.Option) *cache.Database {
		s, err := cache.Open(t.Context(), where, opts...)
		if err != nil {
			t.Error(err)
			return nil
		}
		t.Cleanup(func() {
			assert.NoError(t, s.Close(), "Close")
		})
		return s
	}
}

func TestConformanceShared(t *testing.T) {
	runShared(t, func(t *testing.T) opener {
		return place(filepath.Join(t.TempDir(), "answers.db"))
	})
}
