package answer

import (
	"errors"
	"fmt"
	"regexp"
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
// be answered for every error.
func ReadFeedback(text string, n int) (*Feedback, error) {
	clean, _, ok := answerText(text)
	if !ok {
		return nil, errNoJSON
	}
	docs, err := documentsIn(clean, "{", false)
	if err != nil {
		return nil, err
	}
	for _, d := range docs {
		if d.root.named("Err1") != nil {
			return readFeedback(d.root, n)
		}
	}
	return nil, errors.New(`the answer has no "Err1"`)
}

func readFeedback(root *node, n int) (*Feedback, error) {
	f := &Feedback{}
	for i := range n {
		name := "Err" + strconv.Itoa(i+1)
		e, err := readErrorFeedback(root.named(name))
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
	var err error
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

func readErrorFeedback(n *node) (*ErrorFeedback, error) {
	if n == nil || n.kind != '{' {
		return nil, errors.New("there is no answer about it")
	}
	e := &ErrorFeedback{}
	q := func(i int) *node { return n.named("Q" + strconv.Itoa(i)) }
	for i := 1; i <= 6; i++ {
		if q(i) == nil {
			return nil, fmt.Errorf("no answer to Q%d", i)
		}
	}
	e.Location = phraseOf(q(1))
	e.Phrases = phrasesOf(q(2))
	aligned, answered := yes(q(3))
	switch {
	case answered:
		e.Aligned = &aligned
	case !isNone(textOf(q(3))):
		return nil, errors.New("the answer to Q3 is neither Yes, No nor None")
	}
	switch s := strings.ToLower(textOf(q(4))); {
	case strings.Contains(s, "no-error") || strings.Contains(s, "no error"):
		e.NoError = true
	case strings.Contains(s, "minor") != strings.Contains(s, "major"):
		e.Weight = analysis.Minor
		if strings.Contains(s, "major") {
			e.Weight = analysis.Major
		}
	default:
		return nil, errors.New("the answer to Q4 is neither no-error, minor-error nor major-error")
	}
	for i, to := range map[int]*bool{5: &e.Typed, 6: &e.Located} {
		if *to, answered = yes(q(i)); !answered {
			return nil, fmt.Errorf("the answer to Q%d is neither Yes nor No", i)
		}
	}
	return e, nil
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

// YesOrNo reads an answer whose first word is Yes or No, whatever stands before it
// that is no letter.
func YesOrNo(text string) (yes, answered bool) {
	if clean, _, ok := answerText(text); ok {
		text = clean
	}
	m := yesOrNoForm.FindStringSubmatch(text)
	if m == nil || m[2] != "" {
		return false, false
	}
	return strings.EqualFold(m[1], "yes"), true
}

var wholeNumber = regexp.MustCompile(`\d+`)

// repeatedPairs reads "Yes, 2", "No, 0" or a list of both.
func repeatedPairs(n *node) (int, error) {
	if n == nil {
		return 0, errors.New("Q7 has no answer")
	}
	first, all := n, textOf(n)
	if n.kind == '[' && len(n.kids) > 0 {
		first = n.kids[0]
		var parts []string
		for _, k := range n.kids {
			parts = append(parts, textOf(k))
		}
		all = strings.Join(parts, ", ")
	}
	is, answered := yes(first)
	switch number := wholeNumber.FindString(all); {
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

// phraseOf is one phrase; the first, if there are several.
func phraseOf(n *node) string {
	if n.kind == '[' {
		if len(n.kids) == 0 {
			return ""
		}
		return phraseOf(n.kids[0])
	}
	if s := textOf(n); !isNone(s) {
		return unquote(s)
	}
	return ""
}

// phrasesOf reads the corrections of Q2: [incorrect, correct], or a list of such.
func phrasesOf(n *node) []Phrase {
	if n.kind != '[' {
		if p := phraseOf(n); p != "" {
			return []Phrase{{Incorrect: p}}
		}
		return nil
	}
	var out []Phrase
	nested := false
	for _, k := range n.kids {
		if k.kind == '[' {
			nested = true
			out = append(out, phrasesOf(k)...)
		}
	}
	if nested {
		return out
	}
	for i := 0; i < len(n.kids); i += 2 {
		p := Phrase{Incorrect: phraseOf(n.kids[i])}
		if i+1 < len(n.kids) {
			p.Correct = phraseOf(n.kids[i+1])
		}
		if p != (Phrase{}) {
			out = append(out, p)
		}
	}
	return out
}
