package check

import (
	"slices"
	"strings"
)

// stepSpace takes white space off, before and after each other step.
const stepSpace = "space"

// step is one way to clean. A step never takes what the reference has too, and never
// leaves nothing.
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
		{"lines", joinLines},
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

// mostCleaned bounds in bytes what is looked into. A longer answer is no rewriting.
const mostCleaned = 1 << 13

// clean applies the steps until none changes the text, for what one takes off may show
// what another one takes off. It returns the names of those that changed it.
func (c *Checker) clean(raw string, ref *original) (t string, used []string) {
	if t = strings.TrimSpace(raw); t != raw {
		used = append(used, stepSpace)
	}
	if len(t) > mostCleaned || !says(t) || ref.text == "" {
		return t, used
	}
	for range 12 { // which bounds what steps may undo of each other
		before := t
		for _, s := range steps() {
			out := strings.TrimSpace(s.do(c, t, ref))
			if out == t || out == "" {
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
