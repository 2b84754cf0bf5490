package check

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/diversify/alarm"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// Finish reasons of the OpenAI protocol that affect a verdict.
const (
	finishLength        = "length"
	finishContentFilter = "content_filter"
)

// Answer is a model's answer about one reference.
type Answer struct {
	Reference int    // index into the references of the Segment
	Raw       string // as the server sent it
	HasText   bool   // false if the server sent no text; an empty text is one
	Finish    string // finish reason; "" if unknown
	Field     bool   // Raw was a field of JSON, so little surrounds the text
}

// Result is the cleaned text of an answer and its verdict.
type Result struct {
	// Text is the answer after cleaning, also for rejected answers.
	Text    string
	HasText bool // false if the answer was withheld
	// Cleaned names the steps that changed the raw text, in the order of their
	// first use.
	Cleaned []string
	Verdict string // Accepted or one of Reasons
	Detail  string // a sentence about the finding; "" for accepted answers
}

// Segment judges the answers to the references of one segment. It is not safe
// for concurrent use.
type Segment struct {
	// Language is that of the references. It is Config.Language unless the caller knows better.
	Language string

	c          *Checker
	source     *original
	references []*original
	accepted   []known
	refused    []known
}

// known is a text that later answers must not repeat; by says who rejected it.
type known struct{ text, norm, by string }

// Segment returns the Segment for these originals; a missing one is "". source may be "".
func (c *Checker) Segment(source string, references []string) *Segment {
	s := &Segment{Language: c.cfg.Language, c: c, source: newOriginal(source), references: make([]*original, len(references))}
	for i, r := range references {
		s.references[i] = newOriginal(r)
	}
	return s
}

// Accept adds a text that later answers must not repeat, such as one that an earlier run
// accepted.
func (s *Segment) Accept(text string) {
	s.accepted = append(s.accepted, known{text: text, norm: normalize(text)})
}

// Refuse adds a rejected text that later answers must not repeat, whichever checks are on.
// by says who rejected it, for people.
func (s *Segment) Refuse(text, by string) {
	s.refused = append(s.refused, known{text, normalize(text), by})
}

// Judge cleans an answer and returns its verdict. The order of answers matters, because
// duplicates are found by comparison with the originals and with answers accepted before.
// Judge panics if the reference does not exist.
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
	r := Result{HasText: true, Verdict: Accepted}
	r.Text, r.Cleaned = s.c.clean(a.Raw, ref, a.Field)
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

// judged is an answer while it is checked.
type judged struct {
	Answer
	*Result
	ref   *original
	words []word // of the text
	e     evidence
	norm  func() string // the normalized text
}

// checkStep is one check. It returns a sentence about what it finds, "" for nothing.
type checkStep struct {
	reason   string
	compares bool // needs a reference that is not blank
	talk     bool // looks for talk around a text, which a JSON field does not have
	find     func(s *Segment, j *judged) string
}

func checkSteps() []checkStep {
	return []checkStep{
		{ReasonCut, false, false, func(_ *Segment, j *judged) string {
			return when(j.Finish == finishLength, "the token limit ended the answer")
		}},
		{ReasonCut, false, true, func(_ *Segment, j *judged) string {
			_, _, ended := text.Answer(j.Raw)
			return when(!ended && !j.ref.marked(), "it ends within a thought, before any answer")
		}},
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
		{reasonNumbers, true, false, func(_ *Segment, j *judged) string { return alarm.ChangedNumber(j.ref.text, j.Text) }},
		{reasonUnclear, true, false, func(s *Segment, j *judged) string { // also within a JSON field
			why := alarm.Reply(s.Language, j.ref.text, j.Text)
			return when(why != "", why+": "+quote(j.Text))
		}},
		{reasonUnclear, true, false, func(_ *Segment, j *judged) string {
			return when(!j.ref.lines() && strings.Contains(j.Text, "\n"), "it has several lines, and the reference one: "+quote(j.Text))
		}},
		{reasonUnclear, true, true, (*Segment).unclear},
		{ReasonUnlike, true, true, (*Segment).unlike},
	}
}

// when returns what if found is true, otherwise "".
func when(found bool, what string) string {
	if found {
		return what
	}
	return ""
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

// refusal finds a text that refuses the task. If the reference apologises, too, the refusal
// must name the task or a text.
func (s *Segment) refusal(j *judged) string {
	return when(!j.excused() && (j.e.sorry >= 2 && j.e.talk > 3+0.8*float64(j.e.shared) || j.e.sorry >= 1 && j.e.talk > 3.5+float64(j.e.shared)+0.3*float64(j.e.own)),
		"it refuses the task: "+quote(j.Text))
}

// excused reports whether the reference apologises, too, and the answer names no task or text.
func (j *judged) excused() bool {
	return j.ref.classes[sorry] && j.e.task <= weight[sorry]*float64(j.e.sorry)
}

// copied finds an answer that equals one of the originals or the source.
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
			return "it says nothing except " + name
		}
	}
	return ""
}

// restates reports whether an answer is only the reference, after a label or in quotes.
func (s *Segment) restates(j *judged) bool {
	before, after, found := strings.Cut(strings.ToLower(j.Text), strings.ToLower(strings.TrimRight(j.ref.text, ".。")))
	if before = strings.TrimSpace(before); !found || before == "" || !strings.ContainsRune(":：\"“„«", lastRune(before)) {
		return false
	}
	e := j.ref.evidence(before + " " + after)
	return e.isTalk() || e.own+e.shared <= 1
}

// repeats says in which way an answer equals a text, or returns "".
func (j *judged) repeats(text, norm string) string {
	switch {
	case text == j.Text:
		return "the same as "
	case norm != "" && norm == j.norm():
		return "but for case, punctuation and white space the same as "
	}
	return ""
}

// same says which of the texts the answer repeats, or returns "".
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

// otherLanguage asks the Detector about the words that the reference does not have. If the
// texts share many words that are not all names, the language is the same.
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
		return fmt.Sprintf("it has %s, %.2f times the reference's %d", english.Count(n, "character"), ratio, of)
	}
	return ""
}

// garbled finds remaining code, tokens or wrong characters.
func (s *Segment) garbled(j *judged) string {
	t := j.Text
	isCode := func(r rune) bool { return isMark(r) && (!j.Field || strings.ContainsRune("{}<>`", r)) } // a JSON field may run on into code
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

// isMark reports whether a character is a mark that prose rarely has: a bullet, an arrow,
// markup, code.
func isMark(r rune) bool {
	if r < utf8.RuneSelf {
		return strings.ContainsRune("[]{}<>|\\/#^~_=*`", r)
	}
	return r != '°' && unicode.In(r, unicode.So, unicode.Sm, unicode.Sk, unicode.Co) || strings.ContainsRune("•‣◦†‡‟‹›【】\ufffd", r)
}

// ending says how a text ends: "." for a stop, with or without marks after it, ":" for a colon,
// a comma or an open bracket, ")" for only a closing mark, "w" for a word.
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

// quoteEnds normalizes the ways to end a sentence with a quotation.
var quoteEnds = strings.NewReplacer("”", `"`, "“", `"`, "»", `"`, "’", `"`, "'", `"`, "」", `"`, "』", `"`, "*", "", "。", ".", "!", ".", "?", ".")

// missingEnd says how the end of an answer shows that it was cut, or returns "".
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
