package alarm

import (
	"slices"
	"strings"
	"unicode"
)

// likely is the share of common words from which an exchanged word is more likely a change of
// meaning than another way to say the same.
const likely = 0.6

// unlike is the share of common words below which two texts are about different things. A reply
// shares at most a word such as "please" or "me" with the reference.
const unlike = 0.5

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
	switch {
	case !ref.asks && !got.asks && ref.commands() && len(got.hits("command")) == 0 && !got.requests() && len(got.hits(Modality)) == 0 && ref.alike >= likely:
		return "the reference asks for something, and the variant states"
	case ref.asks == got.asks:
		return ""
	case ref.asks && !got.requests():
		return "the reference asks, and the variant states"
	case got.asks && len(ref.hits("ask")) == 0 && !got.requests() && len(got.hits(Modality)) == 0:
		return "the variant asks, and the reference does not"
	}
	return ""
}

// commands reports whether a text starts with the verb of a command, or says please.
func (w *words) commands() bool { return w.startsWith("command") }

// startsWith reports whether a text has a word of the scale: of the class any, or of another
// class where it begins.
func (w *words) startsWith(scale string) bool {
	return slices.ContainsFunc(w.hits(scale), func(h hit) bool { return h.at <= 1 || slices.Contains(h.classes, "any") })
}

// requests reports whether a text without a question mark asks all the same: it says that the
// writer wants to know, asks indirectly, or lacks only the mark.
func (w *words) requests() bool { return len(w.hits("ask")) > 0 || w.startsWith("asks") }

// Reply says why a variant is probably a reply to the reference or to the one who asked for a
// rewriting, or returns "". It answers a question; it says what the writer is or offers help; or
// it asks for a text, with hardly a word of the reference. In languages without a word list it is
// "", because there an indirect question cannot be told from a statement.
func Reply(language, reference, variant string) string {
	ref, got := newTexts(language, reference, variant)
	says := func(w *words, class string) bool {
		return slices.ContainsFunc(w.hits("reply"), func(h hit) bool { return h.classes[0] == class })
	}
	far := func() bool { _, _, alike := balance(ref, got); return alike < unlike }
	asks := func() bool { return got.asks || len(got.hits("ask")) > 0 || got.commands() }
	switch {
	case ref.lex == nil:
	case ref.isQuestion() && !got.asks && !got.requests() && !got.commands():
		return "it answers the reference's question"
	case says(got, "itself") && !says(ref, "itself"):
		return "it says what the writer is"
	case says(got, "offer") && !says(ref, "offer") && !says(ref, "you") && far():
		return "it offers help"
	case says(got, "text") && !says(ref, "text") && (says(got, "you") || asks()) && far():
		return "it asks for a text"
	}
	return ""
}

// isQuestion reports whether a text ends as a question, apart from quotation marks and brackets.
func (w *words) isQuestion() bool {
	if !w.asks {
		return false
	}
	end := strings.TrimRightFunc(w.text, func(r rune) bool {
		return unicode.IsSpace(r) || r == '"' || unicode.In(r, unicode.Pe, unicode.Pf, unicode.Po) && !strings.ContainsRune(questionMarks, r)
	})
	before := strings.TrimRight(end, questionMarks+" ")
	return (end != before || w.code == "ja") && !strings.HasSuffix(before, "!")
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
	a, b := ref.list(), got.list()
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
