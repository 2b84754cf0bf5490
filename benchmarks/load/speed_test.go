//go:build unix

package load_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The setting for throughput: a server with 50 ms latency and 256 concurrent calls gives at
// most 5,120 answers a second.
const (
	latency     = 50 * time.Millisecond
	concurrency = 256
	ideal       = float64(concurrency) / 0.05
)

// size returns the full size, or a twentieth of it.
func size(n int) int {
	if full() {
		return n
	}
	return n / 20
}

// cpu returns the CPU time of a finished process.
func (r *run) cpu() time.Duration {
	s := r.cmd.ProcessState
	return s.UserTime() + s.SystemTime()
}

// peak returns the peak memory of a finished process in megabytes, or 0 if unknown.
func (r *run) peak() float64 {
	if u, ok := r.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		return float64(u.Maxrss) / 1000
	}
	return 0
}

func report(b *testing.B, calls int, wall, cpu time.Duration) {
	rate := float64(calls) / wall.Seconds()
	b.ReportMetric(rate, "calls/s")
	b.ReportMetric(100*rate/ideal, "%ideal")
	b.ReportMetric(float64(cpu.Microseconds())/float64(calls), "us-cpu/call")
	b.ReportMetric(0, "ns/op")
}

// The whole program, from start to end, on one core.
func BenchmarkThroughput(b *testing.B) {
	j := newJob(b, size(20_000), "--concurrency", fmt.Sprint(concurrency))
	for b.Loop() {
		srv := startServer(b, "-latency", latency.String())
		r := j.run(b, srv.url, fmt.Sprintf("%d.sqlite", time.Now().UnixNano()), "out.jsonl")
		s := srv.stats(b)
		report(b, s.Calls, r.wall, r.cpu())
		b.ReportMetric(r.peak(), "MB")
		b.Logf("%d calls, %d at most at a time\n%s", s.Calls, s.Most, tail(r.stderr.String()))
	}
}

// A second run of 200,000 calls, all of which are stored.
func BenchmarkWarm(b *testing.B) {
	const runs = 5
	j := newJob(b, size(20_000), "--concurrency", "64")
	srv := startServer(b)
	j.run(b, srv.url, "warm.sqlite", "cold.jsonl")
	answers := srv.stats(b).Calls
	for b.Loop() {
		var best *run
		for range runs {
			if r := j.run(b, srv.url, "warm.sqlite", "warm.jsonl"); best == nil || r.wall < best.wall {
				best = r
			}
		}
		b.ReportMetric(float64(answers)/best.wall.Seconds(), "answers/s")
		b.ReportMetric(float64(best.cpu().Microseconds())/float64(answers), "us-cpu/answer")
		b.ReportMetric(best.peak(), "MB")
		b.ReportMetric(0, "ns/op")
		b.Logf("%d answers in %v, the best of %d runs", answers, best.wall, runs)
	}
	calls := srv.stats(b).Calls
	assert.Equal(b, answers, calls, "the warm runs made %d calls", calls-answers)
	sameFiles(b, filepath.Join(j.dir, "warm.jsonl"), filepath.Join(j.dir, "cold.jsonl"))
}
