package ter

import (
	"bytes"
	"iter"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
)

// tokenizer splits texts into words by Tercom's rules as sacreBLEU has them.
// It reuses its buffers, so it is for one goroutine.
//
// The Western rules only look at ASCII, so they scan bytes: no byte of a
// longer UTF-8 sequence can be taken for one of theirs.
type tokenizer struct {
	Options
	text, spare, word, once []byte
}

// words yields the words of a text, each valid until the next one. Invalid
// UTF-8 counts as U+FFFD. If twice, the words are joined by spaces and
// tokenized again.
func (t *tokenizer) words(s string, twice bool) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		t.read(s)
		if twice {
			t.once = t.once[:0]
			t.split(func(word []byte) bool {
				t.once = append(append(t.once, word...), ' ')
				return true
			})
			t.text = append(t.text[:0], bytes.TrimSuffix(t.once, []byte{' '})...)
		}
		t.split(yield)
	}
}

// readsTwice tells whether references are tokenized twice. sacreBLEU does so
// always, but it only changes something after normalization: in "&amp;quot;"
// or "'s's", for example. A reference is then not tokenized like a
// hypothesis, and the same text on both sides may cost edits.
func (t *tokenizer) readsTwice() bool { return t.Normalized }

// read makes s the text to split, without the white space at its end.
func (t *tokenizer) read(s string) {
	s = text.TrimRight(s)
	if t.CaseSensitive {
		t.text = append(t.text[:0], s...)
	} else {
		t.text = text.AppendLower(t.text[:0], s)
	}
}

// split yields the words of the text that was read.
func (t *tokenizer) split(yield func([]byte) bool) {
	if t.Normalized && len(t.text) > 0 {
		t.text = unescape(joinLines(t.text))
		t.spare = separatePunctuation(t.spare[:0], t.text)
		t.text = separateAfterNonDigit(t.text[:0], t.spare)
		t.spare = separateBeforeNonDigit(t.spare[:0], t.text)
		t.text, t.spare = t.spare, t.text
	}
	splitByAsian := t.Normalized && t.Asian
	removeAsian := t.NoPunct && t.Asian

	t.word = t.word[:0]
	for i := 0; i < len(t.text); {
		r, size := rune(t.text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(t.text[i:])
		}
		i += size
		switch {
		case text.IsSpace(r):
			if !t.end(yield) {
				return
			}
		case r < utf8.RuneSelf:
			if !t.NoPunct || !isPunct(r) {
				t.word = append(t.word, byte(r))
			}
		case t.Asian && isAsianPunct(r):
			if splitByAsian && !t.end(yield) {
				return
			}
			if removeAsian {
				continue
			}
			t.word = utf8.AppendRune(t.word, r)
			if splitByAsian && !t.end(yield) {
				return
			}
		case splitByAsian && isIdeograph(r):
			if !t.end(yield) {
				return
			}
			t.word = utf8.AppendRune(t.word, r)
			if !t.end(yield) {
				return
			}
		default:
			t.word = utf8.AppendRune(t.word, r)
		}
	}
	t.end(yield)
}

// end yields the pending word, if there is one.
func (t *tokenizer) end(yield func([]byte) bool) bool {
	if len(t.word) == 0 {
		return true
	}
	more := yield(t.word)
	t.word = t.word[:0]
	return more
}

// joinLines undoes hyphenation at line ends, and makes a space of any other
// line end. It works in place.
func joinLines(s []byte) []byte {
	if bytes.IndexByte(s, '\n') < 0 {
		return s
	}
	out := s[:0]
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\n':
			out = append(out, s[i])
		case i+1 < len(s) && s[i+1] == '-':
			i++
		default:
			out = append(out, ' ')
		}
	}
	return out
}

// unescape reads four entities in place. They are replaced one kind after
// another in the order below, so "&amp;lt;" becomes "<" whereas "&amp;quot;"
// becomes "&quot;" and stays.
func unescape(s []byte) []byte {
	if bytes.IndexByte(s, '&') < 0 {
		return s
	}
	out := s[:0]
	for len(s) > 0 {
		c, size := s[0], 1
		if c == '&' {
			c, size = entity(s)
		}
		out = append(out, c)
		s = s[size:]
	}
	return out
}

// entity reads what begins with an ampersand.
func entity(s []byte) (c byte, size int) {
	for _, e := range [...]struct {
		name string
		char byte
	}{
		{"&quot;", '"'},
		{"&amp;lt;", '<'},
		{"&amp;gt;", '>'},
		{"&amp;", '&'},
		{"&lt;", '<'},
		{"&gt;", '>'},
	} {
		if len(s) >= len(e.name) && string(s[:len(e.name)]) == e.name {
			return e.char, len(e.name)
		}
	}
	return '&', 1
}

// separatePunctuation puts spaces around most ASCII punctuation, and one
// before an 's that ends a word. The text gets a space at both ends, which
// the rules after it rely on.
func separatePunctuation(dst, s []byte) []byte {
	dst = append(dst, ' ')
	for i, c := range s {
		switch {
		case isSeparated(c):
			dst = append(dst, ' ', c, ' ')
		case c == '\'' && i+1 < len(s) && s[i+1] == 's' && (i+2 == len(s) || isSeparated(s[i+2])):
			dst = append(dst, ' ', c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, ' ')
}

// separateAfterNonDigit puts spaces around a period or comma that follows
// anything but a digit. The two characters of a match are read together, so
// of several marks in a row only every other one can match.
func separateAfterNonDigit(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		dst = append(dst, s[i])
		if i+1 < len(s) && !isDigit(s[i]) && isStop(s[i+1]) {
			i++
			dst = append(dst, ' ', s[i], ' ')
		}
	}
	return dst
}

// separateBeforeNonDigit puts spaces around a period or comma that anything
// but a digit follows, again two characters at a time, and around a hyphen
// that follows a digit.
func separateBeforeNonDigit(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case i+1 == len(s):
			dst = append(dst, c)
		case isStop(c) && !isDigit(s[i+1]):
			i++
			dst = append(dst, ' ', c, ' ', s[i])
		case isDigit(c) && s[i+1] == '-':
			i++
			dst = append(dst, c, ' ', '-', ' ')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
