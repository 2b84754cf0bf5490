package check

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
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
	Detail  string // what was found, for people; "" for accepted answers
	// Err is why there is no verdict: the Detector failed. What is not judged is
	// neither accepted nor rejected, so that a run ends there.
	Err error
}

// Segment judges the answers to the references of one segment. It is not safe
// for concurrent use.
type Segment struct {
	c          *Checker
	source     *original
	references []*original
	accepted   []acceptedText
	refused    []refusedText
	answer     Answer // at hand
	result     Result // of it
	w          work
	arena      []byte // the normalized forms of the accepted texts
}

// acceptedText is an answer that later ones must differ from.
type acceptedText struct {
	text string
	norm []byte
}

// Segment begins a segment. references are its originals; a missing one is "".
// source may be "".
func (c *Checker) Segment(source string, references []string) *Segment {
	s := &Segment{c: c, source: newOriginal(source), references: make([]*original, len(references))}
	size := 0
	for i, r := range references {
		s.references[i] = newOriginal(r)
		size = max(size, 2*len(r)+32)
	}
	s.w.low, s.w.norm = make([]byte, 0, size), make([]byte, 0, size)
	return s
}

// Judge cleans an answer and gives its verdict. Answers are judged in order:
// a duplicate is compared with the originals and with what this Segment has
// accepted before. It panics if the reference does not exist.
func (s *Segment) Judge(a Answer) Result {
	ref := s.references[a.Reference]
	if !a.HasText {
		if a.Finish == finishLength {
			return Result{Verdict: ReasonCut, Detail: "the token limit was reached before any text came"}
		}
		return Result{Verdict: ReasonBlocked, Detail: "the server sent no text"}
	}
	if a.Finish == finishContentFilter {
		return Result{Verdict: ReasonBlocked, Detail: "the server's content filter stopped the answer"}
	}
	s.answer, s.result = a, Result{HasText: true}
	s.result.Text, s.result.Cleaned = s.c.clean(a.Raw, ref)
	s.w.reset(s.result.Text)
	s.result.Verdict, s.result.Detail = s.verdict(ref)
	if s.result.Verdict == Accepted {
		if s.result.Detail = s.repeatsRefused(); s.result.Detail != "" {
			s.result.Verdict = ReasonDuplicate
		} else {
			s.accept(s.result.Text)
		}
	}
	return s.result
}

// Accept adds a text to those that later answers must differ from, such as one
// that an earlier run accepted.
func (s *Segment) Accept(text string) {
	s.w.reset(text)
	s.accept(text)
}

func (s *Segment) accept(text string) {
	if !s.c.on[ReasonDuplicate] {
		return
	}
	a := acceptedText{text: text}
	if !s.c.cfg.Exact {
		begin := len(s.arena)
		s.arena = append(s.arena, s.w.normalized()...)
		a.norm = s.arena[begin:len(s.arena):len(s.arena)]
	}
	s.accepted = append(s.accepted, a)
}

// checkStep is one check: what it finds is for people, and "" is nothing.
type checkStep struct {
	reason   string
	compares bool // it needs a reference that is not blank
	find     func(s *Segment, ref *original) string
}

// checkSteps are the checks in their order. An answer that only announces a
// rewriting ends in a colon, and is not cut: refusal stands before that.
func checkSteps() []checkStep {
	return []checkStep{
		{ReasonCut, false, func(s *Segment, ref *original) string {
			if s.answer.Finish == finishLength {
				return "the token limit ended the answer"
			}
			if ref.thinks || len(s.w.text) <= mostCleaned && mayHaveTokens(s.w.text) && unanswered(s.w.text, ref) {
				return "it thinks, and gives no answer"
			}
			return ""
		}},
		{ReasonEmpty, false, func(s *Segment, ref *original) string { return emptyText(s.w.text, ref) }},
		{ReasonGarbled, false, func(s *Segment, ref *original) string { return garbled(s.w.text, ref) }},
		{ReasonRefusal, false, func(s *Segment, ref *original) string { return refusal(&s.w, ref, s.c.on[ReasonLanguage]) }},
		{ReasonCut, false, func(s *Segment, ref *original) string {
			return cmp.Or(missingEnd(&s.w, ref, s.answer.Raw), firstItem(&s.result, ref, s.c.cfg.MinListShare))
		}},
		{ReasonCopy, false, func(s *Segment, _ *original) string { return s.copied() }},
		{ReasonDuplicate, false, func(s *Segment, _ *original) string { return s.repeated() }},
		{ReasonGarbled, true, func(s *Segment, ref *original) string {
			if unicode.IsLower(firstRune(s.w.text)) && unicode.IsUpper(firstRune(ref.text)) {
				return fmt.Sprintf("it begins within a sentence: %s", quote(s.w.text))
			}
			return ""
		}},
		{ReasonLanguage, true, (*Segment).otherLanguage},
		{ReasonLength, true, func(s *Segment, ref *original) string { return s.c.badLength(s.w.text, ref) }},
		{ReasonNumbers, true, func(s *Segment, ref *original) string {
			return cmp.Or(changedNumber(ref.numbers(), s.w.numbers()), ref.changedDate(s.w.text))
		}},
		{ReasonUnclear, true, func(s *Segment, ref *original) string { return s.c.unclear(ref, s.answer.Raw, s.result.Text) }},
	}
}

// verdict makes the checks in order.
func (s *Segment) verdict(ref *original) (verdict, detail string) {
	for i := range s.c.checks {
		k := &s.c.checks[i]
		if k.compares && ref.text == "" {
			continue
		}
		detail := k.find(s, ref)
		if s.result.Err != nil {
			s.result.Err = fmt.Errorf("the %s check: %w", k.reason, s.result.Err)
			return "", ""
		}
		if detail != "" {
			return k.reason, detail
		}
	}
	return Accepted, ""
}

// emptyText says why there is no text, if there is none.
func emptyText(text string, ref *original) string {
	switch {
	case text == "":
		return "the answer is empty"
	case strings.TrimSpace(text) == "":
		return "the answer is white space" // where it is not cleaned away
	case ref.letters > 0 && !hasLetter(text):
		return fmt.Sprintf("no letter in %s", quote(text))
	}
	return ""
}

// badLength compares lengths in characters.
func (c *Checker) badLength(text string, ref *original) string {
	n := runeCount(text)
	if ref.chars == 0 {
		return ""
	}
	slack := max(c.cfg.Slack, 0)
	if ref.dense {
		slack /= 3
	}
	ratio := float64(n) / float64(ref.chars)
	if ratio < c.cfg.MinRatio && ref.chars-n > slack || ratio > c.cfg.MaxRatio && n-ref.chars > slack {
		return fmt.Sprintf("%d characters, %.2f times the reference's %d", n, ratio, ref.chars)
	}
	return ""
}
