//go:build linux

package cache_test

import (
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/cache"
)

// A process that is stopped for longer than its lease, at any moment, fails no other process
// and pays for nothing that others have paid for meanwhile. Only the one answer that it was
// waiting for may be paid for twice.
func TestStoppedProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for leases to end")
	}
	const runs, n = 6, 150
	var wg sync.WaitGroup
	var others atomic.Int64 // answers that not the stopped processes paid for
	for run := range runs {
		wg.Go(func() {
			file := filepath.Join(t.TempDir(), "answers.db")
			s := open(t, file, cache.Lease(shortLease))
			cmd, out := start(t, file, paying, 0, n)
			seen := 1 + rand.IntN(40)
			paid := map[int]int{}
			for range seen {
				if i, ok := finished(t, out); ok {
					paid[i]++
				}
			}
			time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond)
			assert.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
			resume := time.AfterFunc(2*shortLease, func() { _ = cmd.Process.Signal(syscall.SIGCONT) })
			defer resume.Stop()
			err := pay(t.Context(), s, 0, n, func(i int) {
				paid[i]++
				others.Add(1)
			})
			assert.NoError(t, err, "run %d: the other process fails: %v", run, err)
			for i, ok := finished(t, out); ok; i, ok = finished(t, out) {
				paid[i]++
			}
			assert.NoError(t, cmd.Wait(), run)
			twice := 0
			for _, times := range paid {
				twice += times - 1
			}
			if len(paid) != n || twice > 1 {
				t.Errorf("run %d: %d of %d answers are paid for, %d of them twice", run, len(paid), n, twice)
			}
		})
	}
	wg.Wait()
	assert.NotZero(t, others.Load(), "no process was stopped for long: the test shows nothing")
}
