// Package words finds the words of a text in any script.
package words

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"

	"github.com/refract-eval/refract/internal/text"
)

// Append appends the words of s to dst, in lower case: the segments between
// the word boundaries of Unicode (UAX #29) that hold a letter, a digit or a
// symbol. White space and punctuation are left out. Scripts without spaces, as
// Chinese, have one word a character.
func Append(dst []string, s string) []string {
	s = text.Lower(s)
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

// OfLetters returns the runs of letters of s as they are, with apostrophes inside them.
func OfLetters(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) && r != '\'' && r != '’'
	})
}
