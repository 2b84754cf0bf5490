//go:build unix

package load_test

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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
		if _, err := os.Stat(filepath.Join(j.dir, "out.jsonl")); err == nil {
			t.Errorf("%s: there is an output", endless)
		}
		// The client's answers share 256 MiB, not counting garbage and the program itself; when
		// garbage is collected depends on the machine. Without a bound they would take 12.8 GB.
		if peak := r.peak(); peak > 1500 {
			t.Errorf("%s: %.0f MB", endless, peak)
		} else {
			t.Logf("%s: %.0f MB, %v", endless, peak, r.wall.Round(10*time.Millisecond))
		}
	}
}

// After a signal nothing new begins and calls in flight are finished: every answer that the
// server gave is stored, nothing is asked twice, and the run says how to continue. Closing
// the terminal is also such a signal.
func TestSignals(t *testing.T) {
	j := newJob(t, 100, "--concurrency", "16")
	whole := startServer(t)
	j.run(t, whole.url, "whole.sqlite", "whole.jsonl")
	srv := startServer(t, "-latency", "50ms", "-log")
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}
	if !signal.Ignored(syscall.SIGHUP) { // it is ignored under nohup
		signals = append([]syscall.Signal{syscall.SIGHUP}, signals...)
	}
	for ends := 0; ; ends++ {
		answered := srv.stats(t).Answered
		r := j.start(t, srv.url, "c.sqlite", "out.jsonl")
		ended := false
		var err error
		for !ended && srv.stats(t).Answered < answered+150 {
			select {
			case err = <-r.ended:
				ended = true
			case <-time.After(10 * time.Millisecond):
			}
		}
		if !ended {
			if err := r.cmd.Process.Signal(signals[ends%len(signals)]); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
			err = <-r.ended
		}
		if err == nil { // the signal may come after the run has finished
			if ends == 0 {
				t.Error("the run was not ended early")
			}
			j.same(t, "out.jsonl", "whole.jsonl")
			if got, want := srv.stats(t).Calls, whole.stats(t).Calls; got != want {
				t.Errorf("%d calls for %d answers, after %d signals", got, want, ends)
			}
			return
		}
		if got, want := len(stored(t, filepath.Join(j.dir, "c.sqlite"))), srv.stats(t); got != want.Answered || got != want.Calls {
			t.Fatalf("%d answers are stored of %d calls, %d of them answered", got, want.Calls, want.Answered)
		}
		if said := r.stderr.String(); r.cmd.ProcessState.ExitCode() != 130 || !strings.Contains(said, "this command continues:") {
			t.Fatalf("%v\n%s", err, tail(said))
		}
		if ends > 50 {
			t.Fatal("no progress")
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
		if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		time.Sleep(wait)
	}
	<-r.ended
	if said := r.stderr.String(); r.cmd.ProcessState.ExitCode() != 130 ||
		!strings.Contains(said, "waiting for 16 calls; press again") || !strings.Contains(said, "this command continues:") {
		t.Errorf("exit code %d\n%s", r.cmd.ProcessState.ExitCode(), said)
	}
}
