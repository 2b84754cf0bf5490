package matrix

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/refract-eval/refract/metrics"
)

// lineParser reads rows of JSON. Own code because encoding/json replaces
// lone surrogates, takes the last of repeated keys and keys in any case, in
// silence, and is too slow for a matrix.
type lineParser struct {
	b     []byte
	i     int
	text  []byte // of the last string that had escapes
	names interner
}

// kind is what a value of JSON is.
type kind uint8

const (
	kindNull kind = iota
	kindString
	kindNumber
	kindOther
)

// row reads one line, which is valid UTF-8, into all fields of r.
func (p *lineParser) row(line []byte, r *Row) error {
	p.b, p.i = line, 0
	if p.peek() != '{' {
		return errors.New("not a score matrix: a line must be a JSON object")
	}
	p.i++
	var seen uint
	scoreIsNull := false
	if p.peek() == '}' {
		p.i++
		return missingColumns(0)
	}
	for {
		key, err := p.str()
		if err != nil {
			return err
		}
		col := columnIndex(key)
		if col < 0 {
			return unknownColumn(string(key))
		}
		if seen&(1<<col) != 0 {
			return fmt.Errorf("column %s is there twice", columns[col])
		}
		seen |= 1 << col
		if p.peek() != ':' {
			return p.unexpected("':'")
		}
		p.i++
		k, text, err := p.value()
		if err != nil {
			return err
		}
		if err := p.set(r, col, k, text); err != nil {
			return fmt.Errorf("column %s: %w", columns[col], err)
		}
		if col == colScore {
			scoreIsNull = k == kindNull
		}
		if c := p.peek(); c == ',' {
			p.i++
			p.peek()
		} else if c == '}' {
			p.i++
			break
		} else {
			return p.unexpected("',' or '}'")
		}
	}
	if p.peek(); p.i < len(p.b) {
		return p.unexpected("the end of the line")
	}
	if seen != allColumns {
		return missingColumns(seen)
	}
	return checkScore(r.Status, scoreIsNull)
}

// columnIndex returns -1 for an unknown name.
func columnIndex(name []byte) int {
	for i, c := range columns {
		if string(name) == c {
			return i
		}
	}
	return -1
}

// set stores the value of a column.
func (p *lineParser) set(r *Row, col int, k kind, text []byte) error {
	switch col {
	case colReference, colReferences:
		if k == kindNull && col == colReference {
			r.Reference = NoReference
			return nil
		}
		n, err := strconv.ParseUint(string(text), 10, 31)
		if k != kindNumber || err != nil {
			return fmt.Errorf("want a whole number from 0, not %s", describe(k, text))
		}
		if col == colReference {
			r.Reference = int(n)
		} else {
			r.References = int(n)
		}
		return nil
	case colScore:
		r.Score = 0
		switch k {
		case kindNull:
			return nil
		case kindNumber:
			var err error
			if r.Score, err = strconv.ParseFloat(string(text), 64); err != nil {
				return fmt.Errorf("%s is beyond a 64-bit number", brief(string(text)))
			}
			return nil
		}
		return fmt.Errorf("want a number or null, not %s", describe(k, text))
	case colAggregate:
		if k == kindNull {
			r.Aggregate = ""
			return nil
		}
		if k == kindString && len(text) == 0 {
			return errors.New(`want null or "native", not ""`)
		}
	}
	if k != kindString {
		return fmt.Errorf("want a string, not %s", describe(k, text))
	}
	var err error
	switch col {
	case colID:
		if r.ID != string(text) {
			r.ID = string(text)
		}
	case colSystem:
		r.System = p.names.intern(text)
	case colMetric:
		r.Metric = p.names.intern(text)
	case colAggregate:
		r.Aggregate = p.names.intern(text)
	case colStatus:
		r.Status, err = parseStatus(p.names.intern(text))
	case colDirection:
		r.Direction, err = parseDirection(p.names.intern(text))
	case colSignature:
		r.Signature = p.names.intern(text)
	}
	return err
}

func parseStatus(s string) (metrics.Status, error) { return metrics.ParseStatus(brief(s)) }

func describe(k kind, text []byte) string {
	switch k {
	case kindNull:
		return "null"
	case kindString:
		return quote(string(text))
	default:
		return brief(string(text))
	}
}

// peek skips white space and returns the next byte, or 0 at the end.
func (p *lineParser) peek() byte {
	for ; p.i < len(p.b); p.i++ {
		switch c := p.b[p.i]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (p *lineParser) unexpected(want string) error {
	if p.i >= len(p.b) {
		return fmt.Errorf("bad JSON: the line ends where %s should be", want)
	}
	r, _ := utf8.DecodeRune(p.b[p.i:])
	return fmt.Errorf("bad JSON: byte %d is %q where %s should be", p.i+1, r, want)
}

// value reads a value that is not nested. The text is that of the string, or
// the literal, and valid until the next call.
func (p *lineParser) value() (kind, []byte, error) {
	switch c := p.peek(); {
	case c == '"':
		s, err := p.str()
		return kindString, s, err
	case c == '-' || '0' <= c && c <= '9':
		s, err := p.number()
		return kindNumber, s, err
	case c == '{' || c == '[':
		return kindOther, nil, fmt.Errorf("byte %d: an object or array inside a row; a row holds strings, numbers and nulls", p.i+1)
	}
	for _, word := range []string{"null", "true", "false"} {
		if strings.HasPrefix(string(p.b[p.i:min(len(p.b), p.i+len(word))]), word) {
			start := p.i
			p.i += len(word)
			if word == "null" {
				return kindNull, nil, nil
			}
			return kindOther, p.b[start:p.i], nil
		}
	}
	return kindOther, nil, p.unexpected("a value")
}

// number reads a number by JSON's grammar.
func (p *lineParser) number() ([]byte, error) {
	start := p.i
	at := func(set string) bool {
		return p.i < len(p.b) && strings.IndexByte(set, p.b[p.i]) >= 0
	}
	digits := func() bool {
		from := p.i
		for p.i < len(p.b) && '0' <= p.b[p.i] && p.b[p.i] <= '9' {
			p.i++
		}
		return p.i > from
	}
	if at("-") {
		p.i++
	}
	zero, from := at("0"), p.i
	ok := digits() && !(zero && p.i > from+1)
	if ok && at(".") {
		p.i++
		ok = digits()
	}
	if ok && at("eE") {
		p.i++
		if at("+-") {
			p.i++
		}
		ok = digits()
	}
	if !ok {
		return nil, fmt.Errorf("bad JSON: malformed number at byte %d", start+1)
	}
	return p.b[start:p.i], nil
}

// str reads a string.
func (p *lineParser) str() ([]byte, error) {
	if p.i >= len(p.b) || p.b[p.i] != '"' {
		return nil, p.unexpected("a string in double quotes")
	}
	p.i++
	start, escapes := p.i, false
	for ; p.i < len(p.b); p.i++ {
		switch c := p.b[p.i]; {
		case c == '"':
			s := p.b[start:p.i]
			p.i++
			if escapes {
				return p.unescape(s)
			}
			return s, nil
		case c == '\\':
			escapes = true
			p.i++
		case c < ' ':
			return nil, fmt.Errorf("bad JSON: control character %#02x in a string at byte %d", c, p.i+1)
		}
	}
	p.i = len(p.b)
	return nil, p.unexpected("the end of a string")
}

// unescape resolves the escapes of s, in which none is cut off by the end
// but perhaps a \u.
func (p *lineParser) unescape(s []byte) ([]byte, error) {
	p.text = p.text[:0]
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			p.text = append(p.text, s[i])
			continue
		}
		i++
		if k := strings.IndexByte(`"\/bfnrt`, s[i]); k >= 0 {
			p.text = append(p.text, "\"\\/\b\f\n\r\t"[k])
			continue
		}
		r, ok := codeUnit(s[i-1:])
		if !ok {
			return nil, fmt.Errorf("bad JSON: unknown escape in %s", quote(string(s)))
		}
		i += 4
		if utf16.IsSurrogate(r) {
			low, _ := codeUnit(s[i+1:])
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				return nil, fmt.Errorf("lone surrogate in %s, which no text can hold", quote(string(s)))
			}
			i += 6
		}
		p.text = utf8.AppendRune(p.text, r)
	}
	return p.text, nil
}

// codeUnit reads \uXXXX at the beginning of s.
func codeUnit(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s[2:6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// interner keeps one copy of each of the strings that repeat.
type interner map[string]string

func (t interner) intern(b []byte) string {
	if s, ok := t[string(b)]; ok {
		return s
	}
	if len(t) >= 1<<12 { // names that do not repeat must not fill the memory
		clear(t)
	}
	s := string(b)
	t[s] = s
	return s
}
