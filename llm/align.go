package llm

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// align gives the bytes of text between which the tokens stand, one more than
// there are tokens, where these spell it. Servers do not write tokens as they stand in a text (see spell),
// so each may cover one of several stretches; the first way that fits all is
// taken. unknown says that the first token's text is not known. borders is nil
// where the tokens do not spell the text, or no way is found within reason;
// they reach no further than reached.
func align(text string, tokens []string, unknown bool) (borders []int, reached int) {
	type state struct{ token, at int }
	borders, dead := make([]int, len(tokens)+1), map[state]bool{} // dead is what leads nowhere
	steps := 8 * (len(tokens) + len(text) + maxUnknown)           // honest tokens need hardly more than one each
	var fit func(i, at int) bool
	fit = func(i, at int) bool {
		borders[i], reached = at, max(reached, at)
		if i == len(tokens) {
			borders[i] = len(text) // a last space may have been dropped
			return i > 0 && strings.Trim(text[at:], " ") == ""
		}
		if steps--; steps < 0 || dead[state{i, at}] {
			return false
		}
		for _, end := range ends(text, at, tokens[i], unknown && i == 0) {
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

// characters widens a stretch to whole characters.
func characters(text string, from, to int) (int, int) {
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return characterAt(text, from), to
}

// characterAt is the beginning of the character in which a byte is.
func characterAt(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// maxUnknown bounds a token whose text is not known and the spaces that a token
// has lost, in bytes.
const maxUnknown = 256

// ends are the bytes at which a token that begins at a byte may end, the likeliest
// first. An unknown token most likely has no text.
func ends(text string, at int, token string, unknown bool) (out []int) {
	add := func(end int) {
		if !slices.Contains(out, end) {
			out = append(out, end)
		}
	}
	if unknown {
		for end := range text[:min(len(text), maxUnknown)] {
			out = append(out, end)
		}
		add(len(text))
		return out
	}
	rest := text[at:]
	spaces := 0
	for spaces < min(len(rest), maxUnknown) && rest[spaces] == ' ' {
		spaces++
	}
	if token == "" && spaces > 0 { // a space alone, which was dropped
		add(at + 1)
	}
	for _, s := range spell(token) {
		if strings.HasPrefix(rest, s) {
			add(at + len(s))
		}
		// SentencePiece puts a space before a text, and its decoder takes the
		// first space from a token that it decodes alone.
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
	// A tokenizer may put a special token before a text.
	if n := len(token); at == 0 && n > 2 && (token[0] == '<' && token[n-1] == '>' || token[0] == '[' && token[n-1] == ']') {
		add(0)
	}
	return out
}

// spell gives the texts that a token may stand for: as it is written, and the
// ways in which tokenizers write spaces and bytes in their vocabularies.
func spell(token string) []string {
	all := []string{token}
	if strings.Contains(token, "▁") { // of SentencePiece
		all = append(all, strings.ReplaceAll(token, "▁", " "))
	}
	if len(token) == 6 && strings.HasPrefix(token, "<0x") && token[5] == '>' { // of its bytes
		if b, err := strconv.ParseUint(token[3:5], 16, 8); err == nil {
			all = append(all, string([]byte{byte(b)}))
		}
	}
	return all
}

// unreadable is written for the bytes of a part of a character; a token has no more of
// them than maxUnreadable.
const (
	unreadable    = string(utf8.RuneError)
	maxUnreadable = 4
)

// partial adds the ends of a token of which each U+FFFD is a part of a
// character, and of no more than one.
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
