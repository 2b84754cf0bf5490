package command

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
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
	if err != nil {
		t.Fatal(err)
	}
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
		if code != exitDone {
			t.Fatalf("exit code %d", code)
		}
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
		if got := merge(parts); got != one {
			t.Fatalf("cut at %d: %s\nis not\n%s", ends, got, one)
		}
	}
}
