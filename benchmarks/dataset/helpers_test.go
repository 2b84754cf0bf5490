package dataset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
)

// folderOf writes files (by slash-separated path) and returns their folder.
func folderOf(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	return dir
}

// collect reads a dataset to its end or its first error.
func collect(ds refract.Dataset) ([]*refract.Segment, error) {
	var all []*refract.Segment
	for s, err := range ds.Segments(context.Background()) {
		if err != nil {
			return all, err
		}
		all = append(all, s)
	}
	return all, nil
}

// openAndCollect returns the first error of opening or reading.
func openAndCollect(ds refract.Dataset, err error) ([]*refract.Segment, error) {
	if err != nil {
		return nil, err
	}
	return collect(ds)
}

// warnings collects a reader's warnings, without the folder's name.
type warnings struct{ all []string }

func (w *warnings) add(v Warning) { w.all = append(w.all, v.String()) }

func (w *warnings) check(t *testing.T, dir string, want ...string) {
	t.Helper()
	var got []string
	for _, v := range w.all {
		got = append(got, strings.ReplaceAll(v, dir+string(filepath.Separator), ""))
	}
	assert.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"), "warnings")
}

// wantError checks the whole message, without the folder's name.
func wantError(t *testing.T, dir string, err error, want string) {
	t.Helper()
	require.Error(t, err, "no error, want %q", want)
	got := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
	got = strings.ReplaceAll(got, dir, "DIR")
	assert.Equal(t, want, got)
}

// realData returns the folder of the real data, or skips the test.
func realData(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("REFRACT_DATA")
	if dir == "" {
		dir = nextToModule(t)
	}
	if _, err := os.Stat(filepath.Join(dir, "mt-metrics-eval-v2")); err != nil {
		t.Skipf("no real data in %q: set REFRACT_DATA to its folder", dir)
	}
	return dir
}

func nextToModule(t testing.TB) string {
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(filepath.Dir(dir), "shared", "data")
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal(errors.New("no go.mod above the test"))
		}
		dir = up
	}
}
