package answer

import (
	"fmt"
	"strings"

	"github.com/refract-eval/refract/metrics/analysis"
)

// errorsReader reads a list of errors from a JSON document: an array of
// objects, an object of objects (whose names do not matter), or one object
// that is itself an error. A document that is an array is the list itself. An
// empty list states that there is no error; a missing one, or null, does not.
func errorsReader(s Spec) (reader, error) {
	steps, err := parsePath(s.Path)
	if err != nil {
		return nil, s.wrong("path", "%q: %v", s.Path, err)
	}
	l := errorList{spec: s, rules: s.Rules(), steps: steps}
	return l.read, nil
}

type errorList struct {
	spec  Spec
	rules analysis.Rules
	steps []step
}

func (l *errorList) read(text string, r *analysis.Report) string {
	docs, err := documentsIn(text, "{[", l.spec.Cut)
	if err != nil {
		return err.Error()
	}
	var list *node
	cut := false
	for _, d := range docs {
		found, repeated := l.listIn(d.root)
		if found == nil {
			continue
		}
		if list != nil || repeated {
			return "the answer has several lists of errors"
		}
		list, cut = found, d.cut
		noteDocument(r, d)
	}
	if list == nil {
		return "the answer's JSON has no list of errors at " + l.spec.Path
	}
	return l.readList(list, cut, r)
}

// listIn finds the list of errors in a document. It is nil where there is none.
func (l *errorList) listIn(root *node) (list *node, repeated bool) {
	if root.kind == '[' {
		if l.steps[0].index >= 0 {
			if found, _ := follow(root, l.steps); found != nil && l.isList(found) {
				return found, false
			}
		}
		if l.isList(root) {
			return root, false
		}
		return nil, false
	}
	found, repeated := follow(root, l.steps)
	if found != nil && l.isList(found) {
		return found, repeated
	}
	// {"error_1": {…}, "error_2": {…}} without the object around it.
	if found == nil && len(root.names) > 0 && l.isList(root) {
		for _, name := range root.names {
			if !strings.HasPrefix(fold(name), "error") {
				return nil, false
			}
		}
		return root, false
	}
	return nil, false
}

// isList reports whether a value can be a list of errors.
func (l *errorList) isList(n *node) bool {
	switch n.kind {
	case 's':
		return isNone(n.text) && strings.TrimSpace(n.text) != ""
	case '[':
		for _, kid := range n.kids {
			if kid.kind != '{' {
				return false
			}
		}
		return true
	case '{':
		if l.isError(n) {
			return true
		}
		for _, kid := range n.kids {
			if kid.kind != '{' {
				return false
			}
		}
		return true
	}
	return false
}

// isError reports whether an object has a member that makes it an error.
func (l *errorList) isError(n *node) bool {
	for field, known := range l.spec.Fields.names() {
		if v, _ := n.member(named(known)); known != "" && v != nil && field != int(fieldDimension) {
			return true
		}
	}
	return false
}

func (l *errorList) readList(list *node, cut bool, r *analysis.Report) string {
	items := list.kids
	if list.kind == '{' && l.isError(list) {
		items = []*node{list}
	}
	if len(items) == 0 {
		if cut {
			return "the list of errors is cut before its first error"
		}
		r.SetScore(analysis.NoError, 0)
		return ""
	}
	var nothing []int
	for i, item := range items {
		e, states, why := l.errorOf(item)
		switch {
		case why != "":
			return fmt.Sprintf("error %d: %s", i+1, why)
		case !states:
			nothing = append(nothing, i+1)
		case cut && i == len(items)-1 && e.Penalty == nil:
			note(r, fmt.Sprintf("error %d, the last, is cut before its penalty: left out", i+1))
		default:
			r.Errors = append(r.Errors, e)
		}
	}
	noteItems(r, nothing, "no content but N/A: left out")
	switch {
	case len(r.Errors) > 0:
		return finishErrors(r, l.spec, true)
	case len(nothing) < len(items):
		return "the list of errors is cut within its first error"
	}
	r.SetScore(analysis.NoError, 0)
	return ""
}

// errorOf reads one error. states is false where all of its members say that
// there is nothing.
func (l *errorList) errorOf(n *node) (e analysis.Error, states bool, why string) {
	if !l.isError(n) {
		return e, false, "has none of the members of an error"
	}
	f := l.spec.Fields
	var values [fields]string
	for field, name := range f.names() {
		if name == "" || field == int(fieldPenalty) {
			continue
		}
		v, twice := n.member(named(name))
		if twice {
			return e, false, name + " stands several times"
		}
		values[field] = textOf(v)
		states = states || !isNone(values[field])
	}
	e = newError(func(f field) string { return values[f] })
	if l.spec.Weights != nil {
		if w, ok := l.rules.Weight(&e); ok {
			e.Penalty = &w
		} else if strings.EqualFold(strings.TrimSpace(values[fieldSeverity]), "neutral") {
			e.Penalty = new(0.0) // an issue that counts nothing, in MQM
		}
		return e, states, ""
	}
	v, twice := n.member(named(f.Penalty))
	if twice {
		return e, false, f.Penalty + " stands several times"
	}
	if v != nil {
		if x, why := numberOf(v); why == "" {
			e.Penalty = new(max(x, -x))
			states = states || x != 0
		}
	}
	return e, states, ""
}

// textOf is a value as text: lists of strings are joined, other values are
// empty.
func textOf(n *node) string {
	if n == nil {
		return ""
	}
	switch n.kind {
	case 's':
		return strings.TrimSpace(n.text)
	case 'n':
		return n.text
	case '[':
		var all []string
		for _, kid := range n.kids {
			if t := textOf(kid); t != "" {
				all = append(all, t)
			}
		}
		return strings.Join(all, ", ")
	}
	return ""
}

// named knows names whose case, spaces, marks and number do not count: "Error
// Location 1" is error_location.
func named(name string) func(string) bool {
	name = fold(name)
	return func(other string) bool { return fold(other) == name }
}

func fold(name string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _-\t", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
	return strings.TrimRight(name, "0123456789")
}
