package build

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/internal/answer"
	"github.com/refract-eval/refract/metrics/analysis"
)

const stepNoErrors = "no-errors"

// tokensOfError is room for the answers about an error, several times what they
// take. It stops a small model that repeats itself.
const tokensOfError = 512

// feedback asks what is wrong with the reports of items, and gives each item its
// alignment. An item without a report has none.
func (s *Set) feedback(ctx context.Context, items []*Item, reports []*analysis.Report) error {
	dialogues := map[string][]*Dialogue{}
	unknown := 0
	for i, it := range items {
		if reports[i] == nil {
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
		dialogues[step] = append(dialogues[step], &Dialogue{index: i, about: "item " + strconv.Quote(it.ID), prompts: []string{prompt}, maxTokens: tokensOfError * len(it.Errors)})
	}
	for _, step := range []string{stepErrors, stepNoErrors} {
		st, err := s.ask(ctx, s.Teacher, step, dialogues[step], func(d *Dialogue) error {
			items[d.index].judged(reports[d.index], d)
			return nil
		})
		if err != nil {
			return err
		}
		if step == stepErrors && s.DryRun {
			st.Unknown = unknown
		}
	}
	return nil
}

// questions is the data of a prompt about a report.
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

// judged reads the answer about an item's report.
func (it *Item) judged(report *analysis.Report, d *Dialogue) {
	texts := analysis.Texts{Hypothesis: it.Hypothesis, Source: it.Source, Reference: it.Reference}
	switch {
	case d.Rule != "":
		it.leave(RuleFeedback, d.Rule+" "+d.Detail)
	case len(it.Errors) == 0:
		found, answered := answer.YesOrNo(d.last())
		if !answered {
			it.leave(RuleFeedback, RuleMalformed+" the answer is neither Yes nor No")
			return
		}
		it.Alignment = new(1.0)
		if found {
			it.Alignment = new(0.0)
		}
	default:
		answers, err := answer.ReadFeedback(d.last(), len(it.Errors), func(phrase string) bool { return !missing(phrase, texts) })
		if err != nil {
			it.leave(RuleFeedback, RuleMalformed+" "+err.Error())
			return
		}
		it.Alignment = new(alignment(report, texts, answers))
	}
}

// alignment is the share of the errors' fields that are right: type, location,
// severity and explanation (section 4.2). The failures M1 to M5 make one field wrong,
// G1 to G4 all four. Some follow from the answers, others are looked up.
func alignment(report *analysis.Report, texts analysis.Texts, f *answer.Feedback) float64 {
	located := &analysis.Report{Outcome: report.Outcome, Errors: slices.Clone(report.Errors)} // the item's errors stay as they are
	located.Locate(texts)
	located.Check(texts, analysis.Rules{})
	type fields struct{ kind, location, severity, explanation, all bool }
	wrong, repeated := make([]fields, len(located.Errors)), make([]bool, len(located.Errors))
	for _, p := range located.Problems {
		if p.Error == nil {
			continue
		}
		w := &wrong[*p.Error]
		switch p.Code {
		case analysis.CodeLocation: // M3
			w.location = true
		case analysis.CodeExplanation: // M4
			w.explanation = true
		case analysis.CodeCorrection: // G1
			w.all = true
		case analysis.CodeRepeated: // G2
			repeated[*p.Error] = true
		}
	}
	markRepeated(repeated, f)
	right := 0
	for i := range wrong {
		e, q, w := &located.Errors[i], &f.Errors[i], &wrong[i]
		w.kind = !q.Typed                                                   // M1
		w.location = w.location || !q.Located || missing(q.Location, texts) // M2, M3
		w.all = w.all || repeated[i] || q.NoError || len(q.Phrases) > 1     // G2, G1, G4
		w.all = w.all || q.Aligned != nil && !*q.Aligned                    // G3
		for _, p := range q.Phrases {
			w.explanation = w.explanation || missing(p.Incorrect, texts) // M4
		}
		if !q.NoError && q.Weight != "" && e.Severity != "" {
			w.severity = (q.Weight == analysis.Minor) != (e.Severity == analysis.Minor) // M5
		}
		for _, bad := range []bool{w.kind, w.location, w.severity, w.explanation} {
			if !bad && !w.all {
				right++
			}
		}
	}
	return float64(right) / float64(4*len(wrong))
}

// missing reports whether a phrase that is stated is nowhere in the output.
func missing(phrase string, texts analysis.Texts) bool {
	if phrase == "" {
		return false
	}
	r := &analysis.Report{Errors: []analysis.Error{{Location: phrase}}}
	r.Locate(texts)
	place := r.Errors[0].Place
	return place == analysis.Absent || place == analysis.InSource
}

// markRepeated marks the errors that repeat another one. Q7 says how many pairs
// there are, and not which: besides those that the checks found, they are the last
// ones.
func markRepeated(repeated []bool, f *answer.Feedback) {
	left := min(f.Repeated, len(repeated)-1)
	for _, found := range repeated {
		if found {
			left--
		}
	}
	for i := len(repeated) - 1; i > 0 && left > 0; i-- {
		if !repeated[i] {
			repeated[i] = true
			left--
		}
	}
}
