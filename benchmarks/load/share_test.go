package load_test

import "testing"

// Two processes that share a cache make each call only once, and both produce the whole
// output.
func TestTwoProcesses(t *testing.T) {
	segments := 100
	if full() {
		segments = 1000
	}
	j := newJob(t, segments, "--concurrency", "16")
	alone := startServer(t, "-log")
	j.run(t, alone.url, "alone.sqlite", "alone.jsonl")

	srv := startServer(t, "-latency", "10ms", "-log")
	a := j.start(t, srv.url, "shared.sqlite", "a.jsonl")
	b := j.start(t, srv.url, "shared.sqlite", "b.jsonl")
	a.wait(t)
	b.wait(t)
	j.same(t, "a.jsonl", "alone.jsonl")
	j.same(t, "b.jsonl", "alone.jsonl")
	most := map[string]int{}
	for _, prompt := range alone.calls(t) {
		most[prompt]++
	}
	for _, prompt := range srv.calls(t) {
		if most[prompt]--; most[prompt] < 0 {
			t.Errorf("sent once too often: %q", prompt)
		}
	}
	if got, want := srv.stats(t).Calls, alone.stats(t).Calls; got != want {
		t.Errorf("%d calls for %d answers", got, want)
	}
	t.Logf("%d calls; one process said:\n%s\nthe other:\n%s", srv.stats(t).Calls, tail(a.stderr.String()), tail(b.stderr.String()))
}
