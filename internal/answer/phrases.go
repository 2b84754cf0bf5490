package answer

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

var errPhrases = errors.New("the answer to Q2 is neither [incorrect, correct], a list of such, nor a phrase of the output")

// phrasesOf reads the corrections of Q2: [incorrect, correct], or a list of such,
// also written in a string. Any other string is an incorrect phrase where it stands
// in the output; where it does not, nothing tells what it is.
func phrasesOf(n *node, stands func(string) bool) ([]Phrase, error) {
	switch {
	case n.kind == '0':
		return nil, nil
	case n.kind == '[':
		return phrasesIn(n.kids, stands)
	case n.kind != 's' && n.kind != 'n':
		return nil, errPhrases
	}
	s := textOf(n)
	if isNone(s) {
		return nil, nil
	}
	if _, ok := bracketed(s); ok {
		lists, ok := listsIn(unquote(s))
		if !ok {
			return nil, errPhrases
		}
		return phrasesIn(lists, stands)
	}
	if s = unquote(s); !stands(s) {
		return nil, errPhrases
	}
	return []Phrase{{Incorrect: s}}, nil
}

// phrasesIn reads the values of a list.
func phrasesIn(kids []*node, stands func(string) bool) (out []Phrase, err error) {
	isList := func(n *node) bool {
		_, ok := bracketed(textOf(n))
		return n.kind == '[' || n.kind == 's' && ok && !isNone(n.text)
	}
	isPlain := func(n *node) bool { return n.kind == 's' || n.kind == 'n' || n.kind == '0' }
	switch {
	case len(kids) == 0:
		return nil, nil
	case len(kids) == 1:
		return phrasesOf(kids[0], stands)
	case slices.ContainsFunc(kids, isList):
		for _, k := range kids {
			if !isList(k) {
				return nil, errPhrases
			}
			phrases, err := phrasesOf(k, stands)
			if err != nil {
				return nil, err
			}
			out = append(out, phrases...)
		}
		return out, nil
	case len(kids) != 2 || !isPlain(kids[0]) || !isPlain(kids[1]):
		return nil, errPhrases
	}
	if p := (Phrase{phraseOf(kids[0]), phraseOf(kids[1])}); p != (Phrase{}) {
		out = append(out, p)
	}
	return out, nil
}

// bracketed is what stands within the brackets around all of a string.
func bracketed(s string) (inner string, ok bool) {
	s = strings.TrimRight(unquote(s), ".;, ")
	if inner, ok = strings.CutPrefix(s, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
	}
	return inner, ok
}

// barePair is a pair without quotes, which may have apostrophes.
var barePair = regexp.MustCompile(`\[([^\[\],]+),([^\[\],]+)\]`)

// listsIn reads a string of one list or more.
func listsIn(s string) (lists []*node, ok bool) {
	s = "[" + strings.TrimRight(s, ".;, ") + "]"
	if d, err := documentAt(s, false); err == nil && d.end == len(s) {
		return d.root.kids, true
	}
	if strings.Trim(barePair.ReplaceAllString(s, ""), "[];, ") != "" {
		return nil, false
	}
	for _, m := range barePair.FindAllStringSubmatch(s, -1) {
		lists = append(lists, &node{kind: '[', kids: []*node{{kind: 's', text: m[1]}, {kind: 's', text: m[2]}}})
	}
	return lists, true
}
