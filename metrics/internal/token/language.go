package token

import (
	"bytes"
	"fmt"
	"regexp"
	"unicode"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// For returns the tokenizer that splits a language without spaces between words into single
// characters, and otherwise the given one.
func For(language, otherwise string) string {
	switch language {
	case "zh":
		return "zh"
	case "ja", "th", "lo", "km", "my":
		return "char"
	}
	return otherwise
}

// longWord is the mean length, in letters, from which "words" of a script without spaces
// are really phrases.
const longWord = 6

// Unsplit looks for texts without spaces between words, for which a tokenizer returns whole
// phrases. It returns the language of most of them, and the sentence that precedes the
// advice; both are "" if fewer than one text in ten is affected.
func Unsplit(texts []string, split func(s string, yield func(word []byte))) (language, said string) {
	found, n := map[string]int{}, 0
	for _, s := range texts {
		code, letters := text.Unspaced(s)
		if code == "" || letters < longWord {
			continue
		}
		words := 0
		split(s, func(word []byte) {
			if bytes.IndexFunc(word, unicode.IsLetter) >= 0 {
				words++
			}
		})
		if letters < longWord*words {
			continue
		}
		n++
		if found[code]++; found[code] > found[language] {
			language = code
		}
	}
	if 10*n < len(texts) || n == 0 {
		return "", ""
	}
	return language, fmt.Sprintf("%d of %s without spaces between words, taken for one word or a few: ", n, english.Count(len(texts), "text looked at", "texts looked at"))
}

// Remark says that a tokenizer takes whole phrases for words, and what to do about it; ""
// if it does not. chosen reports whether the tokenizer for a language comes from an option
// and not from the language.
func Remark(texts []string, split func(s string, yield func(word []byte)), chosen func(language string) bool) string {
	code, said := Unsplit(texts, split)
	if said == "" {
		return ""
	}
	return said + Advice(code, "tokenize="+For(code, ""), chosen(code))
}

// Advice says how to get the texts of a language split: by naming the language, or by an
// option if an option has set the tokenizer.
func Advice(language, option string, chosen bool) string {
	if chosen {
		return "take " + option
	}
	return "name their language, as in -l " + language
}

// apart matches what a tokenizer has split off. Punctuation that some languages write after
// a space, such as the question mark of French, is left out.
var apart = regexp.MustCompile(`(?:^|\s)(?:[.,]|n't|'(?:s|re|ve|ll|m|d)|@-@|&(?:apos|quot);\S*|-(?:LRB|RRB)-)(?:\s|$)`)

// fewest is the least number of texts that tell.
const fewest = 10

// LookTokenized reports whether most of the texts look as if a tokenizer had split them.
func LookTokenized(texts []string) bool {
	n := 0
	for _, s := range texts {
		if apart.MatchString(s) {
			n++
		}
	}
	return len(texts) >= fewest && 2*n > len(texts)
}
