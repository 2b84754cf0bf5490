package cider

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
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

// window is the number of bytes that the rules look at. It keeps the time linear when a
// rule looks ahead in vain, such as the rule for addresses. A longer token is split there,
// unlike in Stanford's lexer.
const window = 1024

// matcher is a rule as a regular expression.
type matcher struct {
	rule
	whole *regexp.Regexp // of the token and its context
	token *regexp.Regexp // whose first group is the token; nil if there is no context
}

// compiled returns the rules by the first byte of a text that they can match, in order. All
// bytes beyond ASCII share the last list.
var compiled = sync.OnceValue(func() *[utf8.RuneSelf + 1][]*matcher {
	var byFirst [utf8.RuneSelf + 1][]*matcher
	for _, r := range rules() {
		pattern := `(?:` + r.what + `)(?:` + r.before + `)`
		m := &matcher{rule: r, whole: regexp.MustCompile(`\A` + pattern)}
		m.whole.Longest()
		if r.before != "" {
			m.token = regexp.MustCompile(`\A(` + r.what + `)(?:` + r.before + `)\z`)
		}
		first := firstRunes(pattern)
		for c := range byFirst {
			if c == utf8.RuneSelf || first(rune(c)) {
				byFirst[c] = append(byFirst[c], m)
			}
		}
	}
	return &byFirst
})

// firstRunes returns a function that reports whether a match of the pattern can begin with
// a character.
func firstRunes(pattern string) func(rune) bool {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err) // the rules are part of the program
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		panic(err)
	}
	var reads []*syntax.Inst
	seen := make([]bool, len(prog.Inst))
	var follow func(pc uint32)
	follow = func(pc uint32) {
		if seen[pc] {
			return
		}
		seen[pc] = true
		switch in := &prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			follow(in.Out)
			follow(in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			follow(in.Out)
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			reads = append(reads, in)
		}
	}
	follow(uint32(prog.Start))
	return func(r rune) bool {
		for _, in := range reads {
			if in.MatchRune(r) {
				return true
			}
		}
		return false
	}
}

// plainWord returns the length of a word of ASCII letters together with the mark and the
// white space after it; 0 if rest begins otherwise. No rule looks further: only a period
// could continue after a space, and a period is left to the end of a text.
func plainWord(rest string) int {
	n := 0
	for n < min(len(rest)-2, 32) && 'a' <= rest[n]|0x20 && rest[n]|0x20 <= 'z' {
		n++
	}
	if n == 0 {
		return 0
	}
	switch rest[n] {
	case ' ', '\n':
		return n + 1
	case ',', ';', ':', '?', '!':
		if rest[n+1] == ' ' || rest[n+1] == '\n' {
			return n + 2
		}
	case '.':
		if rest[n+1] == '\n' {
			return n + 2
		}
	}
	return 0
}

// longestMatch returns the rule with the longest match at the beginning of rest, including
// its context, and the length of its token in bytes; nil if none matches.
func longestMatch(rest string) (best *matcher, token int) {
	rest = rest[:min(len(rest), window)]
	length := 0
	for _, m := range compiled()[min(rest[0], utf8.RuneSelf)] {
		if at := m.whole.FindStringIndex(rest); at != nil && at[1] > length {
			best, length = m, at[1]
		}
	}
	if best == nil {
		return nil, 0
	}
	if best.token != nil {
		length = best.token.FindStringSubmatchIndex(rest[:length])[3]
	}
	return best, length
}
