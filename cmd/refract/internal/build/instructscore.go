package build

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

const stepErrors = "errors"

// Designated makes examples for InstructScore (section 4.1). From the first reference of a
// segment the teacher makes a paraphrase, which becomes the reference, and an output with
// designated errors, each with an explanation. most is the number of segments, drawn by the
// seed; 0 means all.
func (s *Set) Designated(ctx context.Context, task *Task, segments []*refract.Segment, most int) error {
	segments = slices.DeleteFunc(slices.Clone(segments), func(s *refract.Segment) bool { return strings.TrimSpace(firstReference(s)) == "" })
	metric, err := s.Recipe.resolve(task.Options)
	if err != nil {
		return err
	}
	s.serve(metric)
	parser, err := metric.Parser()
	if err != nil {
		return err
	}
	var dialogues []*Dialogue
	for _, segment := range some(s.Seed, "texts", segments, most) {
		text, source := firstReference(segment), segment.Source.Value
		it := &Item{ID: segment.ID, Task: task.Name, Group: cmp.Or(source, text), Source: source, Asked: designate(s.Seed, task, text)}
		p, err := s.Recipe.Prompt(stepErrors, task, designation(task, source, text, it.Asked))
		if err != nil {
			return err
		}
		dialogues = append(dialogues, &Dialogue{item: it, correct: text, prompts: []string{p}})
	}
	read := func(d *Dialogue) { d.item.readDesignated(parser, d.correct, d.last(), &s.NotMade) }
	return s.teach(ctx, stepErrors, dialogues, lesson{metric, read, instructScoreAnswer})
}

// mostDesignated is the maximum number of errors to ask for: the metric finds up to five.
const mostDesignated = 5

// designate draws 1 to 5 errors for a text: the dimension, if the task has
// dimensions, the type and the severity. Types repeat only if there are too few.
func designate(seed uint64, t *Task, text string) []analysis.Error {
	draw := newDraw(seed, "errors", t.Name, text)
	out := make([]analysis.Error, 1+draw.IntN(mostDesignated))
	left := map[string][]ErrorType{}
	for i := range out {
		if len(left) == 0 {
			for _, e := range t.Errors {
				left[e.Dimension] = append(left[e.Dimension], e)
			}
		}
		dimensions := slices.Sorted(maps.Keys(left))
		d := dimensions[draw.IntN(len(dimensions))]
		k := draw.IntN(len(left[d]))
		e := left[d][k]
		if left[d] = slices.Delete(left[d], k, k+1); len(left[d]) == 0 {
			delete(left, d)
		}
		out[i] = analysis.Error{Dimension: e.Dimension, Aspect: e.Type, Severity: analysis.Minor}
		if draw.IntN(2) == 1 {
			out[i].Severity = analysis.Major
		}
	}
	return out
}

// designation returns the data for the prompt that designates errors.
func designation(t *Task, source, text string, errors []analysis.Error) map[string]any {
	type numbered struct {
		Number                    int
		Dimension, Type, Severity string
	}
	var list []numbered
	minor := 0
	for i, e := range errors {
		list = append(list, numbered{i + 1, e.Dimension, e.Aspect, severityWord(e.Severity)})
		if e.Severity == analysis.Minor {
			minor++
		}
	}
	return map[string]any{
		"Source": source, "Reference": text, "Words": t.Words,
		"Number": len(errors), "Minor": minor, "Major": len(errors) - minor, "Errors": list,
	}
}

// readDesignated parses an answer into the item. Errors that the model says it could not make
// (N/A) are left out and counted in notMade.
func (it *Item) readDesignated(parser answer.Parser, original, text string, notMade *int) {
	paraphrase, output, list, why := splitDesignated(text)
	if why != "" {
		it.leave(RuleMalformed, why)
		return
	}
	it.Reference, it.Hypothesis = paraphrase, output
	it.leaveRefusal(original, paraphrase)
	it.leaveRefusal(original, output)
	report := parser.Parse(list)
	report.Locate(analysis.Texts{Hypothesis: output, Reference: paraphrase})
	listed := len(report.Errors)
	it.Errors = slices.DeleteFunc(report.Errors, func(e analysis.Error) bool { return e.Location == "" && e.Explanation == "" })
	*notMade += listed - len(it.Errors)
	switch {
	case !report.Outcome.HasScore() && listed > 0:
		it.leave(RuleMalformed, report.Detail)
	case listed != len(it.Asked):
		it.leave(RuleMalformed, fmt.Sprintf("%s asked for, %d listed", english.Count(len(it.Asked), "error"), listed))
	case len(it.Errors) == 0:
		it.leave(RuleNotDesignated, "none of the errors could be made")
	}
	if i := slices.IndexFunc(it.Errors, func(e analysis.Error) bool { return e.Explanation == "" }); i >= 0 {
		it.leave(RuleMalformed, fmt.Sprintf("the error at %q lacks an explanation", it.Errors[i].Location))
	}
}

// fieldWords matches the labels of an error.
const fieldWords = `(?:error[ \t]+(?:dimension|type|location)[ \t]+[1-9][ \t*]*:|major/minor[ \t*]*:|explanation[ \t]+for[ \t]+error[ \t]+[1-9][ \t*]*:)`

// The labels of an answer to the prompts of tables 29 to 33.
var (
	paraphraseLabel = text.Regexp(`(?i)paraphrased?[ \t]+correct[ \t]+(?:translation|generation|output)[ \t*]*:`)
	incorrectLabel  = text.Regexp(`(?i)incorrect[ \t]+(?:translation|generation|output)[ \t*]*:`)
	errorLabel      = text.Regexp(`(?i)[*#]*error[ \t]+(?:type|dimension)[ \t]+1[ \t*]*:`)
	fieldLabel      = text.Regexp(`(?i)[ \t]+([*_]*` + fieldWords + `)`)
	// Marks before a label on its line, and on the line after a text.
	labelMark = text.Regexp(`(?im)^[ \t]*[-#>•]+[ \t]+([*_]*` + fieldWords + `)`)
	lastMark  = text.Regexp(`\n[-#>•*_ \t]+$`)
)

// splitDesignated splits an answer, which may be on one line, into the paraphrase, the output
// with errors, and the list of errors. why says what is missing.
func splitDesignated(text string) (paraphrase, output, list, why string) {
	cut := func(label *regexp.Regexp) (before string, found bool) {
		at := label.FindStringIndex(text)
		if at == nil {
			return "", false
		}
		before, text = text[:at[0]], text[at[1]:]
		return analysis.Unquote(strings.Trim(lastMark().ReplaceAllString(before, ""), "* \t\r\n")), true
	}
	if _, found := cut(paraphraseLabel()); !found {
		return "", "", "", "there is no paraphrase of the correct text"
	}
	paraphrase, found := cut(incorrectLabel())
	if !found {
		return "", "", "", "there is no incorrect text"
	}
	rest := text
	if output, found = cut(errorLabel()); !found {
		return "", "", "", "there is no list of errors"
	}
	rest = rest[errorLabel().FindStringIndex(rest)[0]:]
	list = fieldLabel().ReplaceAllString(labelMark().ReplaceAllString(rest, "$1"), "\n$1")
	switch {
	case paraphrase == "":
		why = "the paraphrase of the correct text is empty"
	case output == "":
		why = "the incorrect text is empty"
	case strings.EqualFold(paraphrase, "N/A") || strings.EqualFold(output, "N/A"):
		why = "a text is N/A"
	}
	return paraphrase, output, list, why
}
