package command

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/internal/serve"
	"github.com/refract-eval/refract/metrics"
)

// models are the metrics of a server as the Open Inference Protocol sees them.
type models struct{ *service }

// Model implements serve.Models.
func (s models) Model(_ context.Context, name string) (*serve.Model, error) {
	if err := s.check([]string{name}); err != nil {
		return nil, err
	}
	m, back, err := s.pool.Lend(name)
	if err != nil {
		return nil, err
	}
	defer back(false)
	if refract.NeedsFit([]refract.Setting{{Metric: m}}) {
		return nil, usagef("%s weighs words by all references of a dataset, which single pairs do not tell: send segments to /v1/score", name)
	}
	info := m.Info()
	signature := map[string]string{}
	for _, f := range m.Signature(metrics.Sentence) {
		signature[f.Key] = f.Value
	}
	needs := []string{}
	if info.NeedsSource {
		needs = append(needs, "source")
	}
	if info.NeedsReferences {
		needs = append(needs, "reference")
	}
	facts, err := json.Marshal(map[string]any{
		"name": info.Name, "version": refract.Version, "signature": signature, "needs": needs,
		"direction": info.Direction.String(), "lower": finite(info.Lower), "upper": finite(info.Upper),
	})
	return &serve.Model{Source: info.NeedsSource, Reference: info.NeedsReferences, Native: metrics.HasNative(m), Facts: facts}, err
}

// Score implements serve.Models.
func (s models) Score(ctx context.Context, name string, rows []serve.Row) ([]float64, error) {
	out := make([]float64, len(rows))
	places := map[string][]int{} // of rows, by aggregator
	for i, row := range rows {
		aggregator := "single"
		if len(row.References) > 1 {
			aggregator = "native"
		}
		places[aggregator] = append(places[aggregator], i)
	}
	for aggregator, at := range places {
		q := &scoreRequest{specs: []string{aggregator}, scope: "auto", perSegment: true}
		q.metrics, q.aggregators = []string{name}, []aggregate.Aggregator{aggregate.Must(aggregator)}
		for _, i := range at {
			seg := &refract.Segment{ID: fmt.Sprint(i + 1), Source: refract.NewText(rows[i].Source), Hypotheses: []refract.Hypothesis{{System: "row", Text: refract.NewText(rows[i].Hypothesis)}}}
			for _, r := range rows[i].References {
				seg.References = append(seg.References, refract.NewText(r))
			}
			q.segments = append(q.segments, seg)
		}
		got, err := s.pool.Score(ctx, s.recipe(q), q.segments)
		if err != nil {
			return nil, err
		}
		v, err := newScored(q, got)
		if err != nil {
			return nil, err
		}
		for k, i := range at {
			red := v.reduced[0][k]
			if red.Status != metrics.Scored {
				return nil, fmt.Errorf("row %d has no score: %s", i, red.Status)
			}
			out[i] = red.Value
		}
	}
	return out, nil
}
