package command

import (
	"context"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/report"
)

// foresee prints what judges would ask for, and what that may cost.
func (s *scorer) foresee(ctx context.Context, e *env, ds refract.Dataset, ms []metrics.Metric) error {
	var settings []refract.Setting
	var plans []metrics.Forecast
	planned := map[string]bool{} // by name: a member may stand beside its panel
	for len(ms) > 0 {
		m := ms[0]
		if ms = ms[1:]; planned[m.Info().Name] {
			continue
		}
		planned[m.Info().Name] = true
		if f, ok := m.(metrics.Foreseeing); ok {
			plans = append(plans, f.Foresee())
			settings = append(settings, refract.Setting{Metric: plans[len(plans)-1]})
		}
		if c, ok := m.(metrics.Composite); ok {
			ms = append(c.Members(), ms...)
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
	t := &report.NamedTable{Columns: []report.Column{{Name: "metric"}, {Name: "model"}}}
	for _, name := range []string{"cells", "stored", "equal", "calls", "prompt_tokens", "most_completion_tokens"} {
		t.Columns = append(t.Columns, report.Column{Name: name, Header: strings.ReplaceAll(name, "_", " "), Kind: report.KindInt})
	}
	t.Columns = append(t.Columns, report.Column{Name: "most_cost", Header: "most cost", Kind: report.KindFloat, Digits: 4})
	for _, p := range plans {
		o := p.Outlook()
		cost := report.Null()
		if price, ok := s.judging.prices[o.Model]; ok {
			cost = report.Float(price.Cost(o.PromptTokens, o.MostCompletionTokens))
		}
		t.Add(p.Info().Name, o.Model, o.Cells, o.Stored, o.Equal, o.Calls, o.PromptTokens, o.MostCompletionTokens, cost)
	}
	out := s.onScreen() // -o names the scores
	err = out.show(e, t)
	if err == nil {
		e.note("tokens are estimated by the length of the texts; stored answers are in %s; new samples and canaries are not counted, nor what stopping early saves", cache.Shown(s.cache))
	}
	return err
}
