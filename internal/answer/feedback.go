package answer

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/metrics/analysis"
)

// Feedback is what a model answers to the seven questions about a report of
// errors (InstructScore, table 34).
type Feedback struct {
	Errors []ErrorFeedback
	// Repeated is the number of pairs of errors that are one (Q7).
	Repeated int
}

// ErrorFeedback is about one error.
type ErrorFeedback struct {
	Location string   // Q1: the phrase that is wrong; "" for none
	Phrases  []Phrase // Q2
	// Aligned says that the phrases of Q2 stand for each other in reference and
	// output (Q3); nil where Q2 lacks one of them.
	Aligned *bool
	NoError bool              // Q4: the phrases can be used interchangeably
	Weight  analysis.Severity // Q4: how bad the error is, unless NoError
	Typed   bool              // Q5: the explanation is consistent with the type of the error
	Located bool              // Q6: the explanation is about the location
}

// Phrase is a correction; either side may be "".
type Phrase struct{ Incorrect, Correct string }

// ReadFeedback reads the answer about a report of n errors. Every question must
// be answered for every error. stands reports whether a phrase is in the output.
func ReadFeedback(text string, n int, stands func(phrase string) bool) (*Feedback, error) {
	clean, _, ok := answerText(text)
	if !ok {
		return nil, errNoJSON
	}
	docs, err := documentsIn(clean, "{")
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(docs, func(d document) bool { return d.root.named("Err1") != nil })
	if i < 0 {
		return nil, errors.New(`the answer has no "Err1"`)
	}
	root, f := docs[i].root, &Feedback{}
	for i := range n {
		name := "Err" + strconv.Itoa(i+1)
		e, err := readErrorFeedback(root.named(name), stands)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		f.Errors = append(f.Errors, *e)
	}
	if root.named("Err"+strconv.Itoa(n+1)) != nil {
		return nil, fmt.Errorf("there are more than %d errors", n)
	}
	if n < 2 {
		return f, nil // there is nothing to repeat
	}
	q7 := root.named("Q7")
	if q7 == nil {
		q7 = root.kids[len(root.kids)-1].named("Q7") // inside of the last error
	}
	f.Repeated, err = repeatedPairs(q7)
	return f, err
}

// named returns the member of a name, whatever its case.
func (n *node) named(name string) *node {
	if n == nil || n.kind != '{' {
		return nil
	}
	value, _ := n.member(func(other string) bool { return strings.EqualFold(strings.TrimSpace(other), name) })
	return value
}

func readErrorFeedback(n *node, stands func(string) bool) (*ErrorFeedback, error) {
	if n == nil || n.kind != '{' {
		return nil, errors.New("there is no answer about it")
	}
	var q [7]*node
	for i := 1; i < len(q); i++ {
		if q[i] = n.named("Q" + strconv.Itoa(i)); q[i] == nil {
			return nil, fmt.Errorf("no answer to Q%d", i)
		}
	}
	e := &ErrorFeedback{Location: phraseOf(q[1])}
	var ok bool
	if e.Phrases, ok = phrasesOf(q[2], stands); !ok {
		return nil, errors.New("the answer to Q2 is neither [incorrect, correct], a list of such, nor a phrase of the output")
	}
	aligned, answered := yes(q[3])
	switch {
	case answered:
		e.Aligned = &aligned
	case !isNone(textOf(q[3])):
		return nil, errors.New("the answer to Q3 is neither Yes, No nor None")
	}
	switch weight := weightIn(textOf(q[4])); weight {
	case "":
		return nil, errors.New("the answer to Q4 is neither no-error, minor-error nor major-error")
	case "no":
		e.NoError = true
	default:
		e.Weight = analysis.Severity(weight)
	}
	if e.Typed, answered = yes(q[5]); !answered {
		return nil, errors.New("the answer to Q5 is neither Yes nor No")
	}
	if e.Located, answered = yes(q[6]); !answered {
		return nil, errors.New("the answer to Q6 is neither Yes nor No")
	}
	return e, nil
}

// weightForm is an answer to Q4, or one that is said not to hold.
var weightForm = regexp.MustCompile(`(?i)(?:^|\PL)(no)[-_ ]error|(\bnot?(?: an?)? )?(minor|major)`)

// weightIn is the only answer to Q4 that a text has: no, minor or major, or "".
func weightIn(text string) (weight string) {
	for _, m := range weightForm.FindAllStringSubmatch(text, -1) {
		found := strings.ToLower(m[1] + m[3])
		if m[2] != "" || weight != "" && weight != found {
			return ""
		}
		weight = found
	}
	return weight
}

// yes reads Yes or No, which more words may follow.
func yes(n *node) (is, answered bool) {
	if n.kind == 'b' {
		return n.text == "true", true
	}
	return YesOrNo(textOf(n))
}

// yesOrNoForm is a first word that is Yes or No; the question's "Yes/No" is
// neither.
var yesOrNoForm = regexp.MustCompile(`(?i)^\PL*(yes|no)(?:(\s*(?:[/|]|\bor\b|\band\b)\s*(?:yes|no)(?:\PL|$))|\PL|$)`)

// The first sentence of an answer where it is a question, and a word that another
// sentence answers with.
var (
	asksFirst = regexp.MustCompile(`^[^.!?,;:"“\n]*\?`)
	laterWord = regexp.MustCompile(`(?i)(?:[.!?:;]\s+|\n)\PL*(yes|no)\s*(?:[,.!;:]|$)`)
)

// YesOrNo reads an answer whose first word is Yes or No, whatever stands before it
// that is no letter. A question, or an answer that a later sentence contradicts, is
// neither.
func YesOrNo(text string) (yes, answered bool) {
	if clean, _, ok := answerText(text); ok {
		text = clean
	}
	m := yesOrNoForm.FindStringSubmatch(text)
	if m == nil || m[2] != "" || asksFirst.MatchString(text) {
		return false, false
	}
	for _, later := range laterWord.FindAllStringSubmatch(text, -1) {
		if !strings.EqualFold(later[1], m[1]) {
			return false, false
		}
	}
	return strings.EqualFold(m[1], "yes"), true
}

var wholeNumber = regexp.MustCompile(`\d+`)

// repeatedPairs reads "Yes, 2", "No, 0" or a list of both.
func repeatedPairs(n *node) (int, error) {
	if n == nil {
		return 0, errors.New("Q7 has no answer")
	}
	is, answered := yes(n)
	switch number := wholeNumber.FindString(textOf(n)); {
	case !answered:
		return 0, errors.New("Q7 is neither Yes nor No")
	case !is:
		return 0, nil
	case number == "":
		return 1, nil
	default:
		pairs, err := strconv.Atoi(number)
		return max(1, pairs), err
	}
}

// phraseOf is one phrase, which may stand in brackets; the first, if there are several.
func phraseOf(n *node) string {
	if inner, ok := listIn(n); ok {
		if len(inner.kids) == 0 {
			return ""
		}
		return phraseOf(inner.kids[0])
	}
	s := textOf(n)
	if isNone(s) {
		return ""
	}
	return unquote(s)
}

// listIn is a list, or the list that a string holds.
func listIn(n *node) (*node, bool) {
	s := strings.TrimRight(unquote(textOf(n)), ".;, ")
	if n.kind != 's' || !strings.HasPrefix(s, "[") {
		return n, n.kind == '['
	}
	if d, err := documentAt("[" + s + "]"); err == nil && d.end == len(s)+2 && len(d.root.kids) > 0 {
		if len(d.root.kids) == 1 {
			return d.root.kids[0], true
		}
		return d.root, true
	}
	return n, false
}

// phrasesOf reads the corrections of Q2: [incorrect, correct], or a list of such. Any
// other string is an incorrect phrase where it stands in the output; where it does
// not, nothing tells what it is.
func phrasesOf(n *node, stands func(string) bool) (out []Phrase, ok bool) {
	list, isList := listIn(n)
	isPair := func(n *node) bool { _, inner := listIn(n); return inner }
	switch {
	case n.kind == '0', n.kind == 's' && isNone(n.text):
		return nil, true
	case !isList && n.kind != 's' && n.kind != 'n':
		return nil, false
	case !isList:
		s := unquote(textOf(n))
		return []Phrase{{Incorrect: s}}, stands(s)
	case slices.ContainsFunc(list.kids, isPair), len(list.kids) == 1:
		for _, kid := range list.kids {
			if len(list.kids) > 1 && !isPair(kid) {
				return nil, false
			}
			phrases, ok := phrasesOf(kid, stands)
			if !ok {
				return nil, false
			}
			out = append(out, phrases...)
		}
		return out, true
	case len(list.kids) == 0:
		return nil, true
	case len(list.kids) != 2 || slices.ContainsFunc(list.kids, func(k *node) bool { return k.kind != 's' && k.kind != 'n' && k.kind != '0' }):
		return nil, false
	}
	if p := (Phrase{phraseOf(list.kids[0]), phraseOf(list.kids[1])}); p != (Phrase{}) {
		out = append(out, p)
	}
	return out, true
}
