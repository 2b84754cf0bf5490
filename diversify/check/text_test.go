package check

import (
	"bytes"
	"testing"
)

// wordsOf finds what splitting finds.
func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"the cat's 'tail' is 3rd":   "the|cat's|tail|is|rd",
		"l’homme d'été":             "l’homme|d'été",
		"re-made, über—all":         "re|made|über|all",
		"кот и ёлка":                "кот|и|ёлка",
		"'":                         "",
		"a'":                        "a",
		"e\u0301te\u0301 combining": "e\u0301te\u0301|combining",
	} {
		var got [][]byte
		for w := range wordsOf([]byte(in)) {
			got = append(got, w)
		}
		if s := string(bytes.Join(got, []byte("|"))); s != want {
			t.Errorf("%q: %q, want %q", in, s, want)
		}
	}
}
