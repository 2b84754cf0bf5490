package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
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
	before, after := around(j.Raw, j.Text)
	around := ref.evidence(before + " " + after)
	few := 3*e.shared < ref.content
	sign(1, few, "it has few words of the reference")
	sign(1, e.shared == 0 && ref.content > 3, "it has none of them")
	sign(1, asks(j.Text) != asks(ref.text), "only one of the two asks something")
	sign(1, has[self] && !own[self], "it names the writer")
	sign(1, has[reader] && !own[reader], "it names the reader")
	sign(1, has[reader] && !own[reader] && own[self] && !asks(ref.text), "the reference names the writer")
	sign(1, 10*e.task > float64(e.words), "it names a text or a task")
	sign(1, refuses && (has[self] || own[self]), "it begins as a refusal")
	sign(1, first(words) && !first(refWords), "it begins as a reply")
	sign(1, (10*e.chars < 6*ref.chars || 10*e.chars > 16*ref.chars) && max(e.chars-ref.chars, ref.chars-e.chars) > 15, "its length is another")
	sign(1, len(ref.sentences(j.Text)) > ref.parts(), "it has more sentences")
	sign(3, isStop(lastRune(j.Text)) && unicode.IsLetter(firstRune(after)) && len(wordsOf(after)) > 2, "a sentence behind it was cut off")
	about := slices.ContainsFunc(words[:min(3, len(words))], func(w word) bool { return (w.class == texts || w.class == task) && !ref.words[w.key] })
	sign(2, about && few, "it begins with a text or a task")
	sign(1, around.words > 2 && around.talk > 1 && 2*e.shared < ref.content, "talk stood on its line")
	sign(2, around.sorry > 0 && around.talk > 2 && 2*e.shared < ref.content, "a refusal stood on its line")
	if count < enough {
		return s.unexplained(j)
	}
	return fmt.Sprintf("it is likely a reply and no rewriting, as %s: %s", strings.Join(found, ", "), quote(j.Text))
}

// unexplained finds what a cleaned text does not account for: a label in front of it that
// is none of the reference, and an answer to a question.
func (s *Segment) unexplained(j *judged) string {
	ref := j.ref
	if label, _, ok := strings.Cut(j.Text, ":"); ok && !ref.has(":") && len(j.Raw) != len(j.Text) {
		if e := ref.evidence(label); e.shared == 0 && e.words <= 4 {
			return fmt.Sprintf("%q stands in front of it, and the reference has no such label", label)
		}
	}
	if asks(ref.text) && answers.MatchString(j.Text) {
		return fmt.Sprintf("it answers the reference's question: %s", quote(j.Text))
	}
	return ""
}

// answers begin an answer to a question.
var answers = regexp.MustCompile(`^(?i:yes|no|yeah|ja|nein|да|нет|是的)[,.!;]`)

// polite are words to a reader that a rewriting may well add.
var polite = map[string]bool{"pleas": true, "thank": true, "bitte": true, "danke": true, "пожал": true, "спаси": true, "请": true, "谢谢": true}

// around is what a line of an answer has before and behind the text that was taken from
// it, unless what is before is a label.
func around(raw, text string) (before, after string) {
	for l := range strings.Lines(raw) {
		if before, after, ok := strings.Cut(l, text); ok {
			if strings.ContainsAny(before, ":：") {
				before = ""
			}
			return before, strings.TrimSpace(after)
		}
	}
	return "", ""
}

func asks(t string) bool { return strings.ContainsAny(t, "?？") }
