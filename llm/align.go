package llm

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// align returns the borders of the tokens in text, in bytes: one more than there are tokens.
// Servers do not always write tokens as they are in the text (see spell), so a token may match
// several stretches; align takes the first combination in which all tokens fit. If the tokens do not
// spell the text, or no combination is found in reasonable time, borders is nil, and reached is how
// far the tokens got.
func align(text string, tokens []string) (borders []int, reached int) {
	type state struct{ token, at int }
	borders, dead := make([]int, len(tokens)+1), map[state]bool{} // dead holds states without a solution
	steps := 8 * (len(tokens) + len(text) + maxSpaces)            // honest tokens need hardly more than one step each
	var fit func(i, at int) bool
	fit = func(i, at int) bool {
		borders[i], reached = at, max(reached, at)
		if i == len(tokens) {
			borders[i] = len(text) // the last space may have been dropped
			return i > 0 && strings.Trim(text[at:], " ") == ""
		}
		if steps--; steps < 0 || dead[state{i, at}] {
			return false
		}
		for _, end := range ends(text, at, tokens[i]) {
			if fit(i+1, end) {
				return true
			}
		}
		dead[state{i, at}] = true
		return false
	}
	if !fit(0, 0) {
		return nil, reached
	}
	return borders, reached
}

// characters widens a range to whole characters.
func characters(text string, from, to int) (int, int) {
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return characterAt(text, from), to
}

// characterAt returns the start of the character that contains a byte.
func characterAt(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// maxSpaces bounds the spaces that a token may have lost.
const maxSpaces = 256

// ends returns the positions at which a token that begins at a byte may end, the likeliest first.
func ends(text string, at int, token string) (out []int) {
	add := func(end int) {
		if !slices.Contains(out, end) {
			out = append(out, end)
		}
	}
	rest := text[at:]
	spaces := 0
	for spaces < min(len(rest), maxSpaces) && rest[spaces] == ' ' {
		spaces++
	}
	if token == "" && spaces > 0 { // only a space, which was dropped
		add(at + 1)
	}
	for _, s := range spell(token) {
		if strings.HasPrefix(rest, s) {
			add(at + len(s))
		}
		// SentencePiece adds a space before a text, and its decoder removes the first
		// space of a token that it decodes separately.
		if at == 0 && len(s) > 1 && s[0] == ' ' && strings.HasPrefix(rest, s[1:]) {
			add(len(s) - 1)
		}
		if spaces > 0 && s != "" && strings.HasPrefix(rest[spaces:], s) {
			add(at + spaces + len(s))
		}
	}
	if n := strings.Count(token, unreadable); n > 0 && n <= maxUnreadable {
		partial(text, at, token, add)
	}
	// A tokenizer may add a special token before a text.
	if at == 0 && isSpecial(token) {
		add(0)
	}
	return out
}

// isSpecial reports whether a token is written as special ones are, such as <s> and [CLS].
func isSpecial(token string) bool {
	n := len(token)
	return n > 2 && (token[0] == '<' && token[n-1] == '>' || token[0] == '[' && token[n-1] == ']')
}

// spell returns the texts that a token may stand for: the token itself, and its decodings from
// the forms in which vocabularies write spaces and bytes.
func spell(token string) []string {
	all := []string{token}
	if strings.Contains(token, "▁") { // a space of SentencePiece
		all = append(all, strings.ReplaceAll(token, "▁", " "))
	}
	if len(token) == 6 && strings.HasPrefix(token, "<0x") && token[5] == '>' { // a byte of SentencePiece
		if b, err := strconv.ParseUint(token[3:5], 16, 8); err == nil {
			all = append(all, string([]byte{byte(b)}))
		}
	}
	return all
}

// unreadable replaces the bytes of an incomplete character. A token has at most
// maxUnreadable of them.
const (
	unreadable    = string(utf8.RuneError)
	maxUnreadable = 4
)

// partial adds the possible ends of a token in which each U+FFFD stands for part of a single
// character.
func partial(text string, at int, token string, add func(end int)) {
	plain, rest, more := strings.Cut(token, unreadable)
	if !strings.HasPrefix(text[at:], plain) {
		return
	}
	if at += len(plain); !more {
		add(at)
		return
	}
	start := characterAt(text, at)
	_, size := utf8.DecodeRuneInString(text[start:])
	for end := at + 1; at < len(text) && end <= start+size; end++ {
		if end < start+size || at > start {
			partial(text, end, rest, add)
		}
	}
}
