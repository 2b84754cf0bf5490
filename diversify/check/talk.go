package check

import (
	"bytes"
	_ "embed"
	"strings"
	"sync"
	"unicode"

	"github.com/refract-eval/refract/internal/text"
)

// A model that speaks of the task does so in few words. A text, or what stands
// before a colon or in brackets, is such talk if all its words are in this
// vocabulary and one of them tells the task. That the vocabulary is closed
// makes it precise: one word of another kind, such as a name, and the text is
// none of it.
type sense uint8

const (
	filler sense = 1 << iota
	task
	alone
	opener
	here
)

// talkTable says in its first lines what the senses are.
//
//go:embed talk.txt
var talkTable string

// vocabulary has the words of talkTable.
var vocabulary = sync.OnceValue(func() map[string]sense {
	senses := map[string]sense{"filler": filler, "task": task, "alone": alone, "opener": opener, "here": here}
	m := map[string]sense{}
	for line := range strings.Lines(talkTable) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			for _, w := range words[1:] {
				m[w] |= senses[words[0]]
			}
		}
	}
	return m
})

// chineseTask are the words that tell the task in Chinese, which has no
// spaces to find words by.
var chineseTask = []string{"改写", "释义", "重写", "复述", "语态", "时态", "同义句", "换句话说", "过去时", "现在时", "将来时", "句子结构", "改变句子"}

// talk is what the words of a text are.
type talk struct {
	words  int
	closed bool  // all of them are in the vocabulary
	senses sense // of all words together
}

// talkOf looks at the words of a text in lower case, up to the first that is
// not in the vocabulary. Quoted words do not count: they are the reference's.
func talkOf(low []byte) talk {
	t := talk{closed: true}
	vocab := vocabulary()
	for i := 0; i < len(low); {
		if low[i] == '"' {
			if end := bytes.IndexByte(low[i+1:], '"'); end >= 0 {
				i += end + 2
				continue
			}
		}
		n, letter := letterAt(low, i)
		if !letter {
			if '0' <= low[i] && low[i] <= '9' {
				t.closed = false
				return t
			}
			i += n
			continue
		}
		end := wordEnd(low, i)
		word := low[i:end]
		i = end
		s, ok := vocab[string(word)]
		if !ok {
			if stem, is := strings.CutSuffix(string(word), "'s"); is {
				s, ok = vocab[stem]
			}
		}
		if !ok {
			t.closed = false
			return t
		}
		t.words++
		t.senses |= s
	}
	return t
}

// tellsTask reports whether talk is about the task. A single word must be one
// that stands alone.
func (t talk) tellsTask() bool {
	switch {
	case !t.closed || t.words == 0:
		return false
	case t.words <= 2 && t.senses&alone != 0:
		return true
	case t.senses&task != 0 && t.words > 1:
		return true
	}
	return t.senses&opener != 0 && t.senses&here != 0
}

// leadInMost is how far into a text a lead-in may reach, in bytes.
const leadInMost = 160

// unlead takes off a lead-in: words about the task before a colon, or on a
// line of their own.
func unlead(_ *Checker, t string, ref *original) string {
	head := t[:min(len(t), leadInMost)]
	line := strings.IndexByte(head, '\n')
	if line >= 0 {
		head = head[:line]
	}
	at := strings.IndexByte(head, ':')
	size := 1
	if wide := strings.Index(head, "："); wide >= 0 && (at < 0 || wide < at) {
		at, size = wide, len("：")
	}
	if at > 0 && isLeadIn(head[:at], ref) {
		return t[at+size:]
	}
	if line > 0 && isLeadIn(head, ref) {
		return t[line+1:]
	}
	return t
}

// isLeadIn reports whether a head is about the task, and not the reference's.
func isLeadIn(head string, ref *original) bool {
	if hasPrefixFold(ref.text, head) {
		return false
	}
	if len(head) > 2 && head[0] >= 0xe3 && runeCount(head) <= 30 {
		for _, w := range chineseTask {
			if strings.Contains(head, w) && !strings.Contains(ref.text, w) {
				return true
			}
		}
	}
	return tellsTask(head) && !sharesTask(head, ref)
}

// tellsTask reports whether all of a text is talk about the task.
func tellsTask(t string) bool {
	return talkOf(text.AppendLower(make([]byte, 0, 128), t)).tellsTask()
}

// sharesTask reports whether the reference has a word of a head that tells the
// task: then it is about sentences and tenses itself.
func sharesTask(head string, ref *original) bool {
	low := text.AppendLower(make([]byte, 0, 128), head)
	vocab := vocabulary()
	for w := range wordsOf(low) {
		if vocab[string(w)]&(task|alone) != 0 && ref.hasWord(w) {
			return true
		}
	}
	return false
}

// noteWords begin a note about an answer, on a line of its own or in brackets.
var noteWords = []string{
	"note:", "note -", "explanation:", "notes:", "translation:", "literally:", "hinweis:", "anmerkung:", "erklärung:", "übersetzung:",
	"примечание:", "пояснение:", "перевод:", "注：", "注:", "注意：", "说明：", "解释：", "译文：",
}

// closingWords begin a last line that speaks to the user.
var closingWords = []string{
	"let me know", "i hope this", "i hope that helps", "feel free to", "please let me know", "would you like me to",
	"ich hoffe, das hilft", "lassen sie mich wissen", "надеюсь, это", "дайте знать", "希望这", "如果您需要",
}

// unnote takes a note from the end: words about the task in brackets, a
// translation in brackets where the script shows that it is one, and lines
// that begin like a note.
func unnote(_ *Checker, t string, ref *original) string {
	if cut := noteLine(t, ref); cut >= 0 {
		return t[:cut]
	}
	open, inner, closed := lastBracket(t)
	if open <= 0 || inner == "" || strings.Contains(ref.text, inner) {
		return t
	}
	before := strings.TrimSpace(t[:open])
	switch {
	case closed && isNote(inner, before, ref):
		// "… (present tense)." has its full stop behind the note.
		if rest := strings.TrimSpace(t[open+len("()")+len(inner):]); rest != "" && !endingOf(before).complete() {
			return before + rest
		}
		return before
	case !closed && endingOf(before).complete() && isCutNote(inner, before, ref):
		return before
	}
	return t
}

// lastBracket finds round or square brackets at the end of a text, at most
// with a full stop behind, or one that is not closed. It returns where they
// open and what they hold.
func lastBracket(t string) (open int, inner string, closed bool) {
	end := strings.TrimRight(t, ".")
	for _, pair := range [...]string{"()", "[]"} {
		if len(end) > 0 && end[len(end)-1] == pair[1] {
			if i := strings.LastIndexByte(end, pair[0]); i >= 0 {
				return i, end[i+1 : len(end)-1], true
			}
			return -1, "", false
		}
	}
	if i := strings.LastIndexByte(t, '('); i > 0 && strings.IndexByte(t[i:], ')') < 0 {
		return i, t[i+1:], false
	}
	return -1, "", false
}

// isNote reports whether the content of brackets is about the task, or is a
// translation.
func isNote(inner, before string, ref *original) bool {
	head, _, _ := strings.Cut(inner, ":")
	if tellsTask(head) && !sharesTask(head, ref) {
		return true
	}
	if strings.ContainsAny(ref.text, "([（") {
		return false // it may be the reference's remark
	}
	low := strings.ToLower(inner)
	for _, w := range noteWords {
		if strings.HasPrefix(low, w) {
			return true
		}
	}
	return isGloss(inner) && !mostlyLatin(ref.text) && !mostlyLatin(before)
}

// isCutNote is isNote for a note of which the end is missing: the last word
// may be a part of one.
func isCutNote(inner, before string, ref *original) bool {
	if isNote(inner, before, ref) {
		return true
	}
	i := strings.LastIndexByte(inner, ' ')
	return i > 0 && isNote(inner[:i], before, ref)
}

// isGloss reports whether a text is two words or more in Latin letters.
func isGloss(inner string) bool {
	latin, letters := lettersOf(inner)
	last := strings.LastIndexFunc(inner, unicode.IsLetter)
	return last >= 0 && latin == letters && unicode.IsLower(firstRune(inner[last:])) && len(strings.Fields(inner)) > 1
}

// mostlyLatin reports whether more than a tenth of a text's letters are Latin.
func mostlyLatin(t string) bool {
	latin, letters := lettersOf(t)
	return 10*latin > letters
}

// lettersOf counts the letters of a text, and those that are Latin.
func lettersOf(t string) (latin, letters int) {
	for _, r := range t {
		if unicode.IsLetter(r) {
			letters++
			if unicode.Is(unicode.Latin, r) {
				latin++
			}
		}
	}
	return latin, letters
}

// noteLine returns where the line breaks before a note begin, or -1.
func noteLine(t string, ref *original) int {
	at := strings.LastIndexByte(t, '\n')
	if at <= 0 {
		return -1
	}
	last := strings.ToLower(strings.TrimLeft(t[at+1:], " \t*_(["))
	for _, words := range [...][]string{noteWords, closingWords} {
		for _, w := range words {
			if strings.HasPrefix(last, w) && !strings.Contains(string(ref.w.lower()), w) {
				return at
			}
		}
	}
	return -1
}
