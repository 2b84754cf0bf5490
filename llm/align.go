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
	var (
		n     = len(tokens)
		at    = make([]int, n+1)   // the borders of the current way
		ways  = make([][]int, n+1) // its ends that were not tried yet
		begun = make([]bool, n+1)  // whether ways holds anything
		dead  = map[state]bool{}   // what leads nowhere
	)
	// Honest tokens need hardly more than a step each.
	for i, steps := 0, 8*(n+len(text)+maxUnknown); i >= 0 && steps > 0; steps-- {
		reached = max(reached, at[i])
		if i == n {
			// A last space may have been dropped.
			if n > 0 && strings.Trim(text[at[n]:], " ") == "" {
				at[n] = len(text)
				return at, reached
			}
			i--
			continue
		}
		if !begun[i] {
			begun[i] = true
			if i == 0 && unknown {
				ways[i] = anywhere(text)
			} else if !dead[state{i, at[i]}] {
				ways[i] = ends(text, at[i], tokens[i], ways[i][:0])
			}
		}
		if len(ways[i]) == 0 {
			dead[state{i, at[i]}] = true
			begun[i] = false
			i--
			continue
		}
		at[i+1], ways[i] = ways[i][0], ways[i][1:]
		i++
	}
	return nil, reached
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

// anywhere are the ends of an unknown first token: none first, since most
// models begin with a token of no text.
func anywhere(text string) (ends []int) {
	for at := range text {
		if at > maxUnknown {
			return ends
		}
		ends = append(ends, at)
	}
	return append(ends, len(text))
}

// ends adds to out the bytes at which a token that begins at a byte may end,
// the likeliest first.
func ends(text string, at int, token string, out []int) []int {
	add := func(end int) {
		if !slices.Contains(out, end) {
			out = append(out, end)
		}
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
	if strings.Contains(token, unreadable) {
		for _, end := range partial(text, at, token) {
			add(end)
		}
	}
	if at == 0 && special(token) {
		add(0)
	}
	return out
}

// special reports whether a token looks like one that a tokenizer puts before
// a text.
func special(token string) bool {
	for _, p := range []string{"<>", "[]"} {
		if len(token) > 2 && token[0] == p[0] && token[len(token)-1] == p[1] {
			return true
		}
	}
	return false
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

// unreadable is written for the bytes of a part of a character.
const unreadable = string(utf8.RuneError)

// partial gives the ends of a token of which each U+FFFD is a part of a
// character, and of no more than one.
func partial(text string, at int, token string) []int {
	now := []int{at}
	for token != "" && len(now) > 0 {
		var next []int
		if rest, ok := strings.CutPrefix(token, unreadable); ok {
			token = rest
			for _, a := range now {
				next = append(next, inCharacter(text, a)...)
			}
		} else {
			plain, _, _ := strings.Cut(token, unreadable)
			token = token[len(plain):]
			for _, a := range now {
				if strings.HasPrefix(text[a:], plain) {
					next = append(next, a+len(plain))
				}
			}
		}
		slices.Sort(next)
		now = slices.Compact(next)
	}
	return now
}

// inCharacter gives the bytes at which a part of a character can end that
// begins at a byte: within the character, or at its end if it began within.
func inCharacter(text string, at int) (ends []int) {
	if at >= len(text) {
		return nil
	}
	start := characterAt(text, at)
	_, size := utf8.DecodeRuneInString(text[start:])
	for end := at + 1; end < start+size; end++ {
		ends = append(ends, end)
	}
	if at > start {
		ends = append(ends, start+size)
	}
	return ends
}
