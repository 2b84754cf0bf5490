package answer

import (
	"slices"
	"strconv"
	"strings"
)

// grammar describes the form of a numbered error analysis:
//
//	<statement: how many errors>
//	<label> 1: <value, up to the next label>
//	…
type grammar struct {
	// opening and marker are the first and last words of the prompt, for files that hold
	// prompt and answer in one string.
	opening, marker string
	labels          map[string]field // in lower case, without number and colon
	starts          []field          // fields that begin an error, in this order
	last            field            // field that ends an error
	numberless      field            // field without a number
}

// label is a line that looks like the start of a field.
type label struct {
	field      field
	number     int // 0 if there is none
	start, end int // range of the label in the text, including the marks before it and its colon
}

// longestLabel bounds how many bytes of a line are searched for a label's colon.
const longestLabel = 64

// labelsOf finds the lines of the text that look like labels.
func (g *grammar) labelsOf(text string) []label {
	var all []label
	at := 0
	for line := range strings.Lines(text) {
		before, _, colon := strings.Cut(line[:min(len(line), longestLabel)], ":")
		name := strings.TrimLeft(before, " \t*_#>-•")
		name = strings.TrimRight(name, " \t*_")
		words := strings.TrimRight(name, "0123456789")
		digits := name[len(words):]
		number, err := strconv.Atoi(digits)
		words = strings.ToLower(strings.Join(strings.Fields(strings.TrimRight(words, "#")), " "))
		if f, known := g.labels[words]; colon && known && (digits == "" || number > 0 && err == nil) {
			all = append(all, label{f, number, at, at + len(before) + 1})
		}
		at += len(line)
	}
	return all
}

// key is a field with its number.
type key struct {
	field  field
	number int
}

// items splits the text at labels in places where the grammar expects them. Any other line that
// looks like a label belongs to the current field. before is the text before the first item.
func (g *grammar) items(text string) (items []item, before string) {
	labels := g.labelsOf(text)
	last := map[key]int{} // the last line with this label
	numbered := false
	for i, l := range labels {
		last[key{l.field, l.number}] = i
		numbered = numbered || l.number > 0
	}
	before = text
	var (
		open field // the current field
		from int
	)
	closeField := func(end int) {
		if open == fieldNone {
			return
		}
		items[len(items)-1].value[open] = cleanValue(text[from:end])
	}
	for i, l := range labels {
		begins := g.begins(l, items, numbered, func(f field, n int) bool { at, ok := last[key{f, n}]; return ok && at > i })
		if !begins {
			if len(items) == 0 {
				continue
			}
			it := &items[len(items)-1]
			ours := l.number == it.number || l.number == 0 && (!numbered || l.field == g.numberless)
			if it.has[l.field] || !ours {
				continue
			}
		}
		closeField(l.start)
		if begins {
			if len(items) == 0 {
				before = text[:l.start]
			}
			number := l.number
			if number == 0 {
				number = len(items) + 1
			}
			items = append(items, item{number: number})
		}
		items[len(items)-1].has[l.field] = true
		open, from = l.field, l.end
	}
	closeField(len(text))
	return items, before
}

// begins reports whether a label begins the next item. A label without a number does so if
// nothing in the answer is numbered, or if no item is open.
func (g *grammar) begins(l label, items []item, numbered bool, later func(field, int) bool) bool {
	var open *item
	previous := 0
	if len(items) > 0 {
		open = &items[len(items)-1]
		previous = open.number
	}
	starts := slices.Contains(g.starts, l.field)
	switch {
	case !numbered:
		return open == nil || starts && open.has[l.field]
	case l.number == 0:
		return open == nil && l.field == g.numberless
	case l.number == previous+1:
		return (starts || !slices.ContainsFunc(g.starts, func(f field) bool { return later(f, l.number) })) &&
			(open == nil || open.has[g.last] || !later(g.last, previous))
	}
	return starts && l.number == previous && open.has[l.field] && open.has[g.last]
}

// cleanValue strips marks around a field's value. The label, the value or both may be bold, as
// in "**Severity 1:** Major" and "**Severity 1: Major**".
func cleanValue(s string) string {
	const bold = "**"
	s = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s), bold))
	if inner := strings.TrimPrefix(s, bold); strings.Count(inner, bold) == 1 && strings.HasSuffix(inner, bold) {
		s = strings.TrimSpace(strings.TrimSuffix(inner, bold))
	}
	return s
}
