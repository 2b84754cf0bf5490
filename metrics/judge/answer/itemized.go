package answer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/analysis"
)

// tigerGrammar is the grammar of TIGERScore. The score is minus the sum of the reductions, as the
// paper defines it, whatever total is stated. So each error must state its reduction.
var tigerGrammar = grammar{
	opening: "You are evaluating errors in a model-generated output",
	marker:  "Your evaluation output:",
	labels: map[string]field{
		"error location": fieldLocation, "location": fieldLocation,
		"error aspect": fieldAspect, "aspect": fieldAspect, "error type": fieldAspect,
		"explanation": fieldExplanation, "error explanation": fieldExplanation, "explanation for error": fieldExplanation,
		"severity": fieldSeverity, "error severity": fieldSeverity,
		"score reduction": fieldPenalty, "reduction": fieldPenalty, "reduction of score": fieldPenalty,
	},
	starts: []field{fieldLocation},
	last:   fieldPenalty,
}

// instructGrammar is the grammar of InstructScore. As in the paper, an error without a severity
// adds nothing to the sum, unless no error has one.
var instructGrammar = grammar{
	opening: "You are evaluating ",
	marker:  "while minor errors don't lead to loss of meaning but will be noticed.",
	labels: map[string]field{
		"error dimension": fieldDimension,
		"error type":      fieldAspect,
		"major/minor":     fieldSeverity, "minor/major": fieldSeverity, "severity": fieldSeverity,
		"error location":        fieldLocation,
		"explanation for error": fieldExplanation, "error explanation": fieldExplanation, "explanation": fieldExplanation,
	},
	starts:     []field{fieldDimension, fieldAspect},
	last:       fieldExplanation,
	numberless: fieldSeverity,
}

// itemizedReader parses numbered error analyses. Some files hold prompt and answer in one string;
// the last marker belongs to the prompt itself, and markers in texts inside the prompt come before
// it.
func itemizedReader(s Spec, g *grammar) Parser {
	return func(text string, r *analysis.Report) string {
		at := strings.LastIndex(text, g.marker)
		if at >= 0 && strings.HasPrefix(strings.TrimLeft(text, "0123456789 \t\r\n\ufeff"), g.opening) {
			note(r, "the prompt before the answer was skipped")
			text = text[at+len(g.marker):]
		}
		return g.read(s, text, r)
	}
}

// read parses the statement and the errors.
func (g *grammar) read(s Spec, text string, r *analysis.Report) (why string) {
	st := readStatement(text)
	if st.found {
		r.StatedErrors, r.StatedTotal = &st.count, st.total
		text = st.rest
	}
	if st.found && hasStatement(text) {
		return "the answer has a second report, and the two do not add up"
	}
	items, before := g.items(text)
	if !st.found {
		if len(items) == 0 || strings.Trim(before, marks) != "" {
			return "the answer does not start with the number of its errors"
		}
		note(r, "the answer does not state how many errors there are")
	}
	nothing, unknown := s.take(r, items)
	switch {
	case len(r.Errors) > 0:
		trailing(r, before, "before the first error")
		if it := &items[len(items)-1]; !it.has[g.last] || it.value[g.last] == "" {
			note(r, fmt.Sprintf("error %d, the last, is not complete", it.number))
		}
	case len(items) == 0 && st.count > 0:
		return fmt.Sprintf("the answer states %s and lists none", english.Count(st.count, "error"))
	case len(items) == 0 && st.total != nil && *st.total != 0:
		return fmt.Sprintf("the answer states no error and a reduction of %v", *st.total)
	case len(items) == 0:
		trailing(r, before, "after the statement")
	}
	noteItems(r, nothing, "no content but N/A: left out")
	noteItems(r, unknown, "a severity that is not known")
	if len(r.Errors) == 0 {
		r.SetScore(analysis.NoError, 0)
		return ""
	}
	why = s.sum(r)
	if s.Total != statedTotal {
		return why
	}
	if st.total == nil {
		return "the answer states no total"
	}
	if why != "" || *r.Score+*st.total != 0 {
		note(r, "the score is the stated total, which is not the sum of the penalties")
	}
	r.SetScore(analysis.Scored, 0-*st.total)
	return ""
}

// hasStatement reports whether a line states how many errors there are.
func hasStatement(text string) bool {
	for line := range strings.Lines(text) {
		if readStatement(line).found {
			return true
		}
	}
	return false
}

// statement is what an answer states about its errors before listing them.
type statement struct {
	found bool
	count int
	total *float64
	rest  string // the text after it
}

// numberWords maps counts written as words to numbers.
var numberWords = map[string]int{
	"no": 0, "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5,
	"six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "a": 1, "an": 1,
}

// notJudged lists subjects of statements that are not about the hypothesis.
var notJudged = strings.Fields("reference source input instruction prompt correct gold human task question not if")

// statementForm matches "The model-generated output contains 2 errors, with a total score
// reduction of 4.5." and "Your translation contains no error.", in any case. It does not match a
// statement that continues, as in "no errors in the first half", because its number means
// something else.
var statementForm = text.Regexp(`(?i)^(?:your|the|this|model)((?:[ \t-]+[\pL'’]+){0,5}?)[ \t-]+(?:contains?|has|have)[ \t*]*(\d+|[a-z]+)[ \t*]*errors?[ \t*]*(?:\(s\))?` +
	`(?:[ \t,]*(?:(?:with|and|for|a|total|score|reductions?|penalty)[ \t]+){0,5}of[ \t*]*(` + number + `))?[ \t*"']*([.!:;\n\r]|$)`)

// readStatement parses the statement with which a text must begin.
func readStatement(text string) statement {
	s := strings.TrimLeft(text, marks)
	m := statementForm().FindStringSubmatch(s)
	if m == nil {
		return statement{}
	}
	for _, word := range strings.FieldsFunc(strings.ToLower(m[1]), func(r rune) bool { return strings.ContainsRune(" \t-", r) }) {
		if slices.Contains(notJudged, word) {
			return statement{}
		}
	}
	count, known := numberWords[strings.ToLower(m[2])]
	if !known {
		var err error
		if count, err = strconv.Atoi(m[2]); err != nil {
			return statement{}
		}
	}
	st := statement{found: true, count: count}
	if m[3] != "" {
		if value, err := parseNumber(m[3]); err == nil {
			st.total = new(max(value, -value)) // a reduction, written with or without a minus
		}
	}
	st.rest = strings.TrimLeft(s[len(m[0])-len(m[4]):], " \t\r\n.!:;*\"'")
	return st
}

// trailing adds a remark about text where none is expected.
func trailing(r *analysis.Report, text, where string) {
	if strings.IndexFunc(text, func(c rune) bool { return !unicode.IsSpace(c) && !unicode.IsPunct(c) }) >= 0 {
		note(r, "text "+where+" was skipped")
	}
}
