package command

import (
	"context"
	"strconv"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/llm/budget"
	"github.com/refract-eval/refract/report"
)

// fixed shows a share or a cost among counts.
func fixed(v float64) report.Value { return report.String(strconv.FormatFloat(v, 'f', 4, 64)) }

// foresee prints what a run would ask for, and what that may cost.
func (x *expander) foresee(ctx context.Context, e *env, ds refract.Dataset, prices budget.Prices) error {
	exp, err := diversify.New(x.Config)
	if err != nil {
		return usagef("%w", err)
	}
	o, err := exp.Plan(ctx, ds, nil)
	if err != nil {
		return err
	}
	all := o.Stored + o.Needed + o.Equal
	share := report.Null()
	if all > 0 {
		share = fixed(float64(o.Stored+o.Equal) / float64(all))
	}
	cost, most := report.Null(), report.Null()
	if price, ok := prices[x.Model]; ok {
		cost = fixed(price.Cost(o.PromptTokens, o.CompletionTokens))
		most = fixed(price.Cost(o.PromptTokens, o.MostCompletionTokens))
	}
	estimate := "by the length of the texts"
	if o.Measured {
		estimate = "by the stored answers"
	}
	t := &report.NamedTable{Columns: []report.Column{{Name: "what"}, {Name: "value"}, {Name: "how"}}}
	t.Add("segments", strconv.Itoa(o.Segments), "")
	t.Add("references", strconv.Itoa(o.References), "")
	t.Add("references without a text", strconv.Itoa(o.MissingReferences+o.EmptyReferences), "not expanded")
	t.Add("answers", strconv.Itoa(all), "first ones; rejected and cut ones are asked for again")
	t.Add("stored answers", strconv.Itoa(o.Stored), cache.Shown(x.cache))
	t.Add("share without a call", share, "stored, or equal to another one")
	t.Add("calls", strconv.Itoa(o.Needed), "")
	t.Add("prompt tokens", strconv.Itoa(o.PromptTokens), "estimated "+estimate)
	t.Add("completion tokens", strconv.Itoa(o.CompletionTokens), "estimated "+estimate)
	t.Add("most completion tokens", strconv.Itoa(o.MostCompletionTokens), "calls × --max-tokens")
	t.Add("cost", cost, "estimated, in the currency of --prices")
	t.Add("most cost", most, "if every answer is as long as it may be")
	out := x.onScreen() // -o names the dataset
	err = out.show(e, t)
	if err == nil && prices == nil {
		e.note("the cost is not known: name the prices of the model with --prices")
	}
	return err
}
