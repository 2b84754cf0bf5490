package answer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
)

// lenient reads invalid JSON as models write it: with single quotes or none, unescaped quotes,
// missing or extra commas, comments, and Python's words. It invents and drops nothing: anything
// that it cannot read is an error. It takes one pass.
type lenient struct {
	text string
	at   int
}

// errEnd says that the text ends inside the document.
var errEnd = errors.New("the answer ends within its JSON")

// value reads the value at the current position.
func (l *lenient) value(depth int) (*node, error) {
	if err := l.skip(); err != nil {
		return nil, err
	}
	switch c := l.text[l.at]; c {
	case '{', '[':
		if depth == deepest {
			return nil, errTooDeep
		}
		return l.container(c, depth)
	case '"', '\'':
		text, err := l.quoted()
		return &node{kind: 's', text: text}, err
	}
	word := l.bare(",}]\n")
	if l.at == len(l.text) {
		return nil, errEnd
	}
	switch strings.ToLower(word) {
	case "true", "false":
		return &node{kind: 'b', text: strings.ToLower(word)}, nil
	case "null", "none":
		return &node{kind: '0'}, nil
	}
	x, err := strconv.ParseFloat(word, 64)
	if (err == nil || math.IsInf(x, 0)) && !strings.ContainsAny(word, "_xXpPnN") {
		return &node{kind: 'n', text: word, num: x}, nil
	}
	if r, _ := utf8.DecodeRuneInString(word); !unicode.IsLetter(r) || strings.ContainsAny(word, `"'{[:`) {
		return nil, errBrokenJSON
	}
	return &node{kind: 's', text: word}, nil
}

// container reads an object or a list.
func (l *lenient) container(opening byte, depth int) (*node, error) {
	n := &node{kind: opening}
	closing := opening + 2 // in ASCII
	for l.at++; ; {
		if err := l.skip(); err != nil {
			return nil, err
		}
		switch l.text[l.at] {
		case ',':
			l.at++
			continue
		case closing:
			l.at++
			return n, nil
		case '}', ']':
			return nil, errBrokenJSON
		case '{':
			if opening == '{' && n.names == nil && depth < deepest {
				return l.doubled(depth)
			}
		}
		if opening == '{' {
			name, err := l.name()
			if err != nil {
				return nil, err
			}
			n.names = append(n.names, name)
		}
		kid, err := l.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, kid)
	}
}

// doubled reads an object whose braces are doubled.
func (l *lenient) doubled(depth int) (*node, error) {
	n, err := l.container('{', depth+1)
	if err == nil && l.skip() == nil && l.text[l.at] == '}' {
		l.at++
	}
	return n, err
}

// name reads a member's name and the colon after it. One of the quotation marks may be missing.
func (l *lenient) name() (name string, err error) {
	from := l.at
	if c := l.text[from]; c == '"' || c == '\'' {
		if name, err = l.quoted(); err == nil {
			err = l.skip()
		}
		if err == nil && l.text[l.at] == ':' {
			l.at++
			return name, nil
		}
	}
	l.at = from
	name = strings.Trim(l.bare(":,{}[]\n"), `"'`)
	ended := l.skip()
	if ended == nil && name != "" && l.text[l.at] == ':' {
		l.at++
		return name, nil
	}
	return "", cmp.Or(err, ended, errBrokenJSON)
}

// bare reads text without quotes up to one of the characters in ends.
func (l *lenient) bare(ends string) string {
	size := strings.IndexAny(l.text[l.at:], ends)
	if size < 0 {
		size = len(l.text) - l.at
	}
	word := l.text[l.at : l.at+size]
	l.at += size
	return strings.TrimSpace(word)
}

// quoted reads a string. It ends at the first quote of its kind that is followed by something
// that can follow a string, such as a line end before a line that starts with a quote. A
// backslash that is not an escape in JSON stands for itself.
func (l *lenient) quoted() (string, error) {
	quote := l.text[l.at]
	text := []byte{'"'} // the string in JSON
	for i := l.at + 1; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == '\\' && i+1 < len(l.text) && strings.IndexByte(`"\/bfnrtu`, l.text[i+1]) >= 0:
			text = append(text, c, l.text[i+1])
			i++
		case c == '\\' && i+1 < len(l.text) && l.text[i+1] == '\'':
		case c == quote && endsString(l.text[i+1:]):
			l.at = i + 1
			var s string
			if err := json.Unmarshal(append(text, '"'), &s); err != nil {
				return "", errBrokenJSON
			}
			return s, nil
		case c == '"' || c == '\\' || c < ' ':
			text = fmt.Appendf(text, "\\u%04x", c)
		default:
			text = append(text, c)
		}
	}
	return "", errEnd
}

func endsString(rest string) bool {
	after := strings.TrimLeft(rest, " \t\r\n")
	if after == "" || strings.IndexByte(",:}]/", after[0]) >= 0 {
		return true
	}
	return (after[0] == '"' || after[0] == '\'') && strings.Contains(rest[:len(rest)-len(after)], "\n")
}

// skipped matches white space and comments.
var skipped = text.Regexp(`^(?:[ \t\r\n]+|(?://|#)[^\n]*(?:\n|$)|/\*(?s:.*?)(?:\*/|$))+`)

// skip skips white space and comments.
func (l *lenient) skip() error {
	if l.at += len(skipped().FindString(l.text[l.at:])); l.at == len(l.text) {
		return errEnd
	}
	return nil
}
