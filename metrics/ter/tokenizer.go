package ter

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// tokenizer splits texts into words by Tercom's rules as sacreBLEU has them.
// It reuses its buffers, so it is for one goroutine.
//
// The Western rules only look at ASCII, so they scan bytes: no byte of a
// longer UTF-8 sequence can be taken for one of theirs.
type tokenizer struct {
	Options
	text, spare, word, once []byte
	western                 token.Tokenizer
}

// words yields the words of a text, each valid until the next one. Invalid UTF-8 counts as
// U+FFFD. With twice, the words are joined by spaces and tokenized again.
func (t *tokenizer) words(s string, twice bool, yield func([]byte)) {
	t.read(s)
	if twice {
		t.once = t.once[:0]
		t.split(func(word []byte) { t.once = append(append(t.once, word...), ' ') })
		t.text = append(t.text[:0], bytes.TrimSuffix(t.once, []byte{' '})...)
	}
	t.split(yield)
}

// readsTwice reports whether references are tokenized twice. sacreBLEU always does so, but
// the second time matters only after normalization: in "&amp;quot;" or "'s's", for example.
// A reference is then tokenized differently from a hypothesis, and the same text on both
// sides may cost edits.
func (t *tokenizer) readsTwice() bool { return t.Normalized }

// read sets the text to split, without white space at its end.
func (t *tokenizer) read(s string) {
	s = strings.TrimRightFunc(s, text.IsSpace)
	if t.CaseSensitive {
		t.text = append(t.text[:0], s...)
	} else {
		t.text = text.AppendLower(t.text[:0], s)
	}
}

// split yields the words of the text.
func (t *tokenizer) split(yield func([]byte)) {
	if t.Normalized && len(t.text) > 0 {
		t.spare = possessives(t.spare[:0], token.Unescape(joinLines.Replace(string(t.text))))
		t.text = append(t.text[:0], t.western.Western(t.spare)...)
	}
	splitByAsian := t.Normalized && t.Asian
	removeAsian := t.NoPunct && t.Asian

	t.word = t.word[:0]
	for i := 0; i < len(t.text); {
		r, size := rune(t.text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(t.text[i:])
		}
		i += size
		switch {
		case text.IsSpace(r):
			t.end(yield)
		case r < utf8.RuneSelf:
			if !t.NoPunct || !isPunct(r) {
				t.word = append(t.word, byte(r))
			}
		case splitByAsian && (isAsianPunct(r) || isIdeograph(r)):
			t.end(yield)
			if !removeAsian || !isAsianPunct(r) {
				t.word = utf8.AppendRune(t.word, r)
				t.end(yield)
			}
		case !removeAsian || !isAsianPunct(r):
			t.word = utf8.AppendRune(t.word, r)
		}
	}
	t.end(yield)
}

// end yields the pending word, if there is one.
func (t *tokenizer) end(yield func([]byte)) {
	if len(t.word) > 0 {
		yield(t.word)
		t.word = t.word[:0]
	}
}

// joinLines undoes hyphenation at line ends, and turns any other line end into a space.
var joinLines = strings.NewReplacer("\n-", "", "\n", " ")

// possessives puts a space before an 's that ends a word. It pads the text with a space at
// both ends, which later rules rely on.
func possessives(dst []byte, s string) []byte {
	dst = append(dst, ' ')
	for i := range len(s) {
		if s[i] == '\'' && i+1 < len(s) && s[i+1] == 's' && (i+2 == len(s) || s[i+2] == ' ' || token.IsSymbol(s[i+2])) {
			dst = append(dst, ' ')
		}
		dst = append(dst, s[i])
	}
	return append(dst, ' ')
}

// isPunct reports whether NoPunct removes an ASCII character.
func isPunct(r rune) bool {
	return strings.ContainsRune(`.,?:;!"()`, r)
}

// isAsianPunct reports whether r is East Asian punctuation, including half-width and
// full-width forms.
func isAsianPunct(r rune) bool {
	return strings.ContainsRune("\u3001\u3002\u30fb\uff01\uff02\uff08\uff09\uff0c\uff0e\uff1a\uff1b\uff1f", r) ||
		0x3008 <= r && r <= 0x3011 || 0x3014 <= r && r <= 0x301f || 0xff61 <= r && r <= 0xff65
}

// isIdeograph reports whether Normalized and Asian make r a word. sacreBLEU has a range
// that was meant to be U+3200 to U+32FF and ends at U+3F22, without effect, because other
// ranges cover the rest. Kana are not split: the rules for them match only at the start of
// a text, where normalization has put a space.
func isIdeograph(r rune) bool {
	switch {
	case r < 0x2e80 || r > 0xfaff && r < 0xfe30:
		return false
	case r <= 0x2eff, // radicals
		0x31c0 <= r && r <= 0x31ef, // strokes
		0x3200 <= r && r <= 0x4dbf, // enclosed letters, compatibility, extension A
		0x4e00 <= r && r <= 0x9fff, // unified ideographs
		0xf900 <= r && r <= 0xfaff, // compatibility ideographs
		0xfe30 <= r && r <= 0xfe4f: // compatibility forms
		return true
	}
	return false
}
