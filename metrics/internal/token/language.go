package token

import (
	"bytes"
	"fmt"
	"unicode"

	"github.com/refract-eval/refract/internal/text"
)

// For is the tokenizer that makes words of single characters in a language without
// spaces between words, and otherwise the given one.
func For(language, otherwise string) string {
	switch language {
	case "zh":
		return "zh"
	case "ja", "th", "lo", "km", "my":
		return "char"
	}
	return otherwise
}

// longWord is how many letters a word of a script without spaces has at the least, on the
// mean over a text, where a tokenizer takes phrases for words.
const longWord = 6

// Unsplit looks for texts without spaces between words of which a tokenizer makes words
// of whole phrases. It returns the language of most of them, and what is to be said before an
// advice; "" where they are fewer than one in ten.
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
	return language, fmt.Sprintf("%d of %d texts looked at have no spaces between words, and are taken for one word or a few: ", n, len(texts))
}

// Remark says that a tokenizer makes words of whole phrases, and what to do about it; "" where
// it does not. chosen reports whether an option, and not the language, decides on the tokenizer
// of texts in a language.
func Remark(texts []string, split func(s string, yield func(word []byte)), chosen func(language string) bool) string {
	code, said := Unsplit(texts, split)
	if said == "" {
		return ""
	}
	return said + Advice(code, "tokenize="+For(code, ""), chosen(code))
}

// Advice says how texts of a language are split: by naming it, or by an option where that
// has chosen already.
func Advice(language, option string, chosen bool) string {
	if chosen {
		return "take " + option
	}
	return "name their language, as in -l " + language
}
