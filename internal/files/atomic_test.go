//go:build unix

package files_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/files"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	st, err := os.Stat(path)
	require.NoError(t, err)
	return st.Mode().Perm()
}

// setMask sets the mask of the process; the tests here do not run in parallel.
func setMask(t *testing.T, mask int) {
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

func create(t *testing.T, path, content string) *files.File {
	t.Helper()
	f, err := files.Create(path)
	require.NoError(t, err)
	f.WriteString(content)
	return f
}

func TestCommitAndAbort(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	f := create(t, path, "first")
	if got := names(t, dir); len(got) != 1 || got[0] == "out" {
		t.Fatalf("before Commit: %v", got)
	}
	require.NoError(t, f.Commit())
	f.Abort()
	f = create(t, path, strings.Repeat("second", 1<<15))
	f.Abort()
	f.Abort()
	b, _ := os.ReadFile(path)
	assert.Equal(t, "first", string(b), "after Abort: %.20q", b)
	got := names(t, dir)
	assert.True(t, slices.Equal(got, []string{"out"}), "left: %v", got)
}

func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		mask     int
		existing fs.FileMode // 0: none
		want     fs.FileMode
	}{
		{0o022, 0, 0o644},
		{0o077, 0, 0o600},
		{0o002, 0, 0o664},
		{0o022, 0o600, 0o600},
		{0o077, 0o664, 0o664},
	} {
		setMask(t, tt.mask)
		path := filepath.Join(dir, fmt.Sprintf("%o-%o", tt.mask, tt.existing))
		if tt.existing != 0 {
			require.NoError(t, os.WriteFile(path, nil, 0o666))
			require.NoError(t, os.Chmod(path, tt.existing))
		}
		f := create(t, path, "x")
		for _, name := range names(t, dir) {
			if strings.HasSuffix(name, ".tmp") && mode(t, filepath.Join(dir, name))&^tt.want != 0 {
				t.Errorf("%s: the temporary file has the mode %o", path, mode(t, filepath.Join(dir, name)))
			}
		}
		require.NoError(t, f.Commit())
		assert.Equal(t, tt.want, mode(t, path), "%s: mode", path)
		folder, err := files.CreateFolder(path + "-folder")
		require.NoError(t, err)
		require.NoError(t, folder.Commit())
		if got, want := mode(t, path+"-folder"), 0o777&^fs.FileMode(tt.mask); got != want {
			t.Errorf("folder: mode %o, want %o", got, want)
		}
	}
}

func TestLinksAndDevices(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(target, []byte("old"), 0o666))
	require.NoError(t, os.Symlink("target", link))
	require.NoError(t, writeText(link, "new"))
	to, err := os.Readlink(link)
	assert.True(t, err == nil && to == "target", "the link is %q, %v", to, err)
	b, _ := os.ReadFile(target)
	assert.Equal(t, "new", string(b), "the file of the link has %q", b)
	require.NoError(t, os.Remove(target))
	require.NoError(t, writeText(link, "made"))
	b, _ = os.ReadFile(target)
	assert.Equal(t, "made", string(b), "a link to nothing: its file has %q", b)
	folder := filepath.Join(dir, "folder")
	require.NoError(t, errors.Join(os.Mkdir(folder, 0o777), os.Symlink("folder", link+"2"), os.Symlink("none", link+"3")))
	for _, name := range []string{link + "2", link + "3"} {
		d, err := files.CreateFolder(name)
		require.NoError(t, err)
		require.NoError(t, errors.Join(d.Write("x", func(io.Writer) error { return nil }), d.Commit()))
		_, err = os.Readlink(name)
		assert.NoError(t, err, "the link to a folder is replaced")
	}
	got := names(t, folder)
	assert.True(t, slices.Equal(got, []string{"x"}), "the folder of the link has %v", got)
	assert.NoError(t, writeText(os.DevNull, "x"))
	if _, err := os.Stat("/dev/full"); err == nil {
		err := writeText("/dev/full", "x")
		if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "/dev/full cannot be written: ") {
			t.Errorf("a full device: %v", err)
		}
	}
}

func TestErrorsNameTheOutput(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		dir:                               dir + " is a folder; name a file in it",
		filepath.Join(dir, "none", "out"): "there is no folder " + filepath.Join(dir, "none"),
	} {
		_, err := files.Create(path)
		assert.ErrorContains(t, err, want, "%s", path)
	}
	refused := files.CannotCreate("out", filepath.Join(dir, "out"), &fs.PathError{Op: "open", Path: ".out.tmp", Err: syscall.EACCES})
	want := "out cannot be written: permission denied: make the folder " + dir + " writable, or choose another place"
	assert.Equal(t, want, refused.Error(), "no permission: %v", refused)
	if _, err := os.Stat("/proc/self"); err == nil {
		_, err := files.CreateFolder("/proc/none")
		assert.True(t, err != nil && !strings.Contains(err.Error(), "there is no folder"), "a folder in /proc: %v", err)
	}
	out := filepath.Join(dir, "out")
	f := create(t, out, "x")
	require.NoError(t, os.MkdirAll(filepath.Join(out, "in"), 0o777))
	if err := f.Commit(); err == nil || strings.Contains(err.Error(), ".tmp") || !strings.Contains(err.Error(), out) {
		t.Errorf("a folder in the way: %v", err)
	}
	f.Abort()
	_, err := files.CreateFolder(out)
	assert.ErrorContains(t, err, "has something in it", "a full folder in the way")
	require.NoError(t, os.Remove(filepath.Join(out, "in")))
	d, err := files.CreateFolder(out)
	require.NoError(t, err)
	require.NoError(t, d.Write("in/x", func(io.Writer) error { return nil }))
	if err := d.Write("in/x/y", nil); err == nil || strings.Contains(err.Error(), ".tmp") || !strings.Contains(err.Error(), out) {
		t.Errorf("a file in a file: %v", err)
	}
	require.NoError(t, os.Mkdir(filepath.Join(out, "late"), 0o777))
	err = d.Commit()
	assert.True(t, err != nil && !strings.Contains(err.Error(), ".tmp"), "a full folder in the way: %v", err)
	d.Abort()
	got := names(t, dir)
	assert.True(t, slices.Equal(got, []string{"out"}), "left: %v", got)
}

func TestStream(t *testing.T) {
	var b bytes.Buffer
	f := files.Stream(&b, "standard output")
	f.WriteString("x")
	err := f.Commit()
	assert.True(t, err == nil && b.String() == "x", "%q, %v", b.String(), err)
	f.Abort()

	// Abort writes nothing if nothing was written before, and else completes the row.
	for rows, want := range map[int]int{1: 0, 10000: 10000} {
		b.Reset()
		f = files.Stream(&b, "standard output")
		for range rows {
			f.WriteString("a row of text\n")
		}
		f.Abort()
		if got := strings.Count(b.String(), "a row of text\n"); got != want || b.Len() != 14*want {
			t.Errorf("%d rows, then Abort: %d whole rows of %d bytes", rows, got, b.Len())
		}
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	require.NoError(t, os.Mkdir(path, 0o700))
	d, err := files.CreateFolder(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(d.Path(), "in"), nil, 0o666))
	require.NoError(t, d.Commit())
	d.Abort()
	if got := names(t, path); !slices.Equal(got, []string{"in"}) || mode(t, path) != 0o700 {
		t.Errorf("%v, mode %o", got, mode(t, path))
	}
}

// Leftovers of killed processes are removed; files of living processes and files of
// other names stay.
func TestStaleFiles(t *testing.T) {
	dir := t.TempDir()
	stale := filepath.Join(dir, ".out.0123abcd.tmp")
	staleFolder := filepath.Join(dir, ".out.89abcdef.tmp")
	others := []string{".out.0123abcde.tmp", ".out.0123abcg.tmp", ".out.x.0123abcd.tmp", ".out2.0123abcd.tmp", "out.0123abcd.tmp"}
	for _, name := range append([]string{stale}, others...) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(name)), []byte("x"), 0o666))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(staleFolder, "in"), 0o777))
	path := filepath.Join(dir, "out")
	living := create(t, path, "living")
	for _, gone := range []string{stale, staleFolder} {
		_, err := os.Lstat(gone)
		assert.ErrorIs(t, err, fs.ErrNotExist, "%s is still there", gone)
	}
	require.NoError(t, writeText(path, "second"))
	assert.NoError(t, living.Commit(), "the temporary file of a living process is gone")
	want := append([]string{"out"}, others...)
	slices.Sort(want)
	got := names(t, dir)
	assert.True(t, slices.Equal(got, want), "there are %v, want %v", got, want)
}

func writeText(path, text string) error {
	f, err := files.Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := io.WriteString(f, text); err != nil {
		return err
	}
	return f.Commit()
}
