package check

import (
	"slices"
	"strings"
)

// stepSpace trims white space, before and after each other step.
const stepSpace = "space"

// step is one way to clean an answer. A step never removes what the reference has, too, and
// never removes the whole text.
type step struct {
	name string
	do   func(c *Checker, t string, ref *original) string
}

func steps() []step {
	return []step{
		{"unicode", undirt},
		{"token", untoken},
		{"json", unjson},
		{"emoji", unemoji},
		{"markup", unmark},
		{"restated", unrestate},
		{"talk", untalk},
		{"alternatives", first},
		{"list", unlist},
		{"quotes", unquote},
	}
}

// Steps returns the names of the cleaning steps, in order.
func Steps() []string {
	names := []string{stepSpace}
	for _, s := range steps() {
		names = append(names, s.name)
	}
	return names
}

// mostCleaned is the maximum length in bytes of an answer to clean. A longer one is not a
// rewriting.
const mostCleaned = 1 << 13

// inField reports whether a step may turn the text of a JSON field into out. A model rarely
// surrounds that text, so only quotation marks, and lines or labels that name the task, are
// taken off.
func (s step) inField(t, out string, ref *original) bool {
	if s.name != "talk" {
		return s.name == "quotes"
	}
	before, after, _ := strings.Cut(t, out)
	before = strings.TrimRight(before, ` "“„«`)
	apart := strings.HasSuffix(before, "\n") || strings.HasSuffix(before, ":") || strings.HasSuffix(before, "：") || strings.HasPrefix(after, "\n")
	return apart && !ref.lines() && ref.evidence(before+after).task > 0
}

// clean applies the steps until none changes the text, because one step may uncover work for
// another. It returns the names of the steps that changed the text.
func (c *Checker) clean(raw string, ref *original, field bool) (t string, used []string) {
	if t = strings.TrimSpace(raw); t != raw {
		used = append(used, stepSpace)
	}
	if len(t) > mostCleaned || !says(t) || ref.text == "" {
		return t, used
	}
	for range 12 { // a bound, in case steps undo each other
		before := t
		for _, s := range steps() {
			out := strings.TrimSpace(s.do(c, t, ref))
			if out == t || out == "" || field && !s.inField(t, out, ref) {
				continue
			}
			t = out
			if !slices.Contains(used, s.name) {
				used = append(used, s.name)
			}
		}
		if t == before {
			break
		}
	}
	return t, used
}
