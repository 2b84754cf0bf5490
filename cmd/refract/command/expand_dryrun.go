package command

import (
	"cmp"
	"context"
	"strconv"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/diversify"
)

// fixed formats a share or a cost in a table of counts.
func fixed(v float64) report.Value { return report.String(strconv.FormatFloat(v, 'f', 4, 64)) }

// foresee prints how many calls a run would make, and what they may cost.
func (r *expandRun) foresee(ctx context.Context) error {
	exp, err := diversify.New(r.cfg)
	if err != nil {
		return usagef("%w", err)
	}
	o, err := exp.Plan(ctx, r.ds, nil)
	if err != nil {
		return err
	}
	all := o.Stored + o.Needed + o.Equal
	cost := report.Null()
	if price, ok := r.prices[r.cfg.Model]; ok {
		judge := r.prices[cmp.Or(r.judge, r.cfg.Model)]
		cost = fixed(price.Cost(o.PromptTokens-o.JudgePromptTokens, o.CompletionTokens-o.JudgeCompletionTokens) +
			judge.Cost(o.JudgePromptTokens, o.JudgeCompletionTokens))
	}
	const estimate = "estimated by the length of the texts"
	t := &report.NamedTable{Title: "what is to come", Columns: []report.Column{{Name: "what"}, {Name: "value"}, {Name: "how"}}}
	t.Add("segments", strconv.Itoa(o.Segments), "")
	t.Add("references", strconv.Itoa(o.References), "")
	t.Add("references without a text", strconv.Itoa(o.Textless), "not expanded")
	t.Add("answers", strconv.Itoa(all), "known to be asked for")
	t.Add("stored answers", strconv.Itoa(o.Stored), r.calls.storedIn())
	t.Add("calls", strconv.Itoa(o.Needed), "before any answer is rejected")
	if r.judge != "" {
		t.Add("calls to the judge", strconv.Itoa(o.JudgeCalls), "of these, without second ones")
	}
	t.Add("prompt tokens", strconv.Itoa(o.PromptTokens), estimate)
	t.Add("completion tokens", strconv.Itoa(o.CompletionTokens), estimate)
	t.Add("cost", cost, "estimated, before any answer is rejected, in the currency of --prices")
	out := r.out.onScreen() // -o names the dataset
	err = out.show(r.e, t)
	if err == nil && r.prices == nil {
		r.e.note("the cost is unknown: give the price of the model with --prices")
	}
	return err
}
