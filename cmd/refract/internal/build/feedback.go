package build

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

const stepNoErrors = "no-errors"

// tokensOfError is the token limit for the answers about an error, several times what they
// need. It stops a small model that repeats itself.
const tokensOfError = 512

// feedback asks what is wrong with the reports of items, and gives each item its
// alignment. An item without a report has none.
func (s *Set) feedback(ctx context.Context, items []*Item) error {
	dialogues := map[string][]*Dialogue{}
	unknown := 0
	for _, it := range items {
		if it.report == nil {
			unknown++
			continue
		}
		step := stepErrors
		if len(it.Errors) == 0 {
			step = stepNoErrors
		}
		prompt, err := s.Recipe.Prompt(step, nil, questions(it))
		if err != nil {
			return err
		}
		dialogues[step] = append(dialogues[step], &Dialogue{item: it, prompts: []string{prompt}, maxTokens: tokensOfError * len(it.Errors)})
	}
	for _, step := range []string{stepErrors, stepNoErrors} {
		st, err := s.ask(ctx, s.Teacher, step, dialogues[step], func(d *Dialogue) { d.item.readFeedback(d) })
		if err != nil {
			return err
		}
		if step == stepErrors && s.DryRun {
			st.Unknown = unknown
		}
	}
	return nil
}

// questions returns the data for a prompt about a report.
func questions(it *Item) map[string]any {
	type numbered struct {
		Number                      int
		Location, Type, Explanation string
	}
	var list []numbered
	for i, e := range it.Errors {
		list = append(list, numbered{i + 1, e.Location, strings.TrimSpace(e.Dimension + " " + e.Aspect), e.Explanation})
	}
	return map[string]any{"Reference": it.Reference, "Output": it.Hypothesis, "Errors": list}
}

// readFeedback parses the answer about an item's report.
func (it *Item) readFeedback(d *Dialogue) {
	var err error
	switch {
	case d.Rule != "":
		err = errors.New(d.Detail)
	case len(it.Errors) == 0:
		found, answered := answer.YesOrNo(d.last())
		if !answered {
			err = errors.New("the answer is neither Yes nor No")
		} else if it.Alignment = new(1.0); found {
			it.Alignment = new(0.0)
		}
	default:
		var f *answer.Feedback
		f, err = answer.ReadFeedback(d.last(), len(it.Errors), func(phrase string) bool { return !it.lacks(phrase) })
		if err == nil {
			it.Alignment = new(it.alignment(f))
		}
	}
	if err != nil {
		it.leave(RuleFeedback, cmp.Or(d.Rule, RuleMalformed)+" "+err.Error())
	}
}

// alignment returns the share of correct fields of the errors: type, location, severity and
// explanation (section 4.2). The failures M1 to M5 make one field wrong, G1 to G4 all four.
// Some failures follow from the answers, others from the texts.
func (it *Item) alignment(f *answer.Feedback) float64 {
	located := &analysis.Report{Outcome: it.report.Outcome, Errors: slices.Clone(it.Errors)} // the item's errors stay as they are
	located.Locate(it.texts())
	located.Check(it.texts(), analysis.Rules{})
	has := func(code string, i int) bool {
		return slices.ContainsFunc(located.Problems, func(p analysis.Problem) bool { return p.Code == code && p.Error != nil && *p.Error == i })
	}
	// Q7 says how many pairs there are but not which. In addition to those that the checks
	// found, the last errors are taken.
	right, left := 0, min(f.Repeated, len(it.Errors)-1)
	for i := range it.Errors {
		if has("repeated", i) {
			left--
		}
	}
	for i := len(it.Errors) - 1; i >= 0; i-- {
		e, q := &it.Errors[i], &f.Errors[i]
		again := has("repeated", i) // G2
		if !again && i > 0 && left > 0 {
			again = true
			left--
		}
		if again || q.NoError || has("correction", i) || len(q.Phrases) > 1 || q.Aligned != nil && !*q.Aligned { // G1, G4, G3
			continue
		}
		for _, good := range []bool{
			q.Typed, // M1
			q.Located && !has("location", i) && !it.lacks(q.Location),                                                              // M2, M3
			q.Weight == "" || e.Severity == "" || (q.Weight == analysis.Minor) == (e.Severity == analysis.Minor),                   // M5
			!has("explanation", i) && !slices.ContainsFunc(q.Phrases, func(p answer.Phrase) bool { return it.lacks(p.Incorrect) }), // M4
		} {
			if good {
				right++
			}
		}
	}
	return float64(right) / float64(4*len(it.Errors))
}

// lacks reports whether a stated phrase does not occur in the output.
func (it *Item) lacks(phrase string) bool {
	r := &analysis.Report{Errors: []analysis.Error{{Location: phrase}}}
	r.Locate(it.texts())
	place := r.Errors[0].Place
	return phrase != "" && (place == analysis.Absent || place == analysis.InSource)
}
