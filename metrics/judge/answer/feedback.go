package answer

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Feedback is a model's answer to the seven questions about a report of errors
// (InstructScore, table 34).
type Feedback struct {
	Errors []ErrorFeedback
	// Repeated is the number of pairs of errors that are the same error (Q7).
	Repeated int
}

// ErrorFeedback is about one error.
type ErrorFeedback struct {
	Location string   // Q1: the wrong phrase; "" for none
	Phrases  []Phrase // Q2
	// Aligned says that the phrases of Q2 correspond to each other in reference and output
	// (Q3); nil if Q2 lacks one of them.
	Aligned *bool
	NoError bool              // Q4: the phrases can be used interchangeably
	Weight  analysis.Severity // Q4: severity of the error, unless NoError
	Typed   bool              // Q5: the explanation is consistent with the type of the error
	Located bool              // Q6: the explanation is about the location
}

// Phrase is a correction; either side may be "".
type Phrase struct{ Incorrect, Correct string }

// ReadFeedback parses the answer about a report of n errors. Every question must be answered
// for every error. stands reports whether a phrase occurs in the output.
func ReadFeedback(text string, n int, stands func(phrase string) bool) (*Feedback, error) {
	docs, err := documentsOf(text, "{")
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(docs, func(d document) bool { return d.root.question("Err1") != nil })
	if i < 0 {
		return nil, errors.New(`the answer has no "Err1"`)
	}
	root, f := docs[i].root, &Feedback{Errors: make([]ErrorFeedback, n)}
	for i := range n {
		name := "Err" + strconv.Itoa(i+1)
		if err := f.Errors[i].read(root.question(name), stands); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if root.question("Err"+strconv.Itoa(n+1)) != nil {
		return nil, fmt.Errorf("there are more than %d errors", n)
	}
	if n < 2 {
		return f, nil // one error cannot repeat another
	}
	q7 := root.question("Q7")
	if q7 == nil {
		q7 = root.kids[len(root.kids)-1].question("Q7") // inside the last error
	}
	again, answered := q7.yes()
	if !answered {
		return nil, errors.New("the answer to Q7 is neither Yes nor No")
	}
	if again { // "Yes, 2", or a list of both
		pairs, err := strconv.Atoi(wholeNumber().FindString(textOf(q7)))
		if f.Repeated = max(1, pairs); errors.Is(err, strconv.ErrRange) {
			return nil, err
		}
	}
	return f, nil
}

var wholeNumber = text.Regexp(`\d+`)

// question returns the member with a name, ignoring case.
func (n *node) question(name string) *node {
	if n == nil || n.kind != '{' {
		return nil
	}
	value, repeated := n.member(func(other string) bool { return strings.EqualFold(strings.TrimSpace(other), name) })
	if repeated {
		return nil
	}
	return value
}

// read parses the answers about one error.
func (e *ErrorFeedback) read(n *node, stands func(string) bool) error {
	var q [7]*node
	for i := 1; i < len(q); i++ {
		if q[i] = n.question("Q" + strconv.Itoa(i)); q[i] == nil {
			return fmt.Errorf("no answer to Q%d", i)
		}
	}
	e.Location = phraseOf(q[1])
	phrases, readable := phrasesOf(q[2], stands)
	aligned, said := q[3].yes()
	if e.Phrases = phrases; said {
		e.Aligned = &aligned
	}
	weight := weightIn(textOf(q[4]))
	if e.NoError = weight == "no"; !e.NoError {
		e.Weight = analysis.Severity(weight)
	}
	var typed, located bool
	e.Typed, typed = q[5].yes()
	e.Located, located = q[6].yes()
	for i, ok := range []bool{readable, said || isNone(textOf(q[3])), weight != "", typed, located} {
		if !ok {
			return fmt.Errorf("the answer to Q%d is not one that the prompt offers", i+2)
		}
	}
	return nil
}

// weightForm matches an answer to Q4, also a negated one.
var weightForm = text.Regexp(`(?i)(?:^|\PL)(no)[-_ ]error|(\bnot?(?: an?)? )?(minor|major)`)

// weightIn returns the answer to Q4 in a text: no, minor or major; "" unless there is exactly
// one.
func weightIn(text string) (weight string) {
	for _, m := range weightForm().FindAllStringSubmatch(text, -1) {
		found := strings.ToLower(m[1] + m[3])
		if m[2] != "" || weight != "" && weight != found {
			return ""
		}
		weight = found
	}
	return weight
}

// yes parses Yes or No, which may be followed by more words.
func (n *node) yes() (is, answered bool) {
	if n != nil && n.kind == 'b' {
		return n.text == "true", true
	}
	return YesOrNo(textOf(n))
}

// yesOrNoForm matches Yes or No as the first word; the "Yes/No" of the question is neither.
var yesOrNoForm = text.Regexp(`(?i)^\PL*(yes|no)(?:(\s*(?:[/|]|\bor\b|\band\b)\s*(?:yes|no)(?:\PL|$))|\PL|$)`)

// The first sentence of an answer if it is a question, and a word with which another sentence
// answers.
var (
	asksFirst = text.Regexp(`^[^.!?,;:"“\n]*\?`)
	laterWord = text.Regexp(`(?i)(?:[.!?:;]\s+|\n)\PL*(yes|no)\s*(?:[,.!;:]|$)`)
)

// YesOrNo parses an answer whose first word is Yes or No, possibly after characters that are
// not letters. A question is neither, nor is an answer that a later sentence contradicts.
func YesOrNo(text string) (yes, answered bool) {
	text, _, _ = answerText(text)
	m := yesOrNoForm().FindStringSubmatch(text)
	if m == nil || m[2] != "" || asksFirst().MatchString(text) {
		return false, false
	}
	for _, later := range laterWord().FindAllStringSubmatch(text, -1) {
		if !strings.EqualFold(later[1], m[1]) {
			return false, false
		}
	}
	return strings.EqualFold(m[1], "yes"), true
}

// phraseOf returns a phrase, which may be in brackets; the first one if there are several.
func phraseOf(n *node) string {
	if n = unwrapped(n); n.kind == '[' {
		if len(n.kids) == 0 {
			return ""
		}
		return phraseOf(n.kids[0])
	}
	s := textOf(n)
	if isNone(s) {
		return ""
	}
	return unquote(s)
}

// unwrapped returns the list written inside a string, or else the node itself.
func unwrapped(n *node) *node {
	s := strings.TrimRight(unquote(textOf(n)), ".;, ")
	if n.kind != 's' || !strings.HasPrefix(s, "[") {
		return n
	}
	d, err := documentAt("[" + s + "]")
	switch {
	case err != nil || d.end != len(s)+2 || len(d.root.kids) == 0:
		return n
	case len(d.root.kids) == 1:
		return d.root.kids[0]
	}
	return d.root
}

// phrasesOf parses the corrections of Q2: [incorrect, correct], or a list of such pairs. Any
// other string is an incorrect phrase if it occurs in the output; otherwise ok is false, because
// its role is unknown.
func phrasesOf(n *node, stands func(string) bool) (out []Phrase, ok bool) {
	n = unwrapped(n)
	isPair := func(n *node) bool { return unwrapped(n).kind == '[' }
	switch {
	case n.kind == '0', n.kind == 's' && isNone(n.text):
		return nil, true
	case n.kind == 's', n.kind == 'n':
		s := unquote(textOf(n))
		return []Phrase{{Incorrect: s}}, stands(s)
	case n.kind != '[':
		return nil, false
	case len(n.kids) == 2 && !slices.ContainsFunc(n.kids, func(k *node) bool { return k.kind == '{' || k.kind == 'b' || isPair(k) }):
		if p := (Phrase{phraseOf(n.kids[0]), phraseOf(n.kids[1])}); p != (Phrase{}) {
			out = append(out, p)
		}
		return out, true
	}
	for _, kid := range n.kids {
		phrases, ok := phrasesOf(kid, stands)
		if !ok || len(n.kids) > 1 && !isPair(kid) {
			return nil, false
		}
		out = append(out, phrases...)
	}
	return out, true
}
