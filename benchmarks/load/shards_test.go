package load_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
)

const killedShards = 8

// killShards starts the shards of a run, kills them at random moments and restarts them
// until all are done. It returns the number of kills.
func killShards(t *testing.T, rng *rand.Rand, most int, pause time.Duration, start func(i int) *run) (kills int) {
	t.Helper()
	var runs [killedShards]*run
	for i := range runs {
		runs[i] = start(i)
	}
	for kills < most {
		time.Sleep(time.Duration(rng.Int64N(int64(pause))))
		i := rng.IntN(killedShards)
		if runs[i] == nil {
			left := 0
			for _, r := range runs {
				if r != nil {
					left++
				}
			}
			if left == 0 {
				return kills
			}
			continue
		}
		if !runs[i].kill(t) {
			runs[i] = nil
			continue
		}
		kills++
		runs[i] = start(i) // does nothing if it was killed after its last step
	}
	for _, r := range runs {
		if r != nil {
			r.wait(t)
		}
	}
	return kills
}

func shardOf(i int) string { return fmt.Sprintf("%d/%d", i+1, killedShards) }

// merge merges the shards of an output.
func merge(t *testing.T, output string) *run {
	t.Helper()
	return startRun(t, "merge", output+".*.jsonl", "-o", output).wait(t)
}

// Eight shards of a run are killed with -9 at random moments and restarted. The merged
// output equals that of one process.
func TestScoreShardsKilled(t *testing.T) {
	kills := 3
	if full() {
		kills = 50
	}
	dir := t.TempDir()
	data, one := filepath.Join(dir, "data.jsonl"), filepath.Join(dir, "one.jsonl")
	writeScorable(t, data, 2000)
	args := []string{"score", data, "-m", "chrf", "-m", "bleu", "-a", "max,mean,native"}
	wall := startRun(t, append(args, "-o", one)...).wait(t).wall
	want, err := os.ReadFile(one)
	require.NoError(t, err)
	rng, done, rounds := rand.New(rand.NewPCG(11, 12)), 0, 0
	for ; done < kills; rounds++ {
		output := filepath.Join(dir, fmt.Sprintf("all%d.jsonl", rounds))
		done += killShards(t, rng, kills-done, wall/8, func(i int) *run { return startRun(t, append(args, "--shard", shardOf(i), "-o", output)...) })
		merge(t, output)
		if got, err := os.ReadFile(output); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("the merged output differs from one process's: %v\n%s\n%s", err, got, want)
		}
		left, err := filepath.Glob(filepath.Join(dir, ".*.tmp"))
		assert.True(t, err == nil && len(left) <= killedShards, "temporary files are left: %v", left)
		require.LessOrEqual(t, rounds, 20*kills, "the shards are done before they can be killed")
	}
	t.Logf("%d kills of %d shards in %d runs", done, killedShards, rounds)
}

// writeScorable writes a dataset with n segments of random words.
func writeScorable(t *testing.T, path string, n int) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	rng, enc := rand.New(rand.NewPCG(13, 14)), dataset.NewEncoder(f)
	words := func() refract.Text {
		var b bytes.Buffer
		for range 12 {
			fmt.Fprintf(&b, "word%d ", rng.IntN(50))
		}
		return refract.NewText(b.String())
	}
	for i := range n {
		s := &refract.Segment{ID: fmt.Sprintf("s%d", i), References: []refract.Text{words(), words(), words()}}
		for _, system := range []string{"x", "y", "z"} {
			s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: system, Text: words()})
		}
		require.NoError(t, enc.Encode(s))
	}
}
