package load_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A server with every kind of failure does not change the result, and costs few calls
// besides the failed ones.
func TestFaults(t *testing.T) {
	segments := 30
	if full() {
		segments = 300
	}
	j := newJob(t, segments, "--concurrency", "64", "--timeout", "2s", "--retries", "12")
	good := startServer(t)
	j.run(t, good.url, "good.sqlite", "good.jsonl")
	least := good.stats(t).Calls

	bad := startServer(t, "-seed", "7", "-faults", "0.2", "-storm", "150", "-slow", "0.05", "-latency", "2ms")
	r := j.run(t, bad.url, "bad.sqlite", "bad.jsonl")
	s := bad.stats(t)
	t.Logf("%d calls for %d answers; %d injected failures: %v\n%s", s.Calls, least, s.failures(), s.Injected, tail(r.stderr.String()))
	j.same(t, "bad.jsonl", "good.jsonl")
	// Every kind must have occurred, or the test shows less than it claims.
	assert.GreaterOrEqual(t, len(s.Injected), 18, "only %d kinds of failures occurred: %v", len(s.Injected), s.Injected)
	assert.LessOrEqual(t, float64(s.Calls), 1.2*float64(least+s.failures()), s.Calls)

	// Everything is stored.
	j.run(t, bad.url, "bad.sqlite", "again.jsonl")
	j.same(t, "again.jsonl", "good.jsonl")
	assert.Equal(t, s.Calls, bad.stats(t).Calls, "a second run made calls")
}
