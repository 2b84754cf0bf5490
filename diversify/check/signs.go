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

// sign is a sign of a reply: its weight, what it says, and how it shows.
type sign struct {
	weight int
	what   string
	shows  func(f *facts) bool
}

// facts are what signs are read from.
type facts struct {
	*judged
	own, has [classes]bool // classes of the reference's words, and of words that it lacks
	refuses  bool          // a refusal is among the first words
	asked    bool          // a short question or command is put as a polite one
	around   evidence      // of what stood on the text's line
	after    string        // what stood after it
}

func (j *judged) facts() *facts {
	f := &facts{judged: j, own: j.ref.classes}
	for i, w := range j.words {
		if !j.ref.words[w.key] && !polite[w.key] {
			f.has[w.class] = true
			f.refuses = f.refuses || w.class == sorry && i < 6 && !f.own[sorry]
		}
	}
	polite := courtesy().MatchString(j.Text) || asks(j.ref.text) && asks(j.Text)
	f.asked = j.ref.chars < 60 && polite && !f.names(task) && !f.names(texts)
	var before string
	before, f.after = around(j.Raw, j.Text)
	f.around = j.ref.evidence(before + " " + f.after)
	return f
}

// names reports whether the text has a word of a class of which the reference has none.
func (f *facts) names(c class) bool { return f.has[c] && !f.own[c] }

// about reports whether one of the first words names a text or the task.
func (f *facts) about() bool {
	return slices.ContainsFunc(f.words[:min(3, len(f.words))], func(w word) bool { return (w.class == texts || w.class == task) && !f.ref.words[w.key] })
}

// ofTask reports whether most of the text, beside the reference's words, is about the task.
func (f *facts) ofTask() bool {
	shared, own := float64(f.e.shared), float64(f.e.own)
	return f.e.task > 2.5+shared+0.4*own || f.e.task >= 1.5 && f.e.talk > 2.7+0.8*shared+0.4*own
}

func (f *facts) otherLength() bool {
	n, of := f.e.chars, f.ref.chars
	return (10*n < 6*of || 10*n > 16*of) && max(n-of, of-n) > 15
}

// signs are those that replies in the held-out sets or among released answers show. Three of
// weight 1 reject, because each also occurs in rewritings.
var signs = []sign{
	{3, "it speaks of the task", func(f *facts) bool { return !f.excused() && f.ofTask() }},
	{1, "only one of the two asks something", func(f *facts) bool { return !f.asked && asks(f.Text) != asks(f.ref.text) }},
	{1, "it names the writer", func(f *facts) bool { return !f.asked && f.names(self) }},
	{1, "it names the reader", func(f *facts) bool { return !f.asked && f.names(reader) }},
	{1, "the reference names the writer", func(f *facts) bool { return !f.asked && f.names(reader) && f.own[self] && !asks(f.ref.text) }},
	{1, "it names a text or a task", func(f *facts) bool { return !f.excused() && 10*f.e.task > float64(f.e.words) }},
	{1, "it begins as a refusal", func(f *facts) bool { return f.refuses && (f.has[self] || f.own[self]) }},
	{1, "its length is another", func(f *facts) bool { return !f.asked && f.otherLength() }},
	{1, "it has more sentences", func(f *facts) bool { return len(f.ref.sentences(f.Text)) > f.ref.parts() }},
	{3, "a sentence after it was cut off", func(f *facts) bool {
		return isStop(lastRune(f.Text)) && unicode.IsLetter(firstRune(f.after)) && len(wordsOf(f.after)) > 2
	}},
	{2, "it begins with a text or a task", func(f *facts) bool { return f.about() && f.few() }},
	{1, "talk stood on its line", func(f *facts) bool { return f.around.words > 2 && f.around.talk > 1 && 2*f.e.shared < f.ref.content }},
	{2, "a refusal stood on its line", func(f *facts) bool { return f.around.sorry > 0 && f.around.talk > 2 && 2*f.e.shared < f.ref.content }},
}

// signs returns the weight and names of all signs of a reply, except having few words of the
// reference.
func (j *judged) signs() (count int, found []string) {
	f := j.facts()
	for _, s := range signs {
		if s.shows(f) {
			count += s.weight
			found = append(found, s.what)
		}
	}
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
