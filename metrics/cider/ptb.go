package cider

import (
	"strings"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// A pennTokenizer splits English text as the Penn Treebank does, by the rules of Stanford's
// PTBTokenizer 3.4.1, with which pycocoevalcap 1.2 computes CIDEr and METEOR: in lower
// case, without punctuation.
//
// The rules are regular expressions, some followed by a context. The longest match counts,
// as in Stanford's lexer generator.

// punctuation lists the tokens to drop. Brackets stay: the list has them in upper case,
// while tokens are in lower case.
var punctuation = map[string]bool{
	"''": true, "'": true, "``": true, "`": true, ".": true, "?": true, "!": true, ",": true, ":": true, "-": true,
	"--": true, "...": true, ";": true,
}

// pennTokenizer splits texts. It reuses its memory and is not safe for concurrent
// use.
type pennTokenizer struct {
	line, out []byte
	words     map[string]match // of plain words, which recur
}

// match is the rule of a token, nil if none matches, and the token's length.
type match struct {
	rule   *matcher
	length int
}

// maxWords bounds the number of words that a tokenizer remembers.
const maxWords = 1 << 16

func newPenn() *pennTokenizer { return &pennTokenizer{words: map[string]match{}} }

// Split calls yield with each word of a text, which is taken as a line. The bytes are valid
// only during the call.
//
// Stanford's program reads all texts as one, so the next line can change the last words of
// a text: a letter and a period, such as "vitamin C.". Here an empty line follows every
// text.
func (t *pennTokenizer) Split(s string, yield func(word []byte)) {
	t.line = append(append(t.line[:0], s...), '\n')
	for i, c := range t.line[:len(s)] {
		if c == '\n' {
			t.line[i] = ' '
		}
	}
	rest := string(t.line)
	for rest != "" {
		r, n := t.longest(rest)
		if r == nil {
			_, n = utf8.DecodeRuneInString(rest)
			rest = rest[n:] // text that no rule matches is dropped
			continue
		}
		n -= r.back
		what := rest[:n]
		rest = rest[n:]
		if r.as != nil {
			what = r.as(what)
		}
		if what == "" || punctuation[what] {
			continue
		}
		t.out = text.AppendLower(t.out[:0], what)
		if strings.ContainsFunc(what, text.IsSpace) {
			token.Fields(t.out, yield)
		} else {
			yield(t.out)
		}
	}
}

// longest is longestMatch with a cache.
func (t *pennTokenizer) longest(rest string) (*matcher, int) {
	n := plainWord(rest)
	if n == 0 {
		return longestMatch(rest)
	}
	m, ok := t.words[rest[:n]]
	if !ok {
		m.rule, m.length = longestMatch(rest)
		if len(t.words) == maxWords {
			clear(t.words)
		}
		t.words[strings.Clone(rest[:n])] = m
	}
	return m.rule, m.length
}
