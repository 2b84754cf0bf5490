//go:build unix

package serve

import (
	"os"
	"syscall"
)

// owned reports whether a file is this user's.
func owned(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
