package check

import (
	"bytes"
	"fmt"
	"slices"
)

// number is a number of a text: the values that it may mean, as "1.234" is one
// thousand in German and between one and two in English.
type number struct {
	values [3]float64
	n      int
	at     [2]int // where it stands in the text in lower case
	// weak numbers, such as number words, may disappear or appear: only one
	// that is replaced by another counts.
	weak bool
	// parts are the numbers before and behind the point of "18.12", which may
	// be a date or a time.
	parts [2]float64
	split bool
}

func (n *number) add(v float64) {
	if n.n < len(n.values) && !n.is(v) {
		n.values[n.n] = v
		n.n++
	}
}

func (n *number) is(v float64) bool {
	for _, have := range n.values[:n.n] {
		if have == v {
			return true
		}
	}
	return false
}

// scale multiplies all values; keep adds the products to what there is.
func (n *number) scale(by float64, keep bool) {
	old := *n
	if !keep {
		n.n = 0
	}
	for _, v := range old.values[:old.n] {
		n.add(v * by)
	}
}

// meets reports whether two numbers may mean the same.
func (n *number) meets(m *number) bool {
	for _, v := range m.values[:m.n] {
		if n.is(v) {
			return true
		}
	}
	return false
}

// numbers are what a text says in numbers.
type numbers struct {
	list     []number
	optional []float64 // values that other words imply, such as 2 by "both"
	digits   []byte    // all digits in their order
	spaced   bool      // there are digits with spaces between groups
	text     []byte    // that was scanned
	index    map[float64]bool
	mentions mention
}

// mention says which words a text has that only the refusal check looks for.
// They are found on the way, so that few texts are searched for phrases.
type mention uint8

const (
	mentionsSentence mention = 1 << iota
	mentionsSelf
)

// many is the number of numbers from which on they are looked up in a map.
const many = 64

func (ns *numbers) has(n *number) bool {
	if len(ns.list)+len(ns.optional) > many {
		return ns.hasIndexed(n)
	}
	for i := range ns.list {
		if ns.list[i].meets(n) {
			return true
		}
	}
	for _, v := range n.values[:n.n] {
		if slices.Contains(ns.optional, v) {
			return true
		}
	}
	return n.split && ns.hasValue(n.parts[0]) && ns.hasValue(n.parts[1])
}

// hasIndexed is has for long texts.
func (ns *numbers) hasIndexed(n *number) bool {
	if ns.index == nil {
		ns.index = map[float64]bool{}
		for i := range ns.list {
			for _, v := range ns.list[i].values[:ns.list[i].n] {
				ns.index[v] = true
			}
		}
		for _, v := range ns.optional {
			ns.index[v] = true
		}
	}
	for _, v := range n.values[:n.n] {
		if ns.index[v] {
			return true
		}
	}
	return n.split && ns.index[n.parts[0]] && ns.index[n.parts[1]]
}

func (ns *numbers) hasValue(v float64) bool {
	return slices.Contains(ns.optional, v) || slices.ContainsFunc(ns.list, func(n number) bool { return n.is(v) })
}

// inRow reports whether number i continues its neighbours: the 4 and 5 of "3, 4,
// 5, 6", which is "3 to 6" too.
func (ns *numbers) inRow(i int) bool {
	return i > 0 && i+1 < len(ns.list) && ns.list[i-1].is(ns.list[i].values[0]-1) && ns.list[i+1].is(ns.list[i].values[0]+1)
}

// string shows a number as it was written.
func (ns *numbers) string(n *number) string { return quote(string(ns.text[n.at[0]:n.at[1]])) }

// changedNumber says which number is lost, new or changed, or "".
func changedNumber(ref, got *numbers) string {
	if len(ref.list) == 0 && len(got.list) == 0 {
		return ""
	}
	var lost, added *number
	find := func(in, other *numbers) *number {
		var weak *number
		for i := range in.list {
			n := &in.list[i]
			if other.has(n) || in.inRow(i) {
				continue
			}
			if !n.weak {
				return n
			}
			if weak == nil {
				weak = n
			}
		}
		return weak
	}
	lost, added = find(ref, got), find(got, ref)
	switch {
	case lost == nil && added == nil:
		return ""
	case (ref.spaced || got.spaced) && string(ref.digits) == string(got.digits) && (lost == nil || !lost.weak) && (added == nil || !added.weak):
		return "" // "100 200" may be one number or two
	case lost != nil && added != nil:
		return fmt.Sprintf("%s in place of the reference's %s", got.string(added), ref.string(lost))
	case lost != nil && !lost.weak:
		return fmt.Sprintf("the reference's %s is missing", ref.string(lost))
	case added != nil && !added.weak:
		return fmt.Sprintf("%s is not in the reference", got.string(added))
	}
	return ""
}

// relaxLabel makes the list number in front of a reference weak, and so the
// one behind its first word: "Article 26", "Step 3:". Answers may leave it out.
func (ns *numbers) relaxLabel(low []byte) {
	if len(ns.list) == 0 {
		return
	}
	first := &ns.list[0]
	before := bytes.TrimLeft(low[:first.at[0]], "(#№. -")
	word := len(before) > 0 && wordEnd(before, 0) == len(bytes.TrimRight(before, " .#№"))
	if len(before) == 0 && len(low) > first.at[1] && (low[first.at[1]] == '.' || low[first.at[1]] == ')') || word && ns.labels(low) {
		first.weak = true
	}
}

// labels reports whether the first number is followed by what follows a label:
// a mark, or a new sentence, which the caller's text in lower case does not
// tell from other words. So only words that name parts of texts count.
func (ns *numbers) labels(low []byte) bool {
	end := wordEnd(low, 0)
	return labelWords()[string(low[:end])]
}
