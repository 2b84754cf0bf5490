//go:build unix

package load_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/refract-eval/refract/diversify"
)

// The setting of the throughput: a server of 50 ms at 256 calls at a time
// gives 5,120 answers a second at most.
const (
	latency     = 50 * time.Millisecond
	concurrency = 256
	ideal       = float64(concurrency) / 0.05
)

// size is a size as it is at full size, or a twentieth of it.
func size(n int) int {
	if full() {
		return n
	}
	return n / 20
}

// cpu is what an ended process used.
func (r *run) cpu() time.Duration {
	s := r.cmd.ProcessState
	return s.UserTime() + s.SystemTime()
}

// peak is the most memory that an ended process had, in megabytes, or 0 where
// that is not known.
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

// The whole program, from its start to its end, on one core. What the server
// and the machine give at most is shown by wrk, a load generator in C, in the
// same run, where it is installed.
func BenchmarkThroughput(b *testing.B) {
	j := newJob(b, size(20_000), "--concurrency", fmt.Sprint(concurrency))
	for b.Loop() {
		most := wrk(b, startServer(b, "-latency", latency.String()).url)
		srv := startServer(b, "-latency", latency.String())
		r := j.run(b, srv.url, fmt.Sprintf("%d.sqlite", time.Now().UnixNano()), "out.jsonl")
		s := srv.stats(b)
		report(b, s.Calls, r.wall, r.cpu())
		if most > 0 {
			b.ReportMetric(100*float64(s.Calls)/r.wall.Seconds()/most, "%wrk")
			b.Logf("wrk: %.0f calls/s, %.1f %% of the ideal", most, 100*most/ideal)
		}
		b.ReportMetric(r.peak(), "MB")
		b.Logf("%d calls, %d at most at a time\n%s", s.Calls, s.Most, tail(r.stderr.String()))
	}
}

// wrk measures the calls a second of wrk against a server, at the same number
// of calls at a time and on the program's core, or 0 without wrk.
func wrk(b *testing.B, url string) float64 {
	b.Helper()
	path, err := exec.LookPath("wrk")
	if err != nil {
		b.Log("wrk is not installed: the rate that the machine allows is not known")
		return 0
	}
	script := filepath.Join(b.TempDir(), "post.lua")
	prompt := diversify.Ten()[0].Render("A reference of about as many characters as those of the data, which makes it a fair body.", "")
	lua := fmt.Sprintf("wrk.method = \"POST\"\nwrk.headers[\"Content-Type\"] = \"application/json\"\nwrk.body = %q\n",
		fmt.Sprintf(`{"model":"m","temperature":1,"top_p":0.9,"max_tokens":1024,"messages":[{"role":"user","content":%q}]}`, prompt))
	if err := os.WriteFile(script, []byte(lua), 0o644); err != nil {
		b.Fatal(err)
	}
	cmd := pinned(b, 0, path, "-t1", "-c", fmt.Sprint(concurrency), "-d", fmt.Sprintf("%ds", max(2, size(20))), "-s", script, url+"/chat/completions")
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("wrk: %v\n%s", err, out)
	}
	_, after, _ := strings.Cut(string(out), "Requests/sec:")
	var rate float64
	if _, err := fmt.Sscan(after, &rate); err != nil {
		b.Fatalf("wrk: no rate in %q", out)
	}
	return rate
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
	if calls := srv.stats(b).Calls; calls != answers {
		b.Errorf("the warm runs made %d calls", calls-answers)
	}
	sameFiles(b, filepath.Join(j.dir, "warm.jsonl"), filepath.Join(j.dir, "cold.jsonl"))
}

// A million segments in and out, with one call each, and again from the cache.
func BenchmarkMillion(b *testing.B) {
	j := newJob(b, size(1_000_000), "--concurrency", fmt.Sprint(concurrency), "--prompts", "plain")
	for b.Loop() {
		srv := startServer(b)
		cold := j.run(b, srv.url, "million.sqlite", "out.jsonl")
		warm := j.run(b, srv.url, "million.sqlite", "again.jsonl")
		sameFiles(b, filepath.Join(j.dir, "again.jsonl"), filepath.Join(j.dir, "out.jsonl"))
		b.ReportMetric(cold.peak(), "MB-cold")
		b.ReportMetric(warm.peak(), "MB-warm")
		b.ReportMetric(float64(j.segments)/cold.wall.Seconds(), "cold-segments/s")
		b.ReportMetric(float64(j.segments)/warm.wall.Seconds(), "warm-segments/s")
		b.ReportMetric(0, "ns/op")
		b.Logf("%d segments: %v with calls, %v from the cache", j.segments, cold.wall, warm.wall)
	}
}
