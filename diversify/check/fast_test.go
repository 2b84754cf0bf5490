package check

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestLower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("aZ@[`{ É")))).Draw(t, "s")
		if got, want := string(appendLower([]byte("x"), s)), "x"+strings.Map(unicode.ToLower, s); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

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
