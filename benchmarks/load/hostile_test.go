//go:build unix

package load_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A server whose answers never end, fast or slow, costs a run little memory, and ends it
// with an error that names the server.
func TestEndlessAnswers(t *testing.T) {
	for endless, want := range map[string]string{"flood": "gave an answer of more than", "drip": "gave no whole answer within 2s"} {
		j := newJob(t, 200, "--concurrency", "200", "--timeout", "2s", "--retries", "0")
		if endless == "flood" {
			j.flags[3] = "1m"
		}
		r := j.start(t, startServer(t, "-endless", endless).url, "c.sqlite", "out.jsonl")
		err := <-r.ended
		said := r.stderr.String()
		if err == nil || !strings.Contains(said, want) || !strings.Contains(said, "http://127.0.0.1:") {
			t.Errorf("%s: %v\n%s", endless, err, tail(said))
		}
		_, err = os.Stat(filepath.Join(j.dir, "out.jsonl"))
		assert.Error(t, err, "%s: there is an output", endless)
		// The client's answers share 256 MiB, not counting garbage and the program itself; when
		// garbage is collected depends on the machine: it took 0.5 to 0.8 GB at rest, and 1.9 GB
		// beside other work. Without a bound they would take 12.8 GB.
		if peak := r.peak(); peak > 4000 {
			t.Errorf("%s: %.0f MB", endless, peak)
		} else {
			t.Logf("%s: %.0f MB, %v", endless, peak, r.wall.Round(10*time.Millisecond))
		}
	}
}

// A second signal ends a run that waits for a server, at once.
func TestSecondSignal(t *testing.T) {
	j := newJob(t, 100, "--concurrency", "16")
	srv := startServer(t, "-latency", "1h")
	r := j.start(t, srv.url, "c.sqlite", "out.jsonl")
	for srv.stats(t).Calls < 16 {
		time.Sleep(5 * time.Millisecond)
	}
	for _, wait := range []time.Duration{time.Second, 0} {
		require.NoError(t, r.cmd.Process.Signal(syscall.SIGTERM))
		time.Sleep(wait)
	}
	<-r.ended
	if said := r.stderr.String(); r.cmd.ProcessState.ExitCode() != 130 ||
		!strings.Contains(said, "waiting for 16 calls; press again") || !strings.Contains(said, "this command continues:") {
		t.Errorf("exit code %d\n%s", r.cmd.ProcessState.ExitCode(), said)
	}
}
