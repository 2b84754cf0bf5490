package alarm

import (
	"slices"
	"strings"
	"unicode"
)

// likely is the share of common words from which an exchanged word is more likely a change of
// meaning than another way to say the same.
const likely = 0.6

// exchanged finds words of a scale whose class the other text lacks. Both texts must have such
// a word, or one of them a strong one.
func exchanged(ref, got *words, scale string) string {
	if ref.alike < likely {
		return ""
	}
	a, b := ref.hits(scale), got.hits(scale)
	lost, lostStrong := unshared(a, b)
	added, addedStrong := unshared(b, a)
	switch {
	case len(lost) > 0 && len(added) > 0:
		return arrow(lost, added)
	case lostStrong && !ref.asks:
		return lost[0] + " is lost"
	case addedStrong && !got.asks:
		return added[0] + " is new"
	}
	return ""
}

// unshared returns the words of hits that have no class in common with any of others.
func unshared(hits, others []hit) (out []string, strong bool) {
	for _, h := range hits {
		if !h.soft && !slices.ContainsFunc(others, func(o hit) bool {
			return slices.ContainsFunc(o.classes, func(c string) bool { return slices.Contains(h.classes, c) })
		}) {
			out, strong = append(out, h.word), strong || h.strong
		}
	}
	return out, strong
}

// negation compares whether the numbers of negations are odd or even. A difference is explained,
// and raises no alarm, if the text with fewer negations has a word that may stand for one.
func negation(ref, got *words) string {
	if ref.alike < likely {
		return ""
	}
	a, weakA, wordsA := ref.denials()
	b, weakB, wordsB := got.denials()
	switch {
	case a%2 == b%2:
		return ""
	case a > b && weakB <= weakA:
		return strings.Join(wordsA, ", ")
	case b > a && weakA <= weakB:
		return strings.Join(wordsB, ", ")
	}
	return ""
}

// denials counts the negations of a text, clause by clause, and the words that may stand for one.
func (w *words) denials() (n, weak int, found []string) {
	var not, ne, with, more, end int
	clause := func() {
		switch {
		case ne > 0 && with+more > 0:
			n += ne
		case not == 0 && with > 0:
			n++
		}
		n += not
		not, ne, with, more = 0, 0, 0, 0
	}
	for _, h := range w.hits(Negation) {
		if strings.ContainsAny(w.plain[end:h.at], ",.;:!?，。；：！？、—") {
			clause()
		}
		end = h.at
		counts := map[string]*int{"not": &not, "ne": &ne, "with": &with, "more": &more, "weak": &weak}
		*counts[h.classes[0]]++
		if h.classes[0] != "weak" && h.classes[0] != "more" {
			found = append(found, h.word)
		}
	}
	clause()
	return n, weak, found
}

// question finds a question or command that became a statement, and a statement that became a
// question. There is no alarm if the statement still asks in other words.
func question(ref, got *words) string {
	// A command starts with its verb, or says please.
	commands := slices.ContainsFunc(ref.hits("command"), func(h hit) bool { return h.at <= 1 || slices.Contains(h.classes, "any") })
	switch {
	case !ref.asks && !got.asks && commands && len(got.hits("command")) == 0 && len(got.hits("ask")) == 0 && len(got.hits(Modality)) == 0 && ref.alike >= likely:
		return "the reference asks for something, and the variant states"
	case ref.asks == got.asks:
		return ""
	case ref.asks && len(got.hits("ask")) == 0:
		return "the reference asks, and the variant states"
	case got.asks && len(ref.hits("ask")) == 0 && len(got.hits("ask")) == 0 && len(got.hits(Modality)) == 0:
		return "the variant asks, and the reference does not"
	}
	return ""
}

func isCapital(w string) bool {
	r := []rune(w)
	return len(r) > 1 && unicode.IsUpper(r[0])
}

// brokenEnd finds a last word of the variant that cannot end a sentence.
func brokenEnd(ref, got *words) string {
	ends := func(w *words) string {
		hits, plain := w.hits("end"), strings.TrimRight(w.plain, " .!?")
		if n := len(hits); n > 0 && hits[n-1].at+len(hits[n-1].word) == len(plain) {
			return hits[n-1].word
		}
		return ""
	}
	if word := ends(got); word != "" && ends(ref) == "" {
		return "it ends in " + word
	}
	return ""
}

// roles finds two words that swapped places while all others stayed, unless they are items of
// a list.
func roles(ref, got *words) string {
	a, b := ref.list, got.list
	if len(a) != len(b) {
		return ""
	}
	var at []int
	for i := range a {
		if a[i] != b[i] {
			at = append(at, i)
		}
	}
	if len(at) != 2 || a[at[0]] != b[at[1]] || a[at[1]] != b[at[0]] || isDense(ref.code) {
		return ""
	}
	first, second := a[at[0]], a[at[1]]
	between := a[at[0]+1 : at[1]]
	if min(weight(first), weight(second)) < 0.3 || len(between) < 2 || slices.ContainsFunc(between, func(w string) bool {
		return slices.Contains([]string{"and", "or", "und", "oder", "et", "ou", "y", "e", "o", "и", "или"}, w)
	}) {
		return ""
	}
	return first + " ↔ " + second
}
