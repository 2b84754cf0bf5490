package ter

import (
	"strings"
	"testing"
)

// What Python's str.lower gives.
func TestAppendLower(t *testing.T) {
	for s, want := range map[string]string{
		"":                  "",
		"ABC xyz":           "abc xyz",
		"ÄÖÜẞ ЁЖ":           "äöüß ёж",
		"İstanbul I":        "i̇stanbul i",
		"ǅ Ǆ Ⓐ Ａ":           "ǆ ǆ ⓐ ａ",
		"Σ":                 "σ",
		"ΟΔΟΣ":              "οδος",
		"ΣΟΣ ΣΑ":            "σος σα",
		"ΑΣΑ":               "ασα",
		"ΑΣΣ":               "ασς",
		"ΑΣ.":               "ας.",
		"ΑΣ.Α":              "ασ.α",
		"Α\u0301Σ\u0301":    "α\u0301ς\u0301",
		"Α\u00adΣ":          "α\u00adς",
		"1Σ":                "1σ",
		"ʰΣ":                "ʰσ", // a modifier letter is case-ignorable before it is cased
		"AΣ\u0345":          "aς\u0345",
		"中Σ":                "中σ",
		"𐐀":                 "𐐨",
		"A\xffB":            "a\ufffdb",
		"ΑΣ" + marks + "Α":  "ασ" + marks + "α",
		"ΑΣ" + marks + "中Α": "ας" + marks + "中α",
	} {
		if got := string(appendLower(nil, s)); got != want {
			t.Errorf("%+q in lower case = %+q, want %+q", s, got, want)
		}
	}
}

// marks is a long run of case-ignorable characters.
var marks = strings.Repeat("\u0301'", 40)
