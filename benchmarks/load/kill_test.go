package load_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
)

// full reports whether to run at the size that load.sh uses.
func full() bool { return os.Getenv("REFRACT_LOAD") == "full" }

// stored returns the prompts whose answers a cache holds.
func stored(t *testing.T, path string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for r := range storedRequests(t, path) {
		out[r.Prompt] = true
	}
	return out
}

// storedRequests returns the requests whose answers a cache holds, if the cache exists.
func storedRequests(t *testing.T, path string) iter.Seq[cache.Request] {
	t.Helper()
	return func(yield func(cache.Request) bool) {
		if _, err := os.Stat(path); os.IsNotExist(err) {
			return
		}
		s, err := cache.Open(t.Context(), path)
		require.NoError(t, err)
		defer s.Close()
		for e, err := range cache.NewAnswers(s).Entries(t.Context()) {
			require.NoError(t, err)
			if !yield(e.Request) {
				return
			}
		}
	}
}

// killing is the number of concurrent calls in the tests that kill.
const killing = 16

// toBeKilled runs a job to its end, which stores every answer that it asks for, and starts
// the server for the runs that will be killed.
func toBeKilled(t *testing.T) (j *job, srv *server, wall time.Duration, answers int) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs kill -9")
	}
	j = newJob(t, 100, "--concurrency", fmt.Sprint(killing))
	whole := startServer(t, "-latency", "5ms", "-log")
	wall = j.run(t, whole.url, "whole.sqlite", "whole.jsonl").wall
	answers = whole.stats(t).Calls
	// Without resampling, a prompt is sent once, so a second call is noticed.
	if answers != 10*j.segments || answers != len(stored(t, filepath.Join(j.dir, "whole.sqlite"))) {
		t.Fatalf("the undisturbed run made %d calls, want 10 for a segment, all of them stored", answers)
	}
	return j, startServer(t, "-latency", "5ms", "-log"), wall, answers
}

// fewCalls checks that the kills of a round lost at most what was in flight.
func fewCalls(t *testing.T, calls, answers, kills int) {
	t.Helper()
	if calls > answers+kills*2*killing {
		t.Errorf("%d calls for %d answers and %d kills with at most %d calls in flight, and as many answers on their way to the store", calls, answers, kills, killing)
	}
}

// Two processes on one cache are killed independently at random moments, and restarted.
// Neither asks again for a stored answer, and both produce the whole output.
func TestTwoProcessesKilled(t *testing.T) {
	kills := 3
	if full() {
		kills = 60
	}
	j, srv, wall, least := toBeKilled(t)
	rng := rand.New(rand.NewPCG(7, 8))
	done, rounds := 0, 0
	for ; done < kills; rounds++ {
		shared := fmt.Sprintf("shared%d.sqlite", rounds)
		before, inRound := srv.stats(t).Calls, 0
		outputs := [2]string{fmt.Sprintf("a%d.jsonl", rounds), fmt.Sprintf("b%d.jsonl", rounds)}
		var runs [2]*run
		for i, output := range outputs {
			runs[i] = j.start(t, srv.url, shared, output)
		}
		for runs[0] != nil || runs[1] != nil {
			time.Sleep(time.Duration(rng.Int64N(int64(wall) / 6)))
			i := rng.IntN(2)
			r := runs[i]
			if r == nil {
				continue
			}
			known, called := stored(t, filepath.Join(j.dir, shared)), len(srv.calls(t))
			// From here on nobody asks for what is stored now, except in calls that have begun.
			if r.kill(t) {
				inRound++
				if _, err := os.Stat(filepath.Join(j.dir, outputs[i])); err == nil {
					t.Log("killed after its last step")
					runs[i] = nil
				} else {
					runs[i] = j.start(t, srv.url, shared, outputs[i])
				}
			} else {
				runs[i] = nil
			}
			for _, prompt := range srv.calls(t)[called:] {
				assert.False(t, known[prompt], "an answer that was stored is asked for again: %q", prompt)
			}
			require.LessOrEqual(t, inRound, 20*kills, "no progress")
			if inRound >= 8 { // let both finish
				for i, r := range runs {
					if r != nil {
						r.wait(t)
						runs[i] = nil
					}
				}
			}
		}
		done += inRound
		for _, output := range outputs {
			j.same(t, output, "whole.jsonl")
		}
		assert.Equal(t, least, len(stored(t, filepath.Join(j.dir, shared))))
		fewCalls(t, srv.stats(t).Calls-before, least, inRound)
	}
	t.Logf("%d kills of two processes in %d runs; %d calls for %d answers", done, rounds, srv.stats(t).Calls, rounds*least)
}
