package english_test

import (
	"testing"

	"github.com/refract-eval/refract/internal/english"
)

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 lines":     english.Count(0, "line"),
		"1 line":      english.Count(1, "line"),
		"2000 lines":  english.Count(2000, "line"),
		"1 matrix":    english.Count(1, "matrix", "matrices"),
		"2 matrices":  english.Count(2, "matrix", "matrices"),
		"2,000 lines": english.Thousands(2000, "line"),
		"1 request":   english.Thousands(1, "request"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
