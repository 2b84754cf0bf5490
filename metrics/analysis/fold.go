package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/refract-eval/refract/internal/text"
)

// folded is a text without differences that quoting may introduce: case, white space,
// quotation marks, kinds of dashes, and compatibility forms such as full-width letters.
type folded struct {
	text []byte
	// The bytes from[i] to to[i] of the original became byte i of text.
	from, to []int32
}

// fold returns the folded form of s.
func fold(s string) *folded {
	f := &folded{text: make([]byte, 0, len(s)), from: make([]int32, 0, len(s)), to: make([]int32, 0, len(s))}
	for at := 0; at < len(s); {
		n := 1 // most bytes are ASCII characters that nothing combines with
		segment := []byte(s[at : at+1])
		if s[at] >= utf8.RuneSelf || at+1 < len(s) && s[at+1] >= utf8.RuneSelf {
			n = norm.NFKC.NextBoundaryInString(s[at:], true)
			segment = norm.NFKC.Bytes([]byte(s[at : at+n]))
		}
		f.text = appendFolded(f.text, segment)
		for len(f.from) < len(f.text) {
			f.from, f.to = append(f.from, int32(at)), append(f.to, int32(at+n))
		}
		at += n
	}
	return f
}

// foldPhrase folds a phrase to search for, which needs no offsets.
func foldPhrase(s string) []byte {
	return appendFolded(make([]byte, 0, len(s)), norm.NFKC.Bytes([]byte(s)))
}

// appendFolded appends the folded form of s, which is in NFKC.
func appendFolded(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		i += n
		switch {
		case 'a' <= r && r <= 'z': // the common case
			dst = append(dst, byte(r))
		case isQuote(r), unicode.IsSpace(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Cc, r):
		case unicode.Is(unicode.Pd, r), r == '\u2212':
			dst = append(dst, '-')
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
	}
	return dst
}

// isQuote reports whether r is a quotation mark of any kind, or an apostrophe.
func isQuote(r rune) bool {
	return isDoubleQuote(r) || isSingleQuote(r) || closing(r) != 0 || r == '»' || r == '」' || r == '』'
}

// isDoubleQuote reports whether r is one of the marks that models confuse.
func isDoubleQuote(r rune) bool { return strings.ContainsRune("\"“”„‟″＂", r) }

func isSingleQuote(r rune) bool { return strings.ContainsRune("'‘’‚‛`´′＇", r) }

// closing returns the closing mark for an opening one that has a mirror image, or 0.
func closing(r rune) rune { return map[rune]rune{'«': '»', '「': '」', '『': '』'}[r] }

// glued reports whether a and b, next to each other, may be letters of one word. In scripts
// without spaces between words, none are.
func glued(a, b rune) bool { return inWord(a) && inWord(b) }

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)) && !unspaced(r)
}

func unspaced(r rune) bool { return text.IsUnspaced(r) || r == 'ー' }
