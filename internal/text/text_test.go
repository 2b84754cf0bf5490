package text

import (
	"testing"
	"unicode/utf8"
)

func TestIsSpace(t *testing.T) {
	// What Python's str.isspace is true for, in full.
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
		if IsSpace(r) != want[r] {
			t.Errorf("IsSpace(%U) = %v", r, IsSpace(r))
		}
	}
}

func TestTrim(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		" \t\u00a0\u3000":        "",
		"a":                      "a",
		"\x1c a b\u2003\x1f\r\n": "a b",
		"\u200ba\u200b":          "\u200ba\u200b", // a zero-width space is no white space
		"\ufeffa \xff":           "\ufeffa \xff",
		"\u0085é\u0085":          "é",
	} {
		if got := Trim(in); got != want {
			t.Errorf("Trim(%q) = %q, want %q", in, got, want)
		}
	}
	if got := TrimRight("  a  "); got != "  a" {
		t.Errorf("TrimRight = %q", got)
	}
}

func TestLower(t *testing.T) {
	for in, want := range map[string]string{
		"ABC":           "abc",
		"İI":            "i\u0307i",
		"ΟΔΥΣΣΕΥΣ":      "οδυσσευς",
		"Σ":             "σ",
		"ΑΣ.":           "ας.",
		"ΑΣ.Β":          "ασ.β",
		"ΑΣ’":           "ας’",
		"ΑΣ\u0301":      "ας\u0301",
		"ΑΣ\u0301Α":     "ασ\u0301α",
		"Α\u0345Σ":      "α\u0345ς",
		".Σ":            ".σ",
		"ΣΣ ΣΣ":         "σς σς",
		"ẞÉǅ":           "ßéǆ",
		"K\u212a\u2126": "kkω",
	} {
		if got := Lower(in); got != want {
			t.Errorf("Lower(%q) = %q, want %q", in, got, want)
		}
	}
}
