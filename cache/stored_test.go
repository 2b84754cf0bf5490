package cache_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
)

// Files of earlier programs can be read: testdata/version3.sqlite is one with the entries of
// version3.jsonl.
func TestStoredBefore(t *testing.T) {
	entries, err := os.ReadFile(filepath.Join("testdata", "version3.jsonl"))
	require.NoError(t, err)
	want := cache.NewMemory()
	_, err = cache.Import(t.Context(), bytes.NewReader(entries), want)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "old.db")
	rewrite(t, filepath.Join("testdata", "version3.sqlite"), file, func(b []byte) []byte { return b })
	fresh := open(t, filepath.Join(t.TempDir(), "new.db"))
	_, err = cache.Import(t.Context(), bytes.NewReader(entries), fresh)
	require.NoError(t, err)
	for name, s := range map[string]*cache.Database{"read only": open(t, file, cache.ReadOnly()), "writable": open(t, file), "new": fresh} {
		n := 0
		for record, err := range want.Records(t.Context(), "") {
			require.NoError(t, err)
			n++
			if got, err := s.Get(t.Context(), []cache.Key{record.Key}); err != nil || !bytes.Equal(got[0], record.Value) {
				t.Errorf("%s: record %s is %q (%v), want %q", name, record.Key, got[0], err, record.Value)
			}
		}
		verified(t, s, int64(n))
	}
}
