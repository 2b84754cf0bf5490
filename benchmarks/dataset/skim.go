package dataset

import (
	"bytes"
	"strings"

	"github.com/refract-eval/refract"
)

// skim takes from a line of JSON what identifies the references of a segment, and its id, source
// and language; nil if it cannot. It is for lines that another process reads and verifies.
func skim(line []byte) *refract.Segment {
	s, k := &refract.Segment{}, &skimmer{b: line}
	k.members(func(key string) {
		switch key {
		case "id":
			s.ID = k.literal()
		case "source":
			s.Source = k.text()
		case "language":
			s.Language = k.text().Value
		case "references":
			k.items(func() { s.References = append(s.References, k.text()) })
		case "variants":
			k.items(func() {
				v := refract.Variant{}
				k.members(func(key string) {
					if key == "text" {
						v.Text = k.text()
					} else {
						k.skip()
					}
				})
				s.Variants = append(s.Variants, v)
			})
		default:
			k.skip()
		}
	})
	if k.bad || s.ID == "" {
		return nil
	}
	return s
}

// skimmer walks over JSON, which it does not verify.
type skimmer struct {
	b   []byte
	at  int
	bad bool
}

// peek returns the next byte that is not white space.
func (k *skimmer) peek() byte {
	for ; k.at < len(k.b) && !k.bad; k.at++ {
		if c := k.b[k.at]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
	}
	k.bad = true
	return 0
}

// quoted returns the string that begins here, with its quotes.
func (k *skimmer) quoted() []byte {
	start, end := k.at, k.at+1
	for {
		n := bytes.IndexByte(k.b[end:], '"')
		if n < 0 {
			k.bad = true
			return []byte(`""`)
		}
		end += n + 1
		escapes := end - 2
		for k.b[escapes] == '\\' { // at the latest the first quote is none
			escapes--
		}
		if (end-2-escapes)%2 == 0 {
			k.at = end
			return k.b[start:end]
		}
	}
}

// literal returns a string, or what else stands here as it is written.
func (k *skimmer) literal() string {
	if k.peek() == '"' {
		return unquoted(k.quoted())
	}
	start := k.at
	k.skip()
	return strings.TrimSpace(string(k.b[start:k.at]))
}

// text returns a text or null.
func (k *skimmer) text() refract.Text {
	if k.peek() == '"' {
		return refract.NewText(unquoted(k.quoted()))
	}
	k.bad = k.literal() != "null" || k.bad
	return refract.Text{}
}

// skip passes over a value.
func (k *skimmer) skip() {
	for depth := 0; ; {
		switch c := k.peek(); {
		case k.bad:
			return
		case c == '"':
			k.quoted()
		case c == '{', c == '[':
			depth++
			k.at++
		case c == '}', c == ']':
			depth--
			k.at++
		default: // of a number or a word, or between values
			for k.at++; k.at < len(k.b) && strings.IndexByte(`"{}[],`, k.b[k.at]) < 0; k.at++ {
			}
		}
		if depth == 0 {
			return
		}
	}
}

// within calls each at every element between brackets; null has none.
func (k *skimmer) within(open, end byte, each func()) {
	if k.peek() != open {
		k.bad = k.literal() != "null" || k.bad
		return
	}
	for k.at++; k.peek() != end && !k.bad; {
		if each(); k.peek() == ',' {
			k.at++
		}
	}
	k.at++
}

func (k *skimmer) items(each func()) { k.within('[', ']', each) }

func (k *skimmer) members(each func(key string)) {
	k.within('{', '}', func() {
		if k.peek() != '"' {
			k.bad = true
			return
		}
		key := unquoted(k.quoted())
		k.bad = k.peek() != ':' || k.bad
		k.at++
		each(key)
	})
}
