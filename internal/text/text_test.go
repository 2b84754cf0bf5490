package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestIsSpace(t *testing.T) {
	// All characters for which Python's str.isspace is true.
	want := map[rune]bool{0x1680: true, 0x2028: true, 0x2029: true, 0x202f: true, 0x205f: true, 0x3000: true, ' ': true, 0x85: true, 0xa0: true}
	for r := rune('\t'); r <= '\r'; r++ {
		want[r] = true
	}
	for r := rune(0x1c); r <= 0x1f; r++ {
		want[r] = true
	}
	for r := rune(0x2000); r <= 0x200a; r++ {
		want[r] = true
	}
	for r := rune(0); r <= utf8.MaxRune; r++ {
		assert.Equal(t, want[r], IsSpace(r), "IsSpace(%U)", r)
	}
}

func TestLower(t *testing.T) {
	for in, want := range map[string]string{
		"ABC":           "abc",
		"İI":            "i\u0307i",
		"ΟΔΥΣΣΕΥΣ":      "οδυσσευς",
		"Σ":             "σ",
		"ΑΣ.Β":          "ασ.β",
		"ΑΣ’":           "ας’",
		"ΑΣ\u0301":      "ας\u0301",
		"ΑΣ\u0301Α":     "ασ\u0301α",
		"Α\u0345Σ":      "α\u0345ς",
		".Σ":            ".σ",
		"ΣΣ ΣΣ":         "σς σς",
		"ẞÉǅ":           "ßéǆ",
		"K\u212a\u2126": "kkω",

		"":                  "",
		"ΣΟΣ ΣΑ":            "σος σα",
		"ΑΣ.":               "ας.",
		"Α\u00adΣ":          "α\u00adς",
		"1Σ":                "1σ",
		"ʰΣ":                "ʰσ", // a modifier letter is case-ignorable before it is cased
		"AΣ\u0345":          "aς\u0345",
		"中Σ":                "中σ",
		"ǅ Ǆ Ⓐ Ａ 𐐀":         "ǆ ǆ ⓐ ａ 𐐨",
		"A\xffB\xe3\x80":    "a\ufffdb\ufffd\ufffd",
		"ΑΣ" + marks + "Α":  "ασ" + marks + "α",
		"ΑΣ" + marks + "中Α": "ας" + marks + "中α",
	} {
		assert.Equal(t, want, Lower(in), "Lower(%q)", in)
		assert.Equal(t, "Σ"+want, string(AppendLower([]byte("Σ"), in)), "AppendLower(%q)", in)
	}
}

// marks is a long run of case-ignorable characters.
var marks = strings.Repeat("\u0301'", 40)
