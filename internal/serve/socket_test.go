//go:build unix

package serve

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// abandon leaves a socket as a server does that was killed.
func abandon(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	l.Close()
}

// What a server has left is replaced, and nothing else.
func TestLeftSocket(t *testing.T) {
	for name, c := range map[string]struct {
		before func(t *testing.T, path string)
		want   string // in the error; "" for none
	}{
		"left": {func(t *testing.T, path string) { abandon(t, path, 0o600) }, ""},
		"live": {func(t *testing.T, path string) {
			l, err := ListenUnix(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
		}, "a server answers at "},
		"open to others": {func(t *testing.T, path string) { abandon(t, path, 0o666) }, "no socket of a server of yours"},
		"file": {func(t *testing.T, path string) {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "no socket of a server of yours"},
		"link": {func(t *testing.T, path string) {
			abandon(t, path+"s", 0o600)
			if err := os.Symlink(path+"s", path); err != nil {
				t.Fatal(err)
			}
		}, "no socket of a server of yours"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s")
			c.before(t, path)
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			l, err := ListenUnix(path)
			after, gone := os.Lstat(path)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || gone != nil || !os.SameFile(before, after) {
					t.Error(err, gone)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			conn, err := net.Dial("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			conn.Close()
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A server removes its own socket alone.
func TestReplacedSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	first, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal("the first server has removed the socket of the second:", err)
	}
	conn.Close()
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is there still")
	}
}
