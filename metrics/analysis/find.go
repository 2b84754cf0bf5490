package analysis

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// match says how a phrase stands in a text.
type match uint8

const (
	nowhere     match = iota
	resembling        // but for what fold takes away, or what stands at its ends
	insideWords       // word for word, but beginning or ending within a word
	wordForWord
)

// haystack is a text that phrases are looked for in.
type haystack struct {
	text   string
	folded *folded // made when it is needed
}

const (
	// maxTries bounds the occurrences of a phrase that are tried for one that
	// begins and ends with a word.
	maxTries = 32
	// maxParts bounds the parts of a phrase with elisions.
	maxParts = 8
)

// find looks for a phrase, and returns the best match with the first span of
// it.
func (h *haystack) find(phrase string) (Span, match) {
	s, m := h.exact(phrase)
	if m == nowhere {
		s, m = h.similar(phrase)
	}
	return s, m
}

// has reports whether a phrase stands in the text, but for what fold takes
// away, as whole words.
func (h *haystack) has(phrase string) bool {
	_, m := h.find(phrase)
	return m == wordForWord || m == resembling
}

// exact looks for a phrase word for word. An occurrence that begins and ends
// with a word goes before one that does not.
func (h *haystack) exact(phrase string) (found Span, m match) {
	if phrase == "" {
		return Span{}, nowhere
	}
	for at, tries := 0, 0; tries < maxTries && m != wordForWord; tries++ {
		i := strings.Index(h.text[at:], phrase)
		if i < 0 {
			break
		}
		from, to := at+i, at+i+len(phrase)
		switch {
		case !h.onRune(from) || !h.onRune(to):
		case h.wholeWords(from, to):
			found, m = h.span(from, to), wordForWord
		case m == nowhere:
			found, m = h.span(from, to), insideWords
		}
		at = from + 1
	}
	return found, m
}

// onRune reports whether a rune begins, or the text ends, at byte i.
func (h *haystack) onRune(i int) bool { return i == len(h.text) || utf8.RuneStart(h.text[i]) }

func (h *haystack) wholeWords(from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(h.text[:from])
	first, _ := utf8.DecodeRuneInString(h.text[from:to])
	last, _ := utf8.DecodeLastRuneInString(h.text[from:to])
	after, _ := utf8.DecodeRuneInString(h.text[to:])
	return (from == 0 || !glued(before, first)) && (to == len(h.text) || !glued(last, after))
}

// span turns a range of bytes into one of runes.
func (h *haystack) span(from, to int) Span {
	start := utf8.RuneCountInString(h.text[:from])
	return Span{start, start + utf8.RuneCountInString(h.text[from:to])}
}

// similar looks for what resembles a phrase: the same but for what fold takes
// away, then without the punctuation at its ends and with an ellipsis standing for
// anything. Only whole words count.
func (h *haystack) similar(phrase string) (Span, match) {
	if h.folded == nil {
		h.folded = fold(h.text)
	}
	needle := foldPhrase(phrase)
	parts := bytes.SplitN(needle, []byte("..."), maxParts)
	for i := range parts {
		parts[i] = bytes.TrimFunc(parts[i], unicode.IsPunct)
	}
	for _, parts := range [][][]byte{{needle}, {bytes.TrimFunc(needle, unicode.IsPunct)}, parts} {
		if s, ok := h.sequence(parts); ok {
			return s, resembling
		}
	}
	return Span{}, nowhere
}

// sequence looks for folded parts, one after the other, and returns the span
// from the first to the last.
func (h *haystack) sequence(parts [][]byte) (Span, bool) {
	first, next := -1, 0
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}
		at, ok := h.words(part, next)
		if !ok {
			return Span{}, false
		}
		if next = at + len(part); first < 0 {
			first = at
		}
	}
	if first < 0 {
		return Span{}, false
	}
	return h.span(int(h.folded.from[first]), int(h.folded.to[next-1])), true
}

// words looks for a folded part that begins and ends with a word of the original, and
// returns its offset in the folded text.
func (h *haystack) words(part []byte, at int) (int, bool) {
	f := h.folded
	for range maxTries {
		i := bytes.Index(f.text[at:], part)
		if i < 0 {
			break
		}
		from, to := at+i, at+i+len(part)
		// A range within one character of the original is no match.
		if (from == 0 || f.from[from-1] != f.from[from]) && (to == len(f.text) || f.from[to-1] != f.from[to]) &&
			h.wholeWords(int(f.from[from]), int(f.to[to-1])) {
			return from, true
		}
		at = from + 1
	}
	return 0, false
}
