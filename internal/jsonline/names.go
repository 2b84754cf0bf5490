package jsonline

import (
	"strings"
)

// Names keeps one string for all equal names, so that a name neither costs an
// allocation nor keeps its line. The zero Names is empty.
type Names struct {
	known map[string]string
	order []string // of the last lines: what comes next is mostly what came next then
	next  int
}

// mostNames bounds the memory for names that do not repeat.
const mostNames = 1 << 12

// Line begins a line, which is likely to have the names of the line before.
func (n *Names) Line() { n.next = 0 }

// Get returns the string of a name.
func (n *Names) Get(name []byte) string { return Intern(n, name) }

// Intern returns the string of a name.
func Intern[T string | []byte](n *Names, name T) string {
	if n.next < len(n.order) && n.order[n.next] == string(name) {
		n.next++
		return n.order[n.next-1]
	}
	s, ok := n.known[string(name)]
	if !ok {
		if n.known == nil || len(n.known) >= mostNames {
			n.known = map[string]string{}
		}
		s = strings.Clone(string(name))
		n.known[s] = s
	}
	switch {
	case n.next < len(n.order):
		n.order[n.next] = s
	case len(n.order) < mostNames:
		n.order = append(n.order, s)
	}
	n.next++
	return s
}
