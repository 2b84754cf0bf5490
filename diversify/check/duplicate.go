package check

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalized returns the text in the form in which texts are compared for
// copies and duplicates.
func (w *work) normalized() []byte {
	if !w.hasNorm {
		w.norm, w.hasNorm = appendNormalized(w.norm[:0], w.text), true
	}
	return w.norm
}

// appendNormalized appends a text in Unicode's compatibility form NFKC, in lower
// case (ß as ss), without apostrophes, and with one space for other punctuation
// and white space, but for punctuation between two digits, which is part of a
// number.
func appendNormalized(dst []byte, s string) []byte {
	begin, space := len(dst), false
	put := func(dst []byte) []byte {
		if space && len(dst) > begin {
			dst = append(dst, ' ')
		}
		space = false
		return dst
	}
	if norm.NFKC.QuickSpanString(s) < len(s) {
		s = norm.NFKC.String(s)
	}
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch n := normalASCII[c]; {
			case n == 0:
			case n != ' ':
				dst = append(put(dst), n)
			case betweenDigits(s, i-1, 1):
				dst = append(put(dst), c)
			default:
				space = true
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 'ß' || r == 'ẞ':
			dst = append(put(dst), "ss"...)
		case r == 'ς':
			dst = append(put(dst), "σ"...)
		case r == '’' || r == '‘':
		case unicode.IsSpace(r), unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			space = true
		case unicode.IsPunct(r) && !betweenDigits(s, i, n):
			space = true
		default:
			dst = utf8.AppendRune(put(dst), unicode.ToLower(r))
		}
		i += n
	}
	return dst
}

// normalASCII is what becomes of an ASCII character: itself or its lower case,
// ' ' for white space and punctuation, 0 for what is dropped.
var normalASCII = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		switch {
		case 'A' <= c && c <= 'Z':
			t[c] = byte(c) + 'a' - 'A'
		case 'a' <= c && c <= 'z', isDigit(byte(c)), strings.IndexByte("$+<=>|", byte(c)) >= 0:
			t[c] = byte(c)
		case c == '\'':
			t[c] = 0
		default:
			t[c] = ' '
		}
	}
	return t
}()

func betweenDigits(s string, i, n int) bool {
	return i > 0 && i+n < len(s) && isDigit(s[i-1]) && isDigit(s[i+n]) && s[i] > ' '
}

// copied says which original the answer copies, or "".
func (s *Segment) copied() string {
	for i, r := range s.references {
		if how := s.same(r); how != "" {
			return fmt.Sprintf("%s as reference %d", how, i+1)
		}
	}
	if how := s.same(s.source); how != "" {
		return how + " as the source"
	}
	return ""
}

// same says how the text at hand is that of an original, or "".
func (s *Segment) same(o *original) string {
	switch {
	case o.text == "":
		return ""
	case s.w.text == o.text:
		return "the same"
	case s.c.cfg.Exact:
		return ""
	}
	if n := s.w.normalized(); len(n) > 0 && bytes.Equal(n, o.w.normalized()) {
		return butFor
	}
	return ""
}

const butFor = "but for case, punctuation and white space the same"

// refusedText is one that somebody other than the checks has rejected.
type refusedText struct{ text, norm, by string }

// Refuse adds a text that later answers must differ from, whichever checks
// there are, as somebody has rejected it. by says who, for people.
func (s *Segment) Refuse(text, by string) {
	s.refused = append(s.refused, refusedText{text, string(appendNormalized(nil, text)), by})
}

// repeatsRefused says which refused text the answer repeats, or "".
func (s *Segment) repeatsRefused() string {
	if len(s.refused) == 0 {
		return ""
	}
	n := string(s.w.normalized())
	for _, r := range s.refused {
		switch {
		case r.text == s.w.text:
			return "the same as a text that " + r.by + " rejected"
		case !s.c.cfg.Exact && n != "" && r.norm == n:
			return butFor + " as a text that " + r.by + " rejected"
		}
	}
	return ""
}

// repeated says which accepted answer the answer repeats, counted from 1 in
// this segment, or "".
func (s *Segment) repeated() string {
	for i := range s.accepted {
		if s.accepted[i].text == s.w.text {
			return fmt.Sprintf("the same as accepted answer %d", i+1)
		}
	}
	if s.c.cfg.Exact {
		return ""
	}
	n := s.w.normalized()
	if len(n) == 0 {
		return ""
	}
	for i := range s.accepted {
		if bytes.Equal(s.accepted[i].norm, n) {
			return fmt.Sprintf("%s as accepted answer %d", butFor, i+1)
		}
	}
	return ""
}
