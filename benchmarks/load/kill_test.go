package load_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/refract-eval/refract/cache"
)

// full reports whether all is to be done at the size that load.sh asks for.
func full() bool { return os.Getenv("REFRACT_LOAD") == "full" }

// stored are the prompts whose answers a cache holds.
func stored(t *testing.T, path string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return out
	}
	s, err := cache.OpenSQLite(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for e, err := range cache.NewAnswers(s).Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		out[e.Request.Prompt] = true
	}
	return out
}

// The program is killed with -9 at random moments and started again until it
// is done, time after time. No answer that was stored is asked for again, and
// the output is that of a run that was never killed.
func TestKilled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs kill -9")
	}
	kills := 10
	if full() {
		kills = 50
	}
	const concurrency = 16
	j := newJob(t, 100, "--concurrency", fmt.Sprint(concurrency))
	whole := startServer(t, "-latency", "5ms", "-log")
	wall := j.run(t, whole.url, "whole.sqlite", "whole.jsonl").wall
	least := whole.stats(t).Calls
	// Without resampling, a prompt is sent once, so that a second time shows.
	if least != 10*j.segments || least != len(stored(t, filepath.Join(j.dir, "whole.sqlite"))) {
		t.Fatalf("the undisturbed run made %d calls, want 10 for a segment, all of them stored", least)
	}

	srv := startServer(t, "-latency", "5ms", "-log")
	rng := rand.New(rand.NewPCG(5, 6))
	done, rounds := 0, 0
	for ; done < kills; rounds++ {
		name := fmt.Sprintf("killed%d", rounds)
		file, output := filepath.Join(j.dir, name+".sqlite"), filepath.Join(j.dir, name+".jsonl")
		before, inRound := srv.stats(t).Calls, 0
		for finished := false; !finished; {
			known, called := stored(t, file), srv.stats(t).Calls
			r := j.start(t, srv.url, name+".sqlite", name+".jsonl")
			moment := time.NewTimer(time.Duration(rng.Int64N(int64(wall) / 2)))
			select {
			case err := <-r.ended:
				if err != nil {
					t.Fatalf("expand: %v\n%s", err, tail(r.stderr.String()))
				}
				finished = true
			case <-moment.C:
				if err := r.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
					t.Fatal(err)
				}
				finished = <-r.ended == nil // it may have ended in the meantime
				inRound++
			}
			moment.Stop()
			for _, prompt := range srv.calls(t)[called:] {
				if known[prompt] {
					t.Errorf("an answer that was stored is asked for again: %q", prompt)
				}
			}
			if _, err := os.Stat(output); err == nil && !finished {
				t.Log("killed after its last step")
				finished = true
			}
			if inRound > 20*kills {
				t.Fatal("no progress")
			}
		}
		done += inRound
		j.same(t, name+".jsonl", "whole.jsonl")
		if calls := srv.stats(t).Calls - before; calls > least+inRound*2*concurrency {
			t.Errorf("%d calls for %d answers and %d kills with at most %d calls in flight, and as many answers on their way to the store", calls, least, inRound, concurrency)
		}
	}
	t.Logf("%d kills in %d runs of %v each; %d calls for %d answers", done, rounds, wall.Round(time.Millisecond), srv.stats(t).Calls, rounds*least)
}
