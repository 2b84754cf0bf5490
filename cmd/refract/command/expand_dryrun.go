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
func (x *expander) foresee(ctx context.Context, e *env, cfg diversify.Config, ds refract.Dataset, prices budget.Prices) error {
	exp, err := diversify.New(cfg)
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
	if price, ok := prices[x.model]; ok {
		cost = fixed(price.Cost(o.PromptTokens, o.CompletionTokens))
		most = fixed(price.Cost(o.PromptTokens, o.MostCompletionTokens))
	}
	estimate := "by the length of the texts"
	if o.Measured {
		estimate = "by the stored answers"
	}
	count := func(n int) report.Value { return report.String(strconv.Itoa(n)) }
	out := x.output
	out.path = "" // -o names the dataset
	err = e.list(&out, []report.Column{{Name: "what"}, {Name: "value"}, {Name: "how"}}, func(row func(...report.Value) error) error {
		for _, r := range []struct {
			what  string
			value report.Value
			how   string
		}{
			{"segments", count(o.Segments), ""},
			{"references", count(o.References), ""},
			{"references without a text", count(o.MissingReferences + o.EmptyReferences), "not expanded"},
			{"answers", count(all), "first ones; rejected and cut ones are asked for again"},
			{"stored answers", count(o.Stored), cache.Shown(x.cache)},
			{"share without a call", share, "stored, or equal to another one"},
			{"calls", count(o.Needed), ""},
			{"prompt tokens", count(o.PromptTokens), "estimated " + estimate},
			{"completion tokens", count(o.CompletionTokens), "estimated " + estimate},
			{"most completion tokens", count(o.MostCompletionTokens), "calls × --max-tokens"},
			{"cost", cost, "estimated, in the currency of --prices"},
			{"most cost", most, "if every answer is as long as it may be"},
		} {
			if err := row(report.String(r.what), r.value, report.String(r.how)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && prices == nil {
		e.note("the cost is not known: name the prices of the model with --prices")
	}
	return err
}
