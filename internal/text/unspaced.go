package text

import (
	"strings"
	"unicode"
)

// unspaced lists the languages whose scripts have no spaces between words.
var unspaced = []struct {
	code   string
	tables []*unicode.RangeTable
}{
	{"zh", []*unicode.RangeTable{unicode.Han}},
	{"ja", []*unicode.RangeTable{unicode.Hiragana, unicode.Katakana}},
	{"th", []*unicode.RangeTable{unicode.Thai}},
	{"lo", []*unicode.RangeTable{unicode.Lao}},
	{"km", []*unicode.RangeTable{unicode.Khmer}},
	{"my", []*unicode.RangeTable{unicode.Myanmar}},
}

// ByScript returns the language that the script of a text shows: one that [Unspaced] knows,
// or Korean; "" if most letters belong to other scripts.
func ByScript(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= 0xe00 }) { // of no script here, as most texts
		return ""
	}
	if code, _ := Unspaced(s); code != "" {
		return code
	}
	hangul, all := 0, 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			all++
		}
		if unicode.Is(unicode.Hangul, r) {
			hangul++
		}
	}
	if 2*hangul > all {
		return "ko"
	}
	return ""
}

// Unspaced counts the letters of scripts without spaces between words, and returns the
// language written in that script; "" if most letters belong to other scripts.
func Unspaced(s string) (language string, letters int) {
	counts, all, most := make([]int, len(unspaced)), 0, 0
	for _, r := range s {
		if !unicode.IsLetter(r) {
			continue
		}
		all++
		for i := range unspaced {
			if r >= 0xe00 && unicode.In(r, unspaced[i].tables...) {
				counts[i]++
				letters++
				if counts[i] > counts[most] {
					most = i
				}
			}
		}
	}
	switch {
	case 2*letters <= all:
		return "", letters
	case most == 0 && 20*counts[1] > counts[0]: // Japanese has Chinese characters too
		most = 1
	}
	return unspaced[most].code, letters
}

// IsUnspaced reports whether a character belongs to a script without spaces between words.
func IsUnspaced(r rune) bool {
	return r >= 0xe00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
