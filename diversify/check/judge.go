package check

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
)

// Finish reasons of the OpenAI protocol that decide about an answer.
const (
	finishLength        = "length"
	finishContentFilter = "content_filter"
)

// Answer is what a model said about one reference.
type Answer struct {
	Reference int    // index into the references of the Segment
	Raw       string // as the server sent it
	HasText   bool   // false where the server sent no text, which is not ""
	Finish    string // finish reason; "" where unknown
	Field     bool   // Raw was a field of JSON: it is all text, and nothing around it
}

// Result is what became of an answer.
type Result struct {
	// Text is the answer after cleaning. It is set for rejected answers too.
	Text    string
	HasText bool // false where the answer was withheld
	// Cleaned names the steps that changed the raw text, in the order of their
	// first use.
	Cleaned []string
	Verdict string // Accepted or one of Reasons
	Detail  string // what was found, in a sentence; "" for accepted answers
}

// Segment judges the answers to the references of one segment. It is not safe
// for concurrent use.
type Segment struct {
	c          *Checker
	source     *original
	references []*original
	accepted   []known
	refused    []known
}

// known is a text that later answers must differ from; by says who rejected it.
type known struct{ text, norm, by string }

// Segment begins a segment. references are its originals; a missing one is "".
// source may be "".
func (c *Checker) Segment(source string, references []string) *Segment {
	s := &Segment{c: c, source: newOriginal(source), references: make([]*original, len(references))}
	for i, r := range references {
		s.references[i] = newOriginal(r)
	}
	return s
}

// Accept adds a text to those that later answers must differ from, such as one
// that an earlier run accepted.
func (s *Segment) Accept(text string) {
	s.accepted = append(s.accepted, known{text: text, norm: normalize(text)})
}

// Refuse adds a text that later answers must differ from, whichever checks
// there are, as somebody has rejected it. by says who, for people.
func (s *Segment) Refuse(text, by string) {
	s.refused = append(s.refused, known{text, normalize(text), by})
}

// Judge cleans an answer and gives its verdict. Answers are judged in order:
// a duplicate is compared with the originals and with what this Segment has
// accepted before. It panics if the reference does not exist.
func (s *Segment) Judge(a Answer) Result {
	ref := s.references[a.Reference]
	switch {
	case !a.HasText && a.Finish == finishLength:
		return Result{Verdict: ReasonCut, Detail: "the token limit was reached before any text came"}
	case !a.HasText:
		return Result{Verdict: ReasonBlocked, Detail: "the server sent no text"}
	case a.Finish == finishContentFilter:
		return Result{Verdict: ReasonBlocked, Detail: "the server's content filter stopped the answer"}
	}
	r := Result{HasText: true, Text: a.Raw}
	if !a.Field {
		r.Text, r.Cleaned = s.c.clean(a.Raw, ref)
	} else if r.Text = strings.TrimSpace(a.Raw); r.Text != a.Raw {
		r.Cleaned = []string{stepSpace}
	}
	r.Verdict = Accepted
	j := &judged{Answer: a, Result: &r, ref: ref, words: wordsOf(r.Text)}
	j.e = ref.evidence(r.Text)
	j.norm = sync.OnceValue(func() string { return normalize(r.Text) })
	for _, k := range checkSteps() {
		if !s.c.Makes(k.reason) || a.Field && k.talk || k.compares && ref.text == "" {
			continue
		}
		if found := k.find(s, j); found != "" {
			r.Verdict, r.Detail = k.reason, found
			return r
		}
	}
	if who := s.same(j, s.refused); who != "" {
		r.Verdict, r.Detail = ReasonDuplicate, who
		return r
	}
	s.accepted = append(s.accepted, known{text: r.Text, norm: j.norm()})
	return r
}

// judged is an answer at hand.
type judged struct {
	Answer
	*Result
	ref   *original
	words []word // of the text
	e     evidence
	norm  func() string // the text, normalized
}

// checkStep is one check. It says what it finds, in a sentence, and "" for nothing.
type checkStep struct {
	reason   string
	compares bool // it needs a reference that is not blank
	talk     bool // it looks for what stands around a text, which a field of JSON has not
	find     func(s *Segment, j *judged) string
}

func checkSteps() []checkStep {
	return []checkStep{
		{ReasonCut, false, false, func(_ *Segment, j *judged) string {
			return when(j.Finish == finishLength, "the token limit ended the answer")
		}},
		{ReasonCut, false, true, (*Segment).thinking},
		{ReasonEmpty, false, false, (*Segment).empty},
		{ReasonGarbled, false, false, (*Segment).garbled},
		{reasonRefusal, true, false, (*Segment).refusal},
		{ReasonCut, true, true, (*Segment).missingEnd},
		{ReasonCopy, false, false, (*Segment).copied},
		{ReasonDuplicate, false, false, func(s *Segment, j *judged) string { return s.same(j, s.accepted) }},
		{ReasonGarbled, true, true, func(_ *Segment, j *judged) string {
			return when(unicode.IsLower(firstRune(j.Text)) && unicode.IsUpper(firstRune(j.ref.text)), "it begins within a sentence: "+quote(j.Text))
		}},
		{ReasonLanguage, true, false, (*Segment).otherLanguage},
		{reasonLength, true, false, (*Segment).badLength},
		{reasonNumbers, true, false, func(_ *Segment, j *judged) string { return changedNumber(j.ref.numbers(), numbersOf(j.Text)) }},
		{reasonUnclear, true, true, (*Segment).unclear},
		{ReasonUnlike, true, true, (*Segment).unlike},
	}
}

// when says what is found, if it is.
func when(found bool, what string) string {
	if found {
		return what
	}
	return ""
}

// thinking finds a thought that nothing ends.
func (s *Segment) thinking(j *judged) string {
	_, open := untagged(j.Raw, j.ref)
	return when(open, "it ends within a thought, before any answer")
}

func (s *Segment) empty(j *judged) string {
	switch {
	case strings.TrimSpace(j.Text) == "":
		return "the answer is empty"
	case strings.ContainsFunc(j.ref.text, unicode.IsLetter) && !strings.ContainsFunc(j.Text, unicode.IsLetter):
		return fmt.Sprintf("there is no letter in %s", quote(j.Text))
	}
	return ""
}

// refusal finds a text that refuses the task. Where the reference is sorry too, it has to
// name the task or a text.
func (s *Segment) refusal(j *judged) string {
	return when(!j.excused() && (j.e.sorry >= 2 && j.e.talk > 3+0.8*float64(j.e.shared) || j.e.sorry >= 1 && j.e.talk > 3.5+float64(j.e.shared)+0.3*float64(j.e.own)),
		"it refuses the task: "+quote(j.Text))
}

// excused reports whether the reference is sorry too, and the text names no task and no text.
func (j *judged) excused() bool {
	return j.ref.classes[sorry] && j.e.task <= weight[sorry]*float64(j.e.sorry)
}

// copied finds a text that is one of the originals.
func (s *Segment) copied(j *judged) string {
	for i, r := range append(slices.Clone(s.references), s.source) {
		name := fmt.Sprintf("reference %d", i+1)
		if i == len(s.references) {
			name = "the source"
		}
		switch same := j.repeats(r.text, r.norm()); {
		case r.text == "":
		case same != "":
			return same + name
		case r == j.ref && s.restates(j):
			return "it says nothing beside " + name
		}
	}
	return ""
}

// restates reports whether an answer is the reference behind a label, or quoted.
func (s *Segment) restates(j *judged) bool {
	before, after, found := strings.Cut(strings.ToLower(j.Text), strings.ToLower(strings.TrimRight(j.ref.text, ".。")))
	if before = strings.TrimSpace(before); !found || before == "" || !strings.ContainsRune(":：\"“„«", lastRune(before)) {
		return false
	}
	e := j.ref.evidence(before + " " + after)
	return e.isTalk() || e.own+e.shared <= 1
}

// repeats says how an answer is the same as a text, or "".
func (j *judged) repeats(text, norm string) string {
	switch {
	case text == j.Text:
		return "the same as "
	case norm != "" && norm == j.norm():
		return "but for case, punctuation and white space the same as "
	}
	return ""
}

// same says which of some texts the answer repeats, or "".
func (s *Segment) same(j *judged, texts []known) string {
	for i, k := range texts {
		if same := j.repeats(k.text, k.norm); same != "" && k.by != "" {
			return same + "a text that " + k.by + " rejected"
		} else if same != "" {
			return same + fmt.Sprintf("accepted answer %d", i+1)
		}
	}
	return ""
}

// otherLanguage asks the Detector about words that the reference has not. Where the two
// share many, and not all are names, the language is the same.
func (s *Segment) otherLanguage(j *judged) string {
	all := text.LetterRuns(strings.ToLower(j.Text))
	rest := slices.DeleteFunc(slices.Clone(all), func(w string) bool { _, shared := j.ref.plain[w]; return shared })
	names := 0
	for _, w := range all {
		if j.ref.plain[w] {
			names++
		}
	}
	if 5*len(rest) <= 3*len(all) && 5*(len(rest)+names) <= 4*len(all) {
		return ""
	}
	if j.ref.other == nil {
		j.ref.other = s.c.cfg.Detector.Beside(j.ref.text)
	}
	return j.ref.other(strings.Join(rest, " "), j.Text)
}

// badLength compares lengths in characters.
func (s *Segment) badLength(j *judged) string {
	n, of, slack := chars(j.Text), j.ref.chars, 50
	if j.ref.dense {
		slack = 16
	}
	ratio := float64(n) / float64(of)
	if ratio < minRatio && of-n > slack || ratio > maxRatio && n-of > slack {
		return fmt.Sprintf("it has %d characters, %.2f times the reference's %d", n, ratio, of)
	}
	return ""
}

// garbled finds what is no text: code, tokens or wrong characters that are left.
func (s *Segment) garbled(j *judged) string {
	t := j.Text
	isCode := func(r rune) bool { return isMark(r) && (!j.Field || strings.ContainsRune("{}<>`", r)) } // a field has what ends it too late
	if i := strings.IndexFunc(t, func(r rune) bool { return isCode(r) && !strings.ContainsRune(j.ref.text, r) }); i >= 0 {
		return fmt.Sprintf("it has %q, and the reference has not: %s", firstRune(t[i:]), quote(t))
	}
	if j.Field {
		return ""
	}
	if strings.Count(t, `"`)%2 > strings.Count(j.ref.text, `"`)%2 {
		return fmt.Sprintf("a quotation mark has no partner: %s", quote(t))
	}
	for _, script := range [...]*unicode.RangeTable{unicode.Han, unicode.Cyrillic, unicode.Hangul} {
		is := func(r rune) bool { return unicode.Is(script, r) }
		isLatin := func(r rune) bool { return unicode.Is(unicode.Latin, r) }
		if strings.ContainsFunc(t, is) && strings.ContainsFunc(t, isLatin) && strings.ContainsFunc(j.ref.text, isLatin) && !strings.ContainsFunc(j.ref.text, is) {
			return fmt.Sprintf("it mixes scripts: %s", quote(t))
		}
	}
	w := strings.Fields(strings.ToLower(t))
	for i := range max(0, len(w)-3) {
		if w[i] == w[i+1] && w[i] == w[i+2] && w[i] == w[i+3] {
			return fmt.Sprintf("it repeats %q", w[i])
		}
	}
	return ""
}

// isMark reports whether a character is a mark that prose has only where its subject asks
// for it: a bullet, an arrow, markup, code.
func isMark(r rune) bool {
	if r < utf8.RuneSelf {
		return strings.ContainsRune("[]{}<>|\\/#^~_=*`", r)
	}
	return r != '°' && unicode.In(r, unicode.So, unicode.Sm, unicode.Sk, unicode.Co) || strings.ContainsRune("•‣◦†‡‟‹›【】\ufffd", r)
}

// ending is how a text ends: "." for a stop, maybe with marks behind it, ":" for a colon,
// a comma or an open bracket, ")" for a closing mark alone, "w" for a word.
func ending(t string) string {
	closed := false
	for t = strings.TrimRight(t, "*_` "); t != ""; {
		r := lastRune(t)
		switch {
		case isStop(r):
			return "."
		case isQuote(r), unicode.In(r, unicode.Pe, unicode.Pf):
			closed = true
		case closed:
			return ")"
		case strings.ContainsRune(":：,;，；、", r), unicode.In(r, unicode.Pd, unicode.Ps):
			return ":"
		case isWord(r):
			return "w"
		default:
			return "."
		}
		t = strings.TrimSpace(strings.TrimSuffix(t, string(r)))
	}
	return ")"
}

// lastWord returns the last word of a text in lower case.
func lastWord(t string) string {
	words := strings.FieldsFunc(" "+strings.ToLower(t), func(r rune) bool { return !isWord(r) })
	return append([]string{""}, words...)[len(words)]
}

// quoteEnds make one of the ways to end a sentence with a quotation.
var quoteEnds = strings.NewReplacer("”", `"`, "“", `"`, "»", `"`, "’", `"`, "'", `"`, "」", `"`, "』", `"`, "*", "", "。", ".", "!", ".", "?", ".")

// missingEnd says how the end of an answer shows that it was cut, or "".
func (s *Segment) missingEnd(j *judged) string {
	got, want := ending(j.Text), ending(j.ref.text)
	switch {
	case (strings.HasSuffix(j.Text, "…") || strings.HasSuffix(j.Text, "...")) && !strings.Contains(j.ref.text, "..") && !j.ref.has("…⋯"):
		return "it breaks off, and the reference does not"
	case got == ":" && want != ":":
		return fmt.Sprintf("it ends in %q, and the reference does not", lastRune(j.Text))
	case got == "w" && want == "." && !strings.Contains(quoteEnds.Replace(j.Raw), j.Text+`".`) && lastWord(j.Text) != lastWord(j.ref.text) && isStop(lastRune(strings.TrimRightFunc(j.ref.text, isClosing))):
		return fmt.Sprintf("it ends in %q without a full stop, and the reference has one", lastWord(j.Text))
	}
	return ""
}

func isClosing(r rune) bool { return isQuote(r) || unicode.In(r, unicode.Pe) }
