package command

import (
	"context"
	"errors"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/metrics"
)

// forecasts are the expected calls of metrics that ask servers.
func (p *scorePlan) forecasts(ctx context.Context) (plans []metrics.Forecast, err error) {
	var settings []refract.Setting
	for _, set := range p.settings { // those of a metric follow each other
		f, ok := set.Metric.(metrics.Foreseeing)
		if !ok {
			continue
		}
		if n := len(plans); n == 0 || plans[n-1].Info().Name != set.Metric.Info().Name {
			plans = append(plans, f.Foresee())
		}
		settings = append(settings, refract.Setting{Metric: plans[len(plans)-1], Aggregator: set.Aggregator})
	}
	if len(plans) == 0 {
		return nil, nil
	}
	eng, err := refract.NewEngine(settings, refract.Options{AllowNoReferences: p.scoring.allowNone})
	if err != nil {
		return nil, err
	}
	return plans, eng.Run(ctx, p.segments, func(*refract.SegmentScores) error { return nil })
}

// foresee prints how many calls the metrics would make, and what they may cost.
func (p *scorePlan) foresee(ctx context.Context) error {
	plans, err := p.forecasts(ctx)
	if err != nil {
		return err
	}
	if len(plans) == 0 {
		var all []metrics.Metric
		for _, set := range p.settings {
			all = append(all, set.Metric)
		}
		if errs := metrics.StartErrors(all); len(errs) > 0 {
			return errors.Join(errs...)
		}
		return usagef("--dry-run is for metrics that ask a server, and none of these does ('refract metrics' lists some)")
	}
	t := &report.NamedTable{Columns: []report.Column{
		textColumn("metric"), textColumn("model"), countColumn("cells"), countColumn("stored"), countColumn("equal"), countColumn("calls"),
		countColumn("prompt_tokens"), countColumn("most_completion_tokens"), numberColumn("most_cost", 4),
	}}
	for _, plan := range plans {
		o := plan.Outlook()
		price, known := p.judging.prices[o.Model]
		t.Add(plan.Info().Name, o.Model, o.Cells, o.Stored, o.Equal, o.Calls, o.PromptTokens, o.MostCompletionTokens,
			where(known, report.Float(price.Cost(o.PromptTokens, o.MostCompletionTokens))))
	}
	out := p.view.onScreen() // -o names the scores
	err = out.show(p.e, t)
	if err == nil {
		p.e.note("tokens are estimated by the length of the texts; stored answers are in %s; new samples are not counted", p.judges.calls.storedIn())
	}
	return err
}
