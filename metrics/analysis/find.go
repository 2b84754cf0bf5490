package analysis

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// match says how well a phrase was found in a text.
type match uint8

const (
	nowhere     match = iota
	resembling        // the same after fold, or without punctuation at its ends
	insideWords       // verbatim, but beginning or ending within a word
	wordForWord
)

// haystack is a text to search for phrases.
type haystack struct {
	text   string
	folded *folded // made when it is needed
}

const (
	// maxTries bounds the occurrences tried in search of one that begins and ends at word
	// boundaries.
	maxTries = 32
	// maxParts bounds the parts of a phrase with elisions.
	maxParts = 8
)

// find searches for a phrase and returns its first span with the best match.
func (h *haystack) find(phrase string) (Span, match) {
	s, m := h.exact(phrase)
	if m == nowhere {
		s, m = h.similar(phrase)
	}
	return s, m
}

// has reports whether the folded text contains a phrase as whole words.
func (h *haystack) has(phrase string) bool {
	_, m := h.find(phrase)
	return m == wordForWord || m == resembling
}

// exact searches for a phrase verbatim. It prefers an occurrence that begins and ends at
// word boundaries.
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

// onRune reports whether byte i begins a rune or ends the text.
func (h *haystack) onRune(i int) bool { return i == len(h.text) || utf8.RuneStart(h.text[i]) }

func (h *haystack) wholeWords(from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(h.text[:from])
	first, _ := utf8.DecodeRuneInString(h.text[from:to])
	last, _ := utf8.DecodeLastRuneInString(h.text[from:to])
	after, _ := utf8.DecodeRuneInString(h.text[to:])
	return (from == 0 || !glued(before, first)) && (to == len(h.text) || !glued(last, after))
}

// span converts a range of bytes to one of runes.
func (h *haystack) span(from, to int) Span {
	start := utf8.RuneCountInString(h.text[:from])
	return Span{start, start + utf8.RuneCountInString(h.text[from:to])}
}

// similar searches for a phrase after fold, then also without the punctuation at its ends
// and with an ellipsis standing for anything. Only whole words count.
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

// sequence searches for folded parts, one after another, and returns the span from the
// first to the last.
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

// words searches for a folded part that begins and ends at word boundaries of the original,
// and returns its offset in the folded text.
func (h *haystack) words(part []byte, at int) (int, bool) {
	f := h.folded
	for range maxTries {
		i := bytes.Index(f.text[at:], part)
		if i < 0 {
			break
		}
		from, to := at+i, at+i+len(part)
		// A range within one character of the original does not match.
		if (from == 0 || f.from[from-1] != f.from[from]) && (to == len(f.text) || f.from[to-1] != f.from[to]) &&
			h.wholeWords(int(f.from[from]), int(f.to[to-1])) {
			return from, true
		}
		at = from + 1
	}
	return 0, false
}
