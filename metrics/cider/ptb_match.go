package cider

import (
	"regexp"
	"regexp/syntax"
	"sync"
	"unicode/utf8"
)

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
