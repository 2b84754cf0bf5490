// Package token splits text into words the way sacreBLEU's tokenizers do.
//
// sacreBLEU defines them as sequences of regular expressions. Each expression surrounds one
// character with spaces or, for two characters in a row, one of the two; a match consumes
// both. Here each is one pass over the text that copies and inserts spaces.
package token

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
)

// Names lists the tokenizers, without those that need SentencePiece models.
func Names() []string { return []string{"none", "13a", "intl", "zh", "char"} }

// Splitter calls yield with each word of a text. The bytes are valid only during the call.
type Splitter interface {
	Split(s string, yield func(word []byte))
}

// Rouge is the tokenizer of rouge-score: runs of the letters a to z and digits. Names omits
// it.
const Rouge = "rouge"

// Tokenizer splits texts. It reuses its memory and is not safe for
// concurrent use.
type Tokenizer struct {
	kind  string
	lower bool
	text  []byte // the text being split
	a, b  []byte
	at    []int // positions of periods and commas
	r, q  []rune
}

// New returns the tokenizer with that name, or nil if there is none. With lower, it splits
// texts in lower case.
func New(name string, lower bool) *Tokenizer {
	if name != Rouge && !slices.Contains(Names(), name) {
		return nil
	}
	return &Tokenizer{kind: name, lower: lower}
}

// Split implements Splitter.
func (t *Tokenizer) Split(s string, yield func(token []byte)) {
	s = strings.TrimRightFunc(s, text.IsSpace)
	if t.lower && t.kind != Rouge {
		s = text.Lower(s)
	}
	switch t.kind {
	case Rouge:
		t.text = append(text.AppendLower(t.text[:0], s), ' ')
		start := 0
		for i, c := range t.text {
			if isAlphanumeric[c] {
				continue
			}
			if start < i {
				yield(t.text[start:i])
			}
			start = i + 1
		}
		return
	case "none":
		t.a = append(t.a[:0], s...)
	case "13a":
		if strings.IndexByte(s, '&') < 0 && strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, '<') < 0 {
			t.words(s, yield)
			return
		}
		t.thirteenA(s)
	case "zh":
		t.chinese(strings.TrimFunc(s, text.IsSpace))
	case "intl":
		t.international(s)
	case "char":
		for _, c := range s {
			if !text.IsSpace(c) {
				t.a = utf8.AppendRune(t.a[:0], c)
				yield(t.a)
			}
		}
		return
	}
	Fields(t.a, yield)
}

// isAlphanumeric has the bytes of Rouge's words.
var isAlphanumeric = func() (a [256]bool) {
	for _, r := range "abcdefghijklmnopqrstuvwxyz0123456789" {
		a[r] = true
	}
	return a
}()

// IsRouge reports whether Rouge could give these bytes as a word.
func IsRouge(word []byte) bool {
	return !slices.ContainsFunc(word, func(c byte) bool { return !isAlphanumeric[c] })
}

// Fields calls yield with each run of bytes between white space.
func Fields(b []byte, yield func(field []byte)) {
	start := 0
	for i := 0; i < len(b); {
		c := b[i]
		if c > ' ' && c < utf8.RuneSelf {
			i++
			continue
		}
		n := 1
		r := rune(c)
		if c >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(b[i:])
		}
		if text.IsSpace(r) {
			if start < i {
				yield(b[start:i])
			}
			start = i + n
		}
		i += n
	}
	if start < len(b) {
		yield(b[start:])
	}
}

// The classes of bytes that the passes look at.
const (
	plain  uint8 = iota
	symbol       // always a token
	mark         // period or comma
	hyphen
	digit
)

var class = func() (c [256]uint8) {
	for _, r := range []struct{ lo, hi byte }{{'{', '~'}, {'[', '`'}, {'!', '&'}, {'(', '+'}, {':', '@'}, {'/', '/'}} {
		for b := int(r.lo); b <= int(r.hi); b++ {
			c[b] = symbol
		}
	}
	c['.'], c[','], c['-'] = mark, mark, hyphen
	for b := '0'; b <= '9'; b++ {
		c[b] = digit
	}
	return c
}()

// words is thirteenA for a text without entities, line ends and tags. The western rules
// look at neighbouring characters, and no rule separates white space, so each run between
// white space can be treated separately. Most runs are words that no rule concerns, or
// words that end with a period or comma.
func (t *Tokenizer) words(s string, yield func(token []byte)) {
	t.text = append(append(t.text[:0], s...), ' ')
	in := t.text
	for i := 0; i < len(in); {
		start := i
		seen := uint8(0)
		for ; traits[in[i]]&white == 0; i++ {
			seen |= traits[in[i]]
		}
		run := in[start:i]
		i++
		switch last := len(run) - 1; {
		case last < 0:
		case seen&odd == 0 && seen&(dashed|numeric) != dashed|numeric:
			yield(run)
		case seen&(odd&^marked) == 0 && seen&(dashed|numeric) != dashed|numeric && firstMark(run) == last:
			if last > 0 {
				yield(run[:last])
			}
			yield(run[last:])
		default:
			t.b = append(append(append(t.b[:0], ' '), run...), ' ')
			t.western()
			Fields(t.a, yield)
		}
	}
}

func firstMark(run []byte) int {
	for i, c := range run {
		if class[c] == mark {
			return i
		}
	}
	return -1
}

// The traits of bytes that decide which runs the rules concern.
const (
	white   uint8 = 1 << iota // ASCII white space
	special                   // a symbol, or the first byte of possible white space
	marked
	dashed
	numeric

	odd = special | marked
)

var traits = func() (t [256]uint8) {
	for b := range t {
		switch class[b] {
		case symbol:
			t[b] = special
		case mark:
			t[b] = marked
		case hyphen:
			t[b] = dashed
		case digit:
			t[b] = numeric
		}
		if b < utf8.RuneSelf && text.IsSpace(rune(b)) {
			t[b] = white
		}
	}
	// U+0085 and U+00A0, U+1680, U+2000 to U+205F, U+3000.
	for _, lead := range []byte{0xc2, 0xe1, 0xe2, 0xe3} {
		t[lead] = special
	}
	return t
}()

// thirteenA is mteval-v13a's tokenization: join lines, decode four entities, then apply the
// western rules to a text padded with spaces.
func (t *Tokenizer) thirteenA(s string) {
	s = strings.ReplaceAll(s, "<skipped>", "")
	s = strings.ReplaceAll(s, "-\n", "")
	s = strings.ReplaceAll(s, "\n", " ")
	t.b = append(t.b[:0], ' ')
	t.b = append(t.b, Unescape(s)...)
	t.b = append(t.b, ' ')
	t.western()
}

// Unescape decodes four entities, one after the other as in mteval-v13a and Tercom, so that
// "&amp;lt;" becomes "<", and "&amp;quot;" becomes "&quot;".
func Unescape(s string) string { return entities.Replace(s) }

var entities = strings.NewReplacer("&quot;", `"`, "&amp;lt;", "<", "&amp;gt;", ">", "&amp;", "&", "&lt;", "<", "&gt;", ">")

// IsSymbol reports whether the western rules always make a byte a token.
func IsSymbol(b byte) bool { return class[b] == symbol }

// Western applies mteval-v13a's rules for western languages, which are Tercom's too, to a
// text with a space at both ends. The result is valid until the next call.
func (t *Tokenizer) Western(text []byte) []byte {
	t.b = append(t.b[:0], text...)
	t.western()
	return t.a
}

// western applies the rules for western languages to t.b and leaves the
// result in t.a.
func (t *Tokenizer) western() {
	// Symbols become tokens. (The original pads them with spaces too, which changes nothing: a
	// space is not a digit, period, comma or dash, and the number of spaces does not matter.)
	in, out, at := t.b, t.a[:0], t.at[:0]
	run := 0
	dash := false
	for i, c := range in {
		switch class[c] {
		case symbol:
			out = append(out, in[run:i]...)
			out = append(out, ' ', c, ' ')
			run = i + 1
		case mark:
			at = append(at, len(out)+i-run)
		case hyphen:
			dash = true
		}
	}
	out = append(out, in[run:]...)

	if len(at) > 0 {
		// A period or comma becomes a token unless a digit precedes it.
		in, out = out, in[:0]
		run = 0
		free := 0 // first byte that no match has consumed
		for k, i := range at {
			if i-1 < free || class[in[i-1]] == digit {
				at[k] = len(out) + i - run
				continue
			}
			out = append(out, in[run:i]...)
			at[k] = len(out) + 1
			out = append(out, ' ', in[i], ' ')
			run, free = i+1, i+1
		}
		out = append(out, in[run:]...)

		// A period or comma becomes a token unless a digit follows it.
		in, out = out, in[:0]
		run, free = 0, 0
		for _, i := range at {
			if i < free || i+1 >= len(in) || class[in[i+1]] == digit {
				continue
			}
			out = append(out, in[run:i]...)
			out = append(out, ' ', in[i], ' ')
			run, free = i+1, i+2
		}
		out = append(out, in[run:]...)
	}

	if dash {
		// A dash becomes a token if a digit precedes it.
		in, out = out, in[:0]
		run = 0
		for i := 1; i < len(in); i++ {
			if in[i] == '-' && class[in[i-1]] == digit {
				out = append(out, in[run:i]...)
				out = append(out, ' ', '-', ' ')
				run = i + 1
			}
		}
		out = append(out, in[run:]...)
	}
	t.a, t.b, t.at = out, in, at
}

// chinese makes each Chinese character a token and treats the rest as western.
func (t *Tokenizer) chinese(s string) {
	t.b = t.b[:0]
	for _, c := range s {
		if isChinese(c) {
			t.b = append(t.b, ' ')
			t.b = utf8.AppendRune(t.b, c)
			t.b = append(t.b, ' ')
			continue
		}
		t.b = utf8.AppendRune(t.b, c)
	}
	t.western()
}

// isChinese has sacreBLEU's ranges. sacreBLEU writes two ranges beyond U+FFFF with
// four-digit escapes, so that they cover U+2001–U+2A6D and U+2F81–U+2FA1 instead; scores
// depend on it.
func isChinese(c rune) bool {
	for _, r := range [...]struct{ lo, hi rune }{
		{0x3400, 0x4db5}, {0x4e00, 0x9fa5}, {0x9fa6, 0x9fbb}, {0xf900, 0xfa2d},
		{0xfa30, 0xfa6a}, {0xfa70, 0xfad9}, {0x2001, 0x2a6d}, {0x2f81, 0x2fa1},
		{0xff00, 0xffef}, {0x2e80, 0x2eff}, {0x3000, 0x303f}, {0x31c0, 0x31ef},
		{0x2f00, 0x2fdf}, {0x2ff0, 0x2fff}, {0x3100, 0x312f}, {0x31a0, 0x31bf},
		{0xfe10, 0xfe1f}, {0xfe30, 0xfe4f}, {0x2600, 0x26ff}, {0x2700, 0x27bf},
		{0x3200, 0x32ff}, {0x3300, 0x33ff},
	} {
		if r.lo <= c && c <= r.hi {
			return true
		}
	}
	return false
}

// international is mteval-v14's: by Unicode's categories, all symbols become tokens, and so
// does punctuation that follows or precedes a non-digit.
func (t *Tokenizer) international(s string) {
	in, out := t.r[:0], t.q[:0]
	for _, c := range s {
		in = append(in, c)
	}
	for i := 0; i < len(in); i++ {
		if i+1 < len(in) && !unicode.IsNumber(in[i]) && unicode.IsPunct(in[i+1]) {
			out = append(out, in[i], ' ', in[i+1], ' ')
			i++
			continue
		}
		out = append(out, in[i])
	}
	in, out = out, in[:0]
	for i := 0; i < len(in); i++ {
		if i+1 < len(in) && unicode.IsPunct(in[i]) && !unicode.IsNumber(in[i+1]) {
			out = append(out, ' ', in[i], ' ', in[i+1])
			i++
			continue
		}
		out = append(out, in[i])
	}
	t.a = t.a[:0]
	for _, c := range out {
		if unicode.IsSymbol(c) {
			t.a = append(t.a, ' ')
			t.a = utf8.AppendRune(t.a, c)
			t.a = append(t.a, ' ')
			continue
		}
		t.a = utf8.AppendRune(t.a, c)
	}
	t.r, t.q = in, out
}
