//go:build unix

package cache_test

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime returns the time that this process has computed for.
func cpuTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
