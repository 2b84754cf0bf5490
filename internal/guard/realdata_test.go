package guard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dataFolder returns the folder with real data: $REFRACT_DATA, or shared/data next to the
// repository.
func dataFolder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("REFRACT_DATA")
	if folder == "" {
		folder = "../../../shared/data"
	}
	folder = filepath.Join(folder, "mt-metrics-eval-v2", "wmt22")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("real data is missing: put mt-metrics-eval-v2/wmt22 into ../shared/data, or name its folder in REFRACT_DATA (%v)", err)
	}
	return folder
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// Outputs of real systems hardly ever address a judge. The 13 closing quotes close
// quotes that the output did not open, and the control character is a tag character in a garbled output.
func TestRealOutputsAreRarelyFlagged(t *testing.T) {
	folder := dataFolder(t)
	files, err := filepath.Glob(filepath.Join(folder, "system-outputs", "zh-en", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var systems [][]string
	for _, f := range files {
		systems = append(systems, lines(t, f))
	}
	got := map[string]int{}
	for _, outputs := range systems {
		for _, text := range outputs {
			flags := Flags(text)
			got["outputs"]++
			for _, f := range flags {
				got[f]++
			}
		}
	}
	want := map[string]int{"outputs": 37500, FlagClosingQuote: 13, FlagControl: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	sources := lines(t, filepath.Join(folder, "sources", "zh-en.txt"))
	for i, s := range sources {
		if flags := Flags(s); flags != nil {
			t.Errorf("source %d has the flags %v", i+1, flags)
		}
	}
}
