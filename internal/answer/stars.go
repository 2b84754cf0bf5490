package answer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func starsReader(s Spec) reader {
	sc := scalar{
		spec:  s,
		units: words("stars star"),
		outOf: []float64{*s.Upper},
		candidate: func(t string) (float64, int, bool) {
			return leadingStars(t, *s.Upper)
		},
		what:  "number of stars",
		marks: strings.ReplaceAll(marks, "*", ""), // they may be the answer
	}
	return sc.read
}

// leadingStars reads a number of stars in digits ("4", "4.5", "4½"), words
// ("four", "four and a half") or signs ("★★★★☆", "****").
func leadingStars(s string, upper float64) (value float64, width int, ok bool) {
	r, _ := utf8.DecodeRuneInString(s)
	switch {
	case r == '★' || r == '⭐' || r == '☆' || r == '🌟':
		return starSigns(s, upper)
	case r == '*':
		run := len(s) - len(strings.TrimLeft(s, "*"))
		after := strings.TrimLeft(s[run:], " \t_")
		if after == "" || after[0] == '\n' || after[0] == '*' || run > int(upper) {
			return float64(run), run, true
		}
		if value, width, ok := leadingStars(after, upper); ok && run <= 3 { // "**4**"
			return value, len(s) - len(after) + width, true
		}
		if after[0] == '(' || after[0] == '-' || after[0] == '.' {
			return float64(run), run, true
		}
		return 0, 0, false
	case unicode.IsLetter(r):
		word, n := leadingWord(s)
		count, known := numberWords[word]
		if !known || word == "a" || word == "an" || word == "no" {
			return 0, 0, false
		}
		rest := strings.TrimLeft(s[n:], " \t-")
		if strings.HasPrefix(strings.ToLower(rest[:min(len(rest), 10)]), "and a half") {
			return float64(count) + 0.5, len(s) - len(rest) + len("and a half"), true
		}
		return float64(count), n, true
	}
	if i := strings.IndexRune(s[:min(len(s), 6)], '½'); i > 0 {
		if whole, n, ok := leadingNumber(s[:i]); ok && n == i && whole == float64(int(whole)) && whole >= 0 {
			return whole + 0.5, i + len("½"), true
		}
		return 0, 0, false
	}
	return leadingNumber(s)
}

// starSigns counts filled and hollow stars. Where there are hollow ones, all
// together must be the scale.
func starSigns(s string, upper float64) (value float64, width int, ok bool) {
	hollow := 0.0
	for width < len(s) {
		r, n := utf8.DecodeRuneInString(s[width:])
		switch r {
		case '★', '⭐', '🌟':
			if hollow > 0 {
				return 0, 0, false
			}
			value++
		case '☆':
			hollow++
		case '½':
			return value + 0.5, width + n, value > 0 && hollow == 0
		case '\ufe0f', '\ufe0e': // how the sign before is drawn
		default:
			return value, width, value+hollow > 0 && (hollow == 0 || value+hollow == upper)
		}
		width += n
	}
	return value, width, value+hollow > 0 && (hollow == 0 || value+hollow == upper)
}
