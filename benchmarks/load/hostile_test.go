//go:build unix

package load_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A server whose answers never end, be they fast or slow, costs a run little
// memory, and ends it with an error that names the server.
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
		if _, err := os.Stat(filepath.Join(j.dir, "out.jsonl")); err == nil {
			t.Errorf("%s: there is an output", endless)
		}
		// The answers of a client share 256 MiB, before garbage is collected and
		// beside the program itself; how soon it is collected depends on the
		// machine. Without a bound they would take 12.8 GB.
		if peak := r.peak(); peak > 1500 {
			t.Errorf("%s: %.0f MB", endless, peak)
		} else {
			t.Logf("%s: %.0f MB, %v", endless, peak, r.wall.Round(10*time.Millisecond))
		}
	}
}

// A terminal that closes ends a run as a signal to end does: it says how to go
// on, and the next run asks again for no more than was in flight.
func TestHangup(t *testing.T) {
	const concurrency = 16
	j := newJob(t, 100, "--concurrency", fmt.Sprint(concurrency))
	whole := startServer(t)
	j.run(t, whole.url, "whole.sqlite", "whole.jsonl")
	srv := startServer(t, "-latency", "20ms", "-log")
	for ends := 0; ; ends++ {
		r := j.start(t, srv.url, "c.sqlite", "out.jsonl")
		var err error
		select {
		case err = <-r.ended:
		case <-time.After(500 * time.Millisecond):
			if err := r.cmd.Process.Signal(syscall.SIGHUP); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
			err = <-r.ended
		}
		if err == nil { // the signal may come when all is done
			if ends == 0 {
				t.Error("the run was not ended early")
			}
			j.same(t, "out.jsonl", "whole.jsonl")
			if got, want := srv.stats(t).Calls, whole.stats(t).Calls; got > want+ends*concurrency {
				t.Errorf("%d calls for %d answers, after %d ends with at most %d calls in flight", got, want, ends, concurrency)
			}
			return
		}
		if said := r.stderr.String(); !strings.Contains(said, "goes on from there") {
			t.Fatalf("%v\n%s", err, tail(said))
		}
		if ends > 50 {
			t.Fatal("no progress")
		}
	}
}
