package answer

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/metrics/analysis"
)

// jsonReader reads a number at a path of a JSON document. A string that is a
// plain number counts as one.
func jsonReader(s Spec) (reader, error) {
	steps, err := parsePath(s.Path)
	if err != nil {
		return nil, s.wrong("path", "%q: %v", s.Path, err)
	}
	return func(text string, r *analysis.Report) string {
		docs, err := documentsIn(text, brackets(steps), s.Cut)
		if err != nil {
			return err.Error()
		}
		var found *node
		for _, d := range docs {
			value, repeated := follow(d.root, steps)
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
	}, nil
}

// numberOf returns the number of a JSON value, or says why there is none.
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
		return 0, fmt.Sprintf("the text %.40q is no number", n.text)
	}
	return 0, "the value is no number"
}

func noteDocument(r *analysis.Report, d document) {
	if d.repaired {
		note(r, "the JSON had to be repaired")
	}
	if d.cut {
		note(r, "the JSON is cut: what is whole was read")
	}
}

// step is one step of a path: a member's name, or an index.
type step struct {
	name  string
	index int // -1 for a name
}

// stepForm is the next step of a path: a name behind a dot, which the first
// lacks, or brackets around an index or a quoted name.
var stepForm = regexp.MustCompile(`^(?:(\.?)([^.[]+)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\])`)

// parsePath reads a path such as scores[0].value or ["a.b"].c.
func parsePath(path string) ([]step, error) {
	var steps []step
	for rest := path; rest != ""; {
		m := stepForm.FindStringSubmatch(rest)
		name, err := "", error(nil)
		if m != nil && m[4] != "" {
			name, err = strconv.Unquote(m[4])
		}
		switch {
		case m == nil || err != nil || m[2] != "" && (m[1] == "") != (len(steps) == 0):
			return nil, fmt.Errorf("cannot go on at %q: want names with dots between them, indexes counted from 0 in brackets, or [\"a name\"]", rest)
		case m[3] != "":
			index, _ := strconv.Atoi(m[3])
			steps = append(steps, step{"", index})
		default:
			steps = append(steps, step{m[2] + name, -1})
		}
		rest = rest[len(m[0]):]
	}
	return steps, nil
}

// brackets returns what a document that has the path starts with.
func brackets(steps []step) string {
	if steps[0].index >= 0 {
		return "["
	}
	return "{"
}

// follow returns the value at the path, or nil. repeated says that a name on
// the way stands several times, so that the path leads to several values.
func follow(n *node, steps []step) (value *node, repeated bool) {
	for _, s := range steps {
		switch {
		case s.index >= 0:
			if n.kind != '[' || s.index >= len(n.kids) {
				return nil, repeated
			}
			n = n.kids[s.index]
		default:
			next, twice := n.member(func(name string) bool { return name == s.name })
			if n.kind != '{' || next == nil {
				return nil, repeated
			}
			n, repeated = next, repeated || twice
		}
	}
	return n, repeated
}
