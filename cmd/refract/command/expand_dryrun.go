package command

import (
	"cmp"
	"context"
	"strconv"

	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/internal/report"
)

// fixed shows a share or a cost among counts.
func fixed(v float64) report.Value { return report.String(strconv.FormatFloat(v, 'f', 4, 64)) }

// foresee prints what a run would ask for, and what that may cost.
func (r *expansion) foresee(ctx context.Context) error {
	exp, err := diversify.New(r.cfg)
	if err != nil {
		return usagef("%w", err)
	}
	o, err := exp.Plan(ctx, r.ds, nil)
	if err != nil {
		return err
	}
	all := o.Stored + o.Needed + o.Equal
	share := report.Null()
	if all > 0 {
		share = fixed(float64(o.Stored+o.Equal) / float64(all))
	}
	cost, most := report.Null(), report.Null()
	if price, ok := r.prices[r.cfg.Model]; ok {
		judge := r.prices[cmp.Or(r.judge, r.cfg.Model)]
		cost = fixed(price.Cost(o.PromptTokens-o.Questions.PromptTokens, o.CompletionTokens-o.Questions.CompletionTokens) +
			judge.Cost(o.Questions.PromptTokens, o.Questions.CompletionTokens))
		most = fixed(price.Cost(o.Most.PromptTokens, o.Most.CompletionTokens) +
			judge.Cost(o.MostQuestions.PromptTokens, o.MostQuestions.CompletionTokens))
	}
	const estimate = "estimated by the length of the texts"
	const bound = "if all is asked as often as it may be, each answer as long as it may be"
	t := &report.NamedTable{Title: "what is to come", Columns: []report.Column{{Name: "what"}, {Name: "value"}, {Name: "how"}}}
	t.Add("segments", strconv.Itoa(o.Segments), "")
	t.Add("references", strconv.Itoa(o.References), "")
	t.Add("references without a text", strconv.Itoa(o.MissingReferences+o.EmptyReferences), "not expanded")
	t.Add("answers", strconv.Itoa(all), "known to be asked for")
	t.Add("stored answers", strconv.Itoa(o.Stored), r.storedIn())
	t.Add("share without a call", share, "stored, or equal to another one")
	t.Add("calls", strconv.Itoa(o.Needed), "before any answer is rejected")
	t.Add("most calls", strconv.Itoa(o.Most.Calls+o.MostQuestions.Calls), bound)
	if r.cfg.Form == diversify.FormAuto {
		t.Add("form of the calls", r.form, "the text form is taken where it is stored; else JSON, if the server gives that")
	}
	if r.judge != "" {
		t.Add("most questions to the judge", strconv.Itoa(o.MostQuestions.Calls), r.judge+"; --judge-on "+r.judgeOn)
	}
	t.Add("prompt tokens", strconv.Itoa(o.PromptTokens), estimate)
	t.Add("completion tokens", strconv.Itoa(o.CompletionTokens), estimate)
	t.Add("most completion tokens", strconv.Itoa(o.Most.CompletionTokens+o.MostQuestions.CompletionTokens), bound)
	t.Add("cost", cost, "estimated, before any answer is rejected, in the currency of --prices")
	t.Add("most cost", most, bound)
	out := r.onScreen() // -o names the dataset
	err = out.show(r.e, t)
	if err == nil && r.prices == nil {
		r.e.note("the cost is not known: name the prices of the model with --prices")
	}
	return err
}
