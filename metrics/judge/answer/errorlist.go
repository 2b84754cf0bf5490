package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/metrics/analysis"
)

// errorsReader parses a list of errors from a JSON document: an array of objects, an object
// of objects (whose names do not matter), or a single object that is itself an error. If the
// document is an array, it is the list. An empty list means that there is no error; a missing
// list, or null, does not.
func errorsReader(s Spec) Parser {
	return func(text string, r *analysis.Report) string {
		docs, err := documentsIn(text, "{[")
		if err != nil {
			return err.Error()
		}
		var list *node
		for _, d := range docs {
			found, repeated := d.root, false
			if found.kind == '{' {
				found, repeated = found.follow(s.Path)
			}
			if found == nil || !s.isList(found) {
				continue
			}
			if list != nil || repeated {
				return "the answer has several lists of errors"
			}
			list = found
			noteDocument(r, d)
		}
		if list == nil {
			return "the answer's JSON has no list of errors at " + s.Path
		}
		return s.readList(list, r)
	}
}

// isList reports whether a value can be a list of errors.
func (s Spec) isList(n *node) bool {
	return n.kind == '{' && s.isError(n) || (n.kind == '[' || n.kind == '{') && !slices.ContainsFunc(n.kids, func(kid *node) bool { return kid.kind != '{' })
}

// isError reports whether an object has a member that makes it an error.
func (s Spec) isError(n *node) bool {
	for f, known := range s.Fields.names() {
		if v, _ := n.member(named(known)); known != "" && v != nil && field(f) != fieldDimension {
			return true
		}
	}
	return false
}

func (s Spec) readList(list *node, r *analysis.Report) string {
	nodes := list.kids
	if list.kind == '{' && s.isError(list) {
		nodes = []*node{list}
	}
	var items []item
	for i, n := range nodes {
		it, why := s.itemOf(i+1, n)
		if why != "" {
			return fmt.Sprintf("error %d: %s", i+1, why)
		}
		items = append(items, it)
	}
	nothing, _ := s.take(r, items)
	noteItems(r, nothing, "no content but N/A: left out")
	if len(r.Errors) == 0 {
		r.SetScore(analysis.NoError, 0)
		return ""
	}
	return s.sum(r)
}

// itemOf parses one error.
func (s Spec) itemOf(number int, n *node) (it item, why string) {
	if !s.isError(n) {
		return it, "has none of the members of an error"
	}
	it.number = number
	for f, name := range s.Fields.names() {
		if name == "" || field(f) == fieldPenalty && s.Weights != nil {
			continue
		}
		v, twice := n.member(named(name))
		switch {
		case twice:
			return it, name + " stands several times"
		case v == nil:
		case field(f) == fieldPenalty && v.kind == 'n':
			it.set(fieldPenalty, strconv.FormatFloat(v.num, 'f', -1, 64))
		default:
			it.set(field(f), cmp.Or(textOf(v), "N/A"))
		}
	}
	return it, ""
}

// textOf converts a value to text: the elements of lists are joined with commas, and objects
// become "".
func textOf(n *node) string {
	if n == nil {
		return ""
	}
	switch n.kind {
	case 's', 'n':
		return strings.TrimSpace(n.text)
	case '[':
		var all []string
		for _, kid := range n.kids {
			all = append(all, textOf(kid))
		}
		return strings.Join(slices.DeleteFunc(all, func(t string) bool { return t == "" }), ", ")
	}
	return ""
}

// named returns a function that recognises a name, ignoring case, spaces, marks and numbers:
// "Error Location 1" is error_location.
func named(name string) func(string) bool {
	name = fold(name)
	return func(other string) bool { return fold(other) == name }
}

func fold(name string) string {
	return strings.TrimRight(strings.NewReplacer(" ", "", "_", "", "-", "", "\t", "").Replace(strings.ToLower(name)), "0123456789")
}
