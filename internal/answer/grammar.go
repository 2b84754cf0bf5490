package answer

import (
	"slices"
	"strconv"
	"strings"
)

// grammar is how a model writes its numbered error analysis:
//
//	<statement: how many errors>
//	<label> 1: <value, up to the next label>
//	…
type grammar struct {
	// opening and marker are the prompt's first words and its last, for files
	// that hold prompt and answer in one string.
	opening, marker string
	labels          map[string]field // in lower case, without number and colon
	starts          []field          // which begin an error, in this order
	last            field            // which ends an error
	numberless      field            // which is written without a number
	full            int              // how many fields a complete error has at least
}

// label is a line that looks like the start of a field.
type label struct {
	field      field
	number     int // 0 where there is none
	start, end int // of the label in the text, with what marks its line and its colon
}

// longestLabel bounds how far into a line a label's colon is looked for.
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

// key is a numbered field.
type key struct {
	field  field
	number int
}

// items splits the text at those labels that stand where the grammar expects
// them; any other line that looks like a label belongs to the field that is
// being written. before is what stands before the first item. strange is how
// many items are numbered out of turn.
func (g *grammar) items(text string) (items []item, before string, strange int) {
	labels := g.labelsOf(text)
	last := map[key]int{} // the last line with this label
	numbered := false
	for i, l := range labels {
		last[key{l.field, l.number}] = i
		numbered = numbered || l.number > 0
	}
	before = text
	var (
		open field // the field that is being written
		from int
	)
	closeField := func(end int) {
		if open == fieldNone {
			return
		}
		items[len(items)-1].value[open] = cleanValue(text[from:end])
	}
	for i, l := range labels {
		begins, oddly := g.begins(labels, i, items, last, numbered)
		belongs := !begins && len(items) > 0 && g.belongs(l, &items[len(items)-1], numbered)
		if !begins && !belongs {
			continue
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
			if oddly {
				strange++
			}
		}
		items[len(items)-1].has[l.field] = true
		open, from = l.field, l.end
	}
	closeField(len(text))
	return items, before, strange
}

// belongs reports whether the label is a field that the item still lacks.
func (g *grammar) belongs(l label, it *item, numbered bool) bool {
	if it.has[l.field] {
		return false
	}
	if l.number == 0 {
		return !numbered || l.field == g.numberless
	}
	return l.number == it.number
}

// begins reports whether the label opens the next item, and whether it does so
// in spite of its number.
func (g *grammar) begins(labels []label, i int, items []item, last map[key]int, numbered bool) (begins, oddly bool) {
	l := labels[i]
	if !numbered {
		return len(items) == 0 || slices.Contains(g.starts, l.field) && items[len(items)-1].has[l.field], false
	}
	if l.number == 0 {
		// A numberless field opens an item only where none is open.
		return len(items) == 0 && l.field == g.numberless, false
	}
	previous, done := 0, true
	if len(items) > 0 {
		it := &items[len(items)-1]
		previous, done = it.number, it.has[g.last]
		if l.number == previous && !it.has[l.field] {
			return false, false
		}
	}
	later := func(f field, n int) bool { at, ok := last[key{f, n}]; return ok && at > i }
	if l.number == previous+1 && (done || !later(g.last, previous)) {
		if slices.Contains(g.starts, l.field) {
			return true, false
		}
		// An item without its first field, unless that is still to come.
		for _, f := range g.starts {
			if later(f, l.number) {
				return false, false
			}
		}
		return true, false
	}
	return slices.Contains(g.starts, l.field) && g.whole(labels[i:]), true
}

// whole reports whether the labels start with a complete error of one number:
// only then is an error with another number than the next one believed.
func (g *grammar) whole(labels []label) bool {
	var has [fields]bool
	count := 0
	for _, l := range labels[:min(len(labels), int(fields))] {
		if has[l.field] || l.number != labels[0].number && (l.number != 0 || l.field != g.numberless) {
			break
		}
		has[l.field] = true
		count++
		if l.field == g.last {
			return count >= g.full
		}
	}
	return false
}

// cleanValue strips what surrounds a field's value: the label, the value or both may
// be bold, as in "**Severity 1:** Major" and "**Severity 1: Major**".
func cleanValue(s string) string {
	const bold = "**"
	s = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s), bold))
	if inner := strings.TrimPrefix(s, bold); strings.Count(inner, bold) == 1 && strings.HasSuffix(inner, bold) {
		s = strings.TrimSpace(strings.TrimSuffix(inner, bold))
	}
	return s
}
