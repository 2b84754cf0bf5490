package text

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// AppendWords appends the words of s to dst, in lower case: the segments between
// Unicode's word boundaries (UAX #29) that contain a letter, a digit or a symbol.
// White space and punctuation are dropped. In scripts without spaces, such as
// Chinese, each character is a word.
func AppendWords(dst []string, s string) []string {
	s = Lower(s)
	state := -1
	for s != "" {
		var word string
		word, s, state = uniseg.FirstWordInString(s, state)
		for _, r := range word {
			if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r) {
				dst = append(dst, word)
				break
			}
		}
	}
	return dst
}

// LetterRuns returns the runs of letters in s, case unchanged, including apostrophes inside them.
func LetterRuns(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) && r != '\'' && r != '’'
	})
}
