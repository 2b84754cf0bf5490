//go:build unix

package cache

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a file belongs to this user, and no other can write it.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}
