package command

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// inPipe runs refract with an input, and returns its exit code and output.
func inPipe(t testing.TB, input string, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	e := &env{stdin: strings.NewReader(input), stdout: &out, stderr: io.Discard, getenv: func(string) string { return "" }}
	return e.run(t.Context(), args), out.String()
}

func sampleLines(t testing.TB) []string {
	t.Helper()
	segments, err := os.ReadFile(repository + "/internal/demo/sample.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(segments)))
}

// However a dataset is cut into parts, and in whatever order they are merged, the
// scores are those of one part.
func TestStatisticsOfParts(t *testing.T) {
	lines := sampleLines(t)
	score := func(segments []string) string {
		code, out := inPipe(t, strings.Join(segments, ""), "stage", "score", "-m", "bleu", "-m", "chrf", "-a", "native,mean")
		if code != exitDone || strings.Count(out, "\n") != min(1, len(segments)) {
			t.Fatalf("exit code %d: %s", code, out)
		}
		return out
	}
	merge := func(parts []string) string {
		code, out := inPipe(t, strings.Join(parts, ""), "stage", "merge", "-f", "jsonl")
		if code != exitDone {
			t.Fatalf("exit code %d", code)
		}
		return out
	}
	one := merge([]string{score(lines)})
	rapid.Check(t, func(t *rapid.T) {
		ends := rapid.SliceOfN(rapid.IntRange(0, len(lines)), 0, 6).Draw(t, "ends")
		slices.Sort(ends)
		var parts []string
		begin := 0
		for _, end := range append(ends, len(lines)) {
			parts = append(parts, score(lines[begin:end]))
			begin = end
		}
		if got := merge(rapid.Permutation(parts).Draw(t, "order")); got != one {
			t.Fatalf("%s\nis not\n%s", got, one)
		}
	})
}

// Of large parts, a hundredth that they share is enough.
func TestSamplesOfLargeParts(t *testing.T) {
	sample := func(from, to int) idSample {
		ids := idSample{}
		for i := from; i < to; i++ {
			ids.add(strconv.Itoa(i))
		}
		ids.trim()
		return ids
	}
	shares := func(a, b idSample) bool {
		return slices.ContainsFunc(a, func(h uint64) bool { return slices.Contains(b, h) })
	}
	const n = 50_000
	a, b, all := sample(0, n), sample(n, 2*n), sample(0, 2*n)
	if len(a) != mostSampled || shares(a, b) {
		t.Errorf("%d hashes of one part, and some of them of another", len(a))
	}
	if !shares(a, all) || !shares(b, all) || !shares(a, sample(n-n/100, 2*n)) {
		t.Error("an overlap is not noticed")
	}
}

// Whatever stands in a pipe is merged or refused, and a part is never counted twice.
func FuzzStageMerge(f *testing.F) {
	lines := sampleLines(f)
	for _, m := range []string{"bleu", "ter"} {
		_, line := inPipe(f, lines[0], "stage", "score", "-m", m)
		f.Add([]byte(line))
		f.Add([]byte(line + line))
		f.Add([]byte(line[:len(line)/2]))
	}
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, input []byte) {
		code, out := inPipe(t, string(input), "stage", "merge", "-f", "csv")
		if whole := code == exitDone; whole != (out != "") && len(bytes.TrimSpace(input)) > 0 {
			t.Fatalf("exit code %d with the output %q", code, out)
		}
		if again, _ := inPipe(t, string(input)+string(input), "stage", "merge"); again == exitDone && out != "" {
			t.Fatal("parts are counted twice")
		}
	})
}
