package command

import (
	"context"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/report"
)

// foresee prints what judges would ask for, and what that may cost.
func (s *scorer) foresee(ctx context.Context, e *env, ds refract.Dataset, ms []metrics.Metric) error {
	var settings []refract.Setting
	var plans []metrics.Forecast
	for _, m := range ms {
		if f, ok := m.(metrics.Foreseeing); ok {
			plans = append(plans, f.Foresee())
			settings = append(settings, refract.Setting{Metric: plans[len(plans)-1]})
		}
	}
	if len(plans) == 0 {
		return usagef("--dry-run is for metrics that ask a model, and none of these does ('refract judges' lists some)")
	}
	eng, err := refract.NewEngine(settings, refract.Options{AllowNoReferences: s.allowNone})
	if err != nil {
		return err
	}
	if err := eng.Run(ctx, ds, func(*refract.SegmentScores) error { return nil }); err != nil {
		return err
	}
	out := s.output
	out.path = "" // -o names the scores
	columns := []report.Column{{Name: "metric"}, {Name: "model"}}
	for _, c := range []report.Column{
		{Name: "cells"}, {Name: "stored"}, {Name: "equal"}, {Name: "calls"},
		{Name: "prompt_tokens", Header: "prompt tokens"}, {Name: "most_completion_tokens", Header: "most completion tokens"},
	} {
		c.Kind = report.KindInt
		columns = append(columns, c)
	}
	columns = append(columns, report.Column{Name: "most_cost", Header: "most cost", Kind: report.KindFloat, Digits: 4})
	err = e.list(&out, columns, func(row func(...report.Value) error) error {
		for _, p := range plans {
			o := p.Outlook()
			cost := report.Null()
			if price, ok := s.judging.prices[o.Model]; ok {
				cost = report.Float(price.Cost(o.PromptTokens, o.MostCompletionTokens))
			}
			err := row(report.String(p.Info().Name), report.String(o.Model), report.Int(o.Cells), report.Int(o.Stored), report.Int(o.Equal),
				report.Int(o.Calls), report.Int(o.PromptTokens), report.Int(o.MostCompletionTokens), cost)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		e.note("tokens are estimated by the length of the texts; stored answers are in %s; new samples and canaries are not counted, nor what stopping early saves", cache.Shown(s.cache))
	}
	return err
}
