package answer

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/refract-eval/refract/metrics/analysis"
)

// jsonReader parses the number at a path of a JSON document. A string with only a number
// counts as one.
func jsonReader(s Spec) Parser {
	return func(text string, r *analysis.Report) string {
		docs, err := documentsIn(text, "{")
		if err != nil {
			return err.Error()
		}
		var found *node
		for _, d := range docs {
			value, repeated := d.root.follow(s.Path)
			if value == nil {
				continue
			}
			if repeated || found != nil && (found.kind != value.kind || found.text != value.text) {
				return "the answer states " + s.Path + " several times"
			}
			found = value
			noteDocument(r, d)
		}
		if found == nil {
			return "the answer's JSON has no " + s.Path
		}
		x, why := numberOf(found)
		if why = cmp.Or(why, outside(s, x)); why != "" {
			return s.Path + ": " + why
		}
		r.SetScore(analysis.Scored, x)
		return ""
	}
}

// numberOf returns the number in a JSON value, or why there is none.
func numberOf(n *node) (x float64, why string) {
	switch n.kind {
	case 'n':
		if !finite(n.num) {
			return 0, "the number is too large"
		}
		return n.num + 0, ""
	case 's':
		text := strings.TrimSpace(n.text)
		if x, width, ok := leadingNumber(text); ok && width == len(text) {
			return x, ""
		}
		return 0, fmt.Sprintf("the text %.40q is not a number", n.text)
	}
	return 0, "the value is not a number"
}

func noteDocument(r *analysis.Report, d document) {
	if d.repaired {
		note(r, "the JSON had to be repaired")
	}
}

// follow returns the value at a path of names joined by dots, or nil. repeated says that a name
// on the path occurs several times, so that the path is ambiguous.
func (n *node) follow(path string) (value *node, repeated bool) {
	for step := range strings.SplitSeq(path, ".") {
		next, twice := n.member(func(name string) bool { return name == step })
		if next == nil {
			return nil, repeated
		}
		n, repeated = next, repeated || twice
	}
	return n, repeated
}
