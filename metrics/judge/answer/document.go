package answer

import (
	"encoding/json"
	"errors"
	"strings"
)

// Bounds of what is parsed as JSON, far above any real answer.
const (
	deepest      = 64 // levels of nesting
	mostProse    = 16 // bracketed pieces of prose before the document
	longestProse = 64 // bytes; longer bracketed pieces are not taken for prose
)

// node is a JSON value. Unlike a map it keeps the order and the repetitions of an object's
// members.
type node struct {
	kind  byte    // one of { [ s n b 0
	text  string  // of s, n and b
	num   float64 // infinite if float64 cannot hold the number
	names []string
	kids  []*node
}

// member returns the value of the first member whose name satisfies is; repeated says that
// there are several.
func (n *node) member(is func(name string) bool) (value *node, repeated bool) {
	for i, name := range n.names {
		if is(name) {
			repeated = value != nil
			value = n.kids[i]
		}
	}
	return value, repeated
}

// document is a JSON document of an answer.
type document struct {
	root     *node
	repaired bool // the text was not valid JSON
	end      int  // in the text
}

var (
	errNoJSON     = errors.New("the answer has no JSON")
	errBrokenJSON = errors.New("the answer's JSON is broken beyond repair")
	errTooDeep    = errors.New("the answer's JSON is nested too deep")
)

// documentsIn returns the JSON documents in a text that start with one of the brackets. They may
// follow prose, and may be in the first fenced block.
func documentsIn(text, brackets string) (docs []document, err error) {
	if i := strings.Index(text, "```"); i >= 0 && strings.ContainsAny(text[i:], brackets) {
		text = text[i:]
	}
	for prose := 0; ; {
		i := strings.IndexAny(text, brackets)
		if i < 0 {
			break
		}
		text = text[i:]
		doc, err := documentAt(text)
		if err == nil {
			if docs = append(docs, doc); len(docs) > mostProse {
				return nil, errors.New("the answer has too many JSON documents")
			}
			text = text[doc.end:]
			continue
		}
		end, short := proseEnd(text)
		if prose++; !short || prose > mostProse {
			return nil, err
		}
		text = text[end:]
	}
	if len(docs) == 0 {
		return nil, errNoJSON
	}
	return docs, nil
}

// proseEnd returns the end of a bracketed piece of prose, such as "[0-100]".
func proseEnd(text string) (end int, ok bool) {
	closing := byte('}')
	if text[0] == '[' {
		closing = ']'
	}
	i := strings.IndexByte(text[:min(len(text), longestProse)], closing)
	if i < 0 || strings.ContainsAny(text[1:i], "\n\":") {
		return 0, false
	}
	return i + 1, true
}

// documentAt reads the document at the start of a text: JSON, or anything that the lenient
// reader understands.
func documentAt(text string) (document, error) {
	l := lenient{text: text}
	root, err := l.value(0)
	if err != nil {
		return document{}, err
	}
	return document{root: root, repaired: !json.Valid([]byte(text[:l.at])), end: l.at}, nil
}
