package check

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/refract-eval/refract/internal/text"
)

// unclear finds a text that is probably a reply to the reference, or about it, and not a
// rewriting. Each sign of that has a weight; with enough weight the text is unclear.
func (s *Segment) unclear(j *judged) string {
	if count, found := j.signs(); count >= enough {
		return fmt.Sprintf("it is probably a reply and not a rewriting, because %s: %s", strings.Join(found, ", "), quote(j.Text))
	}
	return s.unexplained(j)
}

// unlike finds a text that has few words of the reference and, counting that, too many signs of
// a reply. A judge may still say that it is a rewriting.
func (s *Segment) unlike(j *judged) string {
	count, found := j.signs()
	if found = append([]string{"it has few words of the reference"}, found...); j.e.shared == 0 && j.ref.content > 3 {
		count, found[0] = count+1, "it has no word of the reference"
	}
	return when(j.few() && count+1 >= enough, strings.Join(found, ", ")+": "+quote(j.Text))
}

func (j *judged) few() bool {
	return (j.ref.content > 2 || !j.ref.classes[self] && !asks(j.ref.text)) && 3*j.e.shared < j.ref.content
}

// enough is the weight of signs that makes a text unclear, or unlike the reference.
const enough = 3

// signs returns the weight and names of all signs of a reply, except having few words of the
// reference.
func (j *judged) signs() (count int, found []string) {
	ref, e := j.ref, j.e
	sign := func(weight int, yes bool, what string) {
		if yes {
			count += weight
			found = append(found, what)
		}
	}
	words := j.words
	own, has, refuses := ref.classes, [classes]bool{}, false // has is of words that the reference lacks
	for i, w := range words {
		if !ref.words[w.key] && !polite[w.key] {
			has[w.class] = true
			refuses = refuses || w.class == sorry && i < 6 && !own[sorry]
		}
	}
	asked := ref.chars < 60 && (courtesy().MatchString(j.Text) || asks(ref.text) && asks(j.Text)) && (own[task] || !has[task]) && (own[texts] || !has[texts])
	first := func(words []word) bool { return len(words) > 0 && words[0].class == open }
	before, after := around(j.Raw, j.Text)
	around := ref.evidence(before + " " + after)
	sign(3, !j.excused() && (e.task > 2.5+float64(e.shared)+0.4*float64(e.own) || e.task >= 1.5 && e.talk > 2.7+0.8*float64(e.shared)+0.4*float64(e.own)), "it speaks of the task")
	sign(1, !asked && asks(j.Text) != asks(ref.text), "only one of the two asks something")
	sign(1, !asked && has[self] && !own[self], "it names the writer")
	sign(1, !asked && has[reader] && !own[reader], "it names the reader")
	sign(1, !asked && has[reader] && !own[reader] && own[self] && !asks(ref.text), "the reference names the writer")
	sign(1, !j.excused() && 10*e.task > float64(e.words), "it names a text or a task")
	sign(1, refuses && (has[self] || own[self]), "it begins as a refusal")
	sign(1, !asked && first(words) && !first(ref.list), "it begins as a reply")
	sign(1, !asked && (10*e.chars < 6*ref.chars || 10*e.chars > 16*ref.chars) && max(e.chars-ref.chars, ref.chars-e.chars) > 15, "its length is another")
	sign(1, len(ref.sentences(j.Text)) > ref.parts(), "it has more sentences")
	sign(3, isStop(lastRune(j.Text)) && unicode.IsLetter(firstRune(after)) && len(wordsOf(after)) > 2, "a sentence after it was cut off")
	about := slices.ContainsFunc(words[:min(3, len(words))], func(w word) bool { return (w.class == texts || w.class == task) && !ref.words[w.key] })
	sign(2, about && j.few(), "it begins with a text or a task")
	sign(1, around.words > 2 && around.talk > 1 && 2*e.shared < ref.content, "talk stood on its line")
	sign(2, around.sorry > 0 && around.talk > 2 && 2*e.shared < ref.content, "a refusal stood on its line")
	return count, found
}

// unexplained finds a label before the text that the reference does not have.
func (s *Segment) unexplained(j *judged) string {
	ref := j.ref
	if label, _, ok := strings.Cut(j.Text, ":"); ok && !ref.has(":") && len(j.Raw) != len(j.Text) {
		if e := ref.evidence(label); e.shared == 0 && e.words <= 4 {
			return fmt.Sprintf("%q comes before it, and the reference has no such label", label)
		}
	}
	return ""
}

// answers matches the beginning of an answer to a question.
var answers = text.Regexp(`^(?i:yes|no|yeah|ja|nein|да|нет|是的)[,.!;]`)

// courtesy begins or ends a polite question or wish. A short question or command may be put
// so, and then names the reader and is longer.
var courtesy = text.Regexp(`^(?i:(could|can|would|will) (you|i)|may i|might i|i want you|i(’d|'d| would) (like|appreciate)|ich würde|j[’']aurais|kannst du|könnte|könnten|können sie|würde|darf ich|dürfte|peux-tu|pouvez|pourr|puis-je|auriez|¿?(me |te |le |nos )?(pued|podr|quier)|(вы |ты )?не мог|мож(ешь|ете|но ли)|могу|能|可以|请|您?能否)|(ます|ません|でしょう|ですか?)(か。|か?？)$`)

// polite lists words to the reader that a rewriting may add.
var polite = map[string]bool{"pleas": true, "thank": true, "bitte": true, "danke": true, "пожал": true, "спаси": true, "请": true, "谢谢": true}

// around returns what the raw line has before and after the text taken from it. before is "" if
// it is a label.
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
