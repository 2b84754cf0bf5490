package check

import (
	"fmt"
	"strings"
)

// unclear finds a text that is likely a reply to the reference, or about it, and no
// rewriting. Each sign of that counts once or twice; with enough of them the text is
// unclear.
func (s *Segment) unclear(j *judged) string {
	const enough = 3
	ref, e := j.ref, j.e
	count, found := 0, []string(nil)
	sign := func(weight int, yes bool, what string) {
		if yes {
			count += weight
			found = append(found, what)
		}
	}
	words, refWords := j.words, ref.list
	var has, own [classes]bool // of words that the other one lacks
	refuses := false
	for _, w := range refWords {
		own[w.class] = true
	}
	for i, w := range words {
		if !ref.words[w.key] && !polite[w.key] {
			has[w.class] = true
			refuses = refuses || w.class == sorry && i < 6 && !own[sorry]
		}
	}
	first := func(words []word) bool { return len(words) > 0 && words[0].class == open }
	around := ref.evidence(around(j.Raw, j.Text))
	few := 3*e.shared < ref.content
	sign(1, few, "it has few words of the reference")
	sign(1, e.shared == 0 && ref.content > 3, "it has none of them")
	sign(1, asks(j.Text) != asks(ref.text), "only one of the two asks something")
	sign(1, has[self] && !own[self], "it names the writer")
	sign(1, has[reader] && !own[reader], "it names the reader")
	sign(1, has[reader] && !own[reader] && own[self] && !strings.ContainsAny(ref.text, "?？"), "the reference names the writer")
	sign(1, has[texts] || has[task] || has[sorry], "it names a text or a task")
	sign(1, refuses && (has[self] || own[self]), "it begins as a refusal")
	sign(1, first(words) && !first(refWords), "it begins as a reply")
	sign(1, (10*e.chars < 6*ref.chars || 10*e.chars > 16*ref.chars) && abs(e.chars-ref.chars) > 15, "its length is another")
	sign(1, len(ref.sentences(j.Text)) > ref.parts(), "it has more sentences")
	sign(1, around.words > 2 && around.talk > 1 && 2*e.shared < ref.content, "talk stood on its line")
	sign(2, around.sorry > 0 && around.talk > 2 && 2*e.shared < ref.content, "a refusal stood on its line")
	if count < enough {
		return ""
	}
	return fmt.Sprintf("it is likely a reply and no rewriting, as %s: %s", strings.Join(found, ", "), quote(j.Text))
}

// polite are words to a reader that a rewriting may well add.
var polite = map[string]bool{"pleas": true, "thank": true, "bitte": true, "danke": true, "пожал": true, "спаси": true, "请": true, "谢谢": true}

// around is what a line of an answer has beside the text that was taken from it, unless
// that is a label.
func around(raw, text string) string {
	for l := range strings.Lines(raw) {
		if before, after, ok := strings.Cut(l, text); ok {
			if strings.ContainsAny(before, ":：") {
				before = ""
			}
			return before + " " + after
		}
	}
	return ""
}

func asks(t string) bool { return strings.ContainsAny(t, "?？") }

func abs(n int) int { return max(n, -n) }

// pairsOf returns the keys of words that stand next to each other.
func pairsOf(words []word) map[string]bool {
	pairs := map[string]bool{}
	for i := range len(words) - 1 {
		pairs[words[i].key+" "+words[i+1].key] = true
	}
	return pairs
}

// unordered reports whether a text has the words of the reference, and hardly two of them
// in its order.
func (o *original) unordered(words []word) bool {
	const least = 8 // words
	if len(words) < least || o.dense {
		return false
	}
	known, shared := 0, 0
	for _, w := range words {
		if o.words[w.key] {
			known++
		}
	}
	if 4*known < 3*len(words) {
		return false
	}
	for p := range pairsOf(words) {
		if o.pairs()[p] {
			shared++
		}
	}
	return shared <= len(words)/12
}
