package answer

import (
	"fmt"
	"strings"

	"github.com/refract-eval/refract/metrics/analysis"
)

// field identifies a field of an error.
type field int

const (
	fieldNone field = iota
	fieldLocation
	fieldAspect
	fieldDimension
	fieldSeverity
	fieldExplanation
	fieldPenalty
	fields // their number
)

// item is an error as the model wrote it, in any form.
type item struct {
	number int
	has    [fields]bool
	value  [fields]string
}

func (it *item) set(f field, value string) { it.has[f], it.value[f] = true, value }

// errorOf converts an item to an error. It returns false if all fields say that there is
// nothing.
func (it *item) errorOf() (analysis.Error, bool) {
	nothing, stated := true, false
	for f, value := range it.value {
		if it.has[f] {
			stated = stated || value != ""
			nothing = nothing && (isNone(value) || field(f) == fieldPenalty && strings.Trim(value, "0.-") == "")
		}
	}
	text := func(f field) string {
		if v := it.value[f]; !isNone(v) {
			return v
		}
		return ""
	}
	return analysis.Error{
		Location:    unquote(text(fieldLocation)),
		Aspect:      text(fieldAspect),
		Dimension:   text(fieldDimension),
		Severity:    severityOf(text(fieldSeverity)),
		Explanation: text(fieldExplanation),
	}, !nothing || !stated
}

// penalty returns the penalty of an error, by its severity or as stated; nil if it is
// unknown.
func (s Spec) penalty(rules analysis.Rules, it *item, e *analysis.Error) *float64 {
	if s.Weights == nil {
		value := strings.TrimLeft(it.value[fieldPenalty], marks)
		if x, n, ok := leadingNumber(value); ok && !rangeForm().MatchString(value[n:]) {
			return new(max(x, -x))
		}
		return nil
	}
	if w, ok := rules.Weight(e); ok {
		return &w
	}
	if s.Kind == Errors && strings.EqualFold(strings.TrimSpace(it.value[fieldSeverity]), "neutral") {
		return new(0.0) // in MQM, an issue with no penalty
	}
	return nil
}

// take adds the errors of items to the report. It returns the numbers of items without
// content, and of those with an unknown severity.
func (s Spec) take(r *analysis.Report, items []item) (nothing, unknown []int) {
	rules := s.Rules()
	for i := range items {
		it := &items[i]
		e, says := it.errorOf()
		if !says {
			nothing = append(nothing, it.number)
			continue
		}
		if e.Severity == "" && !isNone(it.value[fieldSeverity]) {
			unknown = append(unknown, it.number)
		}
		e.Penalty = s.penalty(rules, it, &e)
		r.Errors = append(r.Errors, e)
	}
	return nothing, unknown
}

// sum sets the score: minus the sum of the errors' penalties, down to the lower bound. Every
// error must have a penalty, except with InstructScore: there, as in the paper, an error without
// a severity adds nothing, unless no error has one. In a GEMBA answer only the worst five errors
// count, as in the published code. why says why there is no score.
func (s Spec) sum(r *analysis.Report) (why string) {
	sum, known := 0.0, 0
	var lacking []int
	for i, e := range r.Errors {
		switch {
		case e.Penalty == nil:
			lacking = append(lacking, i+1)
		case s.Kind != GEMBA || known < counted:
			sum += *e.Penalty
			known++
		}
	}
	noteItems(r, lacking, "no penalty that can be read")
	switch {
	case known == 0, s.Kind != InstructScore && len(lacking) > 0:
		return "the sum of the penalties is not known"
	case !finite(sum):
		return "the sum of the penalties is too large"
	}
	if s.Kind == GEMBA && len(r.Errors) > counted {
		note(r, fmt.Sprintf("%d errors; the worst %d count", len(r.Errors), counted))
	}
	score := 0 - sum
	if s.Lower != nil && score < *s.Lower {
		note(r, fmt.Sprintf("the sum, %v, stops at %v", score, *s.Lower))
		score = *s.Lower
	}
	r.SetScore(analysis.Scored, score)
	return ""
}

// counted is the maximum number of errors of a GEMBA answer that count.
const counted = 5

// worstFirst lists the severities, the worst first.
var worstFirst = []analysis.Severity{analysis.Critical, analysis.Major, analysis.Minor}

// noteItems adds a remark about the errors with these numbers.
func noteItems(r *analysis.Report, numbers []int, what string) {
	const shown = 5
	names := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(numbers[:min(len(numbers), shown)]), "[]")), ", ")
	if more := len(numbers) - shown; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	switch len(numbers) {
	case 0:
	case 1:
		note(r, "error "+names+" has "+what)
	default:
		note(r, "error "+names+" have "+what)
	}
}
