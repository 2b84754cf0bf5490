package cache_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
)

// open opens a cache for the duration of a test.
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
	t.Run("memory", func(t *testing.T) { runSuite(t, func(*testing.T) cache.Store { return cache.NewMemory() }) })
	t.Run("sqlite", func(t *testing.T) {
		runSuite(t, func(t *testing.T) cache.Store { return open(t, filepath.Join(t.TempDir(), "answers.db")) })
	})
}

// place returns an opener for a file or a database.
func place(where string) opener {
	return func(t *testing.T, opts ...cache.Option) *cache.Database { return open(t, where, opts...) }
}

func TestConformanceShared(t *testing.T) {
	runShared(t, func(t *testing.T) opener { return place(filepath.Join(t.TempDir(), "answers.db")) })
}
