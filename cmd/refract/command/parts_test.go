package command

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inPipe runs refract with an input, and returns its exit code and output.
func inPipe(t testing.TB, input string, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	e := &env{stdin: strings.NewReader(input), stdout: &out, stderr: io.Discard, getenv: func(string) string { return "" }}
	return e.run(t.Context(), args), out.String()
}

// However a dataset is cut into parts, and in whatever order they are merged, the
// scores are those of one part.
func TestStatisticsOfParts(t *testing.T) {
	atLength(t)
	segments, err := os.ReadFile(repository + "/cmd/refract/command/sample/sample.jsonl")
	require.NoError(t, err)
	lines := slices.Collect(strings.Lines(string(segments)))[:24]
	score := func(segments []string) string {
		code, out := inPipe(t, strings.Join(segments, ""), "score", "jsonl:-", "--per", "statistics", "-m", "bleu", "-m", "chrf", "-a", "native,mean")
		if code != exitDone || strings.Count(out, "\n") != min(1, len(segments)) {
			t.Fatalf("exit code %d: %s", code, out)
		}
		return out
	}
	merge := func(parts []string) string {
		code, out := inPipe(t, strings.Join(parts, ""), "merge", "-", "-f", "jsonl")
		require.Equal(t, exitDone, code, "exit code")
		return out
	}
	one := merge([]string{score(lines)})
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		ends := make([]int, random.IntN(7))
		for i := range ends {
			ends[i] = random.IntN(len(lines) + 1)
		}
		slices.Sort(ends)
		var parts []string
		begin := 0
		for _, end := range append(ends, len(lines)) {
			parts = append(parts, score(lines[begin:end]))
			begin = end
		}
		random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		require.Equal(t, one, merge(parts), "cut at %d", ends)
	}
}

// A part is refused that has another byte, or a line less, twice or at another place, or that is
// cut off anywhere.
func TestDamagedParts(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data.jsonl")
	write := func(path, content string) {
		t.Helper()
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	write(data, `{"id":"one","references":["The bakery is closed."],"hypotheses":{"ä\u202e":"The bakery is shut.","b":"Bakery closed."}}
{"id":"two","references":["It rained."],"hypotheses":{"ä\u202e":"It was raining."}}
{"id":"three","references":["It was a fine day.",null],"hypotheses":{"b":"The day was a fine one.","c":"A day."}}
`)
	for _, per := range []string{"system", "segment", "cell"} {
		t.Run(per, func(t *testing.T) {
			for i := range 2 {
				out := filepath.Join(dir, per+".jsonl")
				code, _ := inPipe(t, "", "score", data, "-m", "bleu", "--per", per, "-o", out, "--shard", fmt.Sprintf("%d/2", i+1))
				require.Equal(t, exitDone, code, "exit code")
				whole, err := os.ReadFile(fmt.Sprintf("%s.%d-of-2.jsonl", out, i+1))
				require.NoError(t, err)
				refused := func(damaged []byte, what string, at int) {
					t.Helper()
					n := 0
					err := readParts(t.Context(), bytes.NewReader(damaged), io.Discard, func(*part) error { n++; return nil })
					assert.False(t, err == nil && n == 1, "part %d: %s %d is read", i+1, what, at)
				}
				for at := range whole {
					damaged := bytes.Clone(whole)
					damaged[at] ^= []byte{1, 'a' ^ 'A', 0x80}[at%3]
					refused(damaged, "another byte at", at)
					refused(whole[:at], "a cut at", at)
				}
				lines := slices.Collect(bytes.Lines(whole))
				require.False(t, per != "system" && len(lines) < 3, "%d lines", len(lines))
				for k := range lines {
					refused(slices.Concat(slices.Concat(lines[:k]...), slices.Concat(lines[k+1:]...)), "without line", k)
					refused(slices.Concat(slices.Concat(lines[:k+1]...), slices.Concat(lines[k:]...)), "twice line", k)
					if k > 0 {
						refused(slices.Concat(slices.Concat(lines[:k-1]...), lines[k], lines[k-1], slices.Concat(lines[k+1:]...)), "exchanged line", k)
					}
				}
			}
		})
	}
}
