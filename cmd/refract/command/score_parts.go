package command

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/metrics"
)

// perStatistics is the value of --per for scores of systems as a line that adds up.
const perStatistics = "statistics"

// partSetting is a setting of a run that was scored in parts.
type partSetting struct {
	Metric          string            `json:"metric"`
	Direction       metrics.Direction `json:"direction"`
	NeedsReferences bool              `json:"needs_references"`
	Signed          string            `json:"signature"` // of a sentence
	// Spec and the language make the metric again where its statistics are pooled.
	Spec       string `json:"spec,omitempty"`
	Language   string `json:"language,omitempty"`
	Aggregator string `json:"aggregator"`
}

// sums is the sink of a part with the scores of systems.
func (w *partWriter) sums(eng *refract.Engine) *sink {
	acc := eng.Systems()
	acc.Identify(nil)
	return &sink{acc.Add, func(context.Context, *refract.Incomplete) (err error) {
		w.Systems, err = json.Marshal(acc)
		return err
	}}
}

// endPart completes the part of a run.
func (p *scorePlan) endPart(eng *refract.Engine, found *metricFindings) (err error) {
	part := p.shard.part
	for k, set := range eng.Settings() {
		info := set.Metric.Info()
		s := partSetting{Metric: info.Name, Direction: info.Direction, NeedsReferences: info.NeedsReferences, Signed: set.Metric.Signature(metrics.Sentence).String(), Aggregator: set.Aggregator.Name()}
		if p.per == "system" && eng.Pools(k) {
			s.Spec, s.Language = redact.Text(p.scoring.parsed[info.Name]), p.target
		}
		part.Scored = append(part.Scored, s)
	}
	if len(found.reports.Metrics()) > 0 {
		if part.Reports, err = found.reports.Trust.MarshalJSON(); err != nil {
			return err
		}
	}
	return p.shard.end(p.e)
}

// engine makes the settings of a part again, for its sums.
func (p *part) engine(ctx context.Context, e *env) (*refract.Engine, error) {
	var settings []refract.Setting
	ms := map[string]metrics.Metric{}
	for _, s := range p.Scored {
		a, err := aggregate.Parse(s.Aggregator)
		if err == nil && ms[s.Metric] == nil {
			ms[s.Metric], err = s.metric(ctx, e)
		}
		if err != nil {
			return nil, err
		}
		settings = append(settings, refract.Setting{Metric: ms[s.Metric], Aggregator: a})
	}
	return refract.NewEngine(settings, refract.Options{Scope: refract.Auto})
}

// metric returns the metric for its sums: where they are statistics of a corpus, one that
// scores them.
func (s *partSetting) metric(ctx context.Context, e *env) (metrics.Metric, error) {
	if s.Spec == "" {
		signature, err := metrics.ParseSignature(s.Signed)
		return &summedMetric{metrics.Info{Name: s.Metric, Direction: s.Direction, NeedsReferences: s.NeedsReferences}, signature}, err
	}
	made, err := e.registryWith(nil, nil).Parse(ctx, s.Spec)
	if err != nil {
		return nil, err
	}
	if made = metrics.InLanguage(made, s.Language); made.Signature(metrics.Sentence).String() != s.Signed {
		return nil, errors.New("the parts were scored by another " + s.Metric + ": merge them with the program that scored them")
	}
	return made, nil
}

// summedMetric stands for a metric whose scores are summed. It cannot score again.
type summedMetric struct {
	info      metrics.Info
	signature metrics.Signature
}

// Info returns what a part says about the metric.
func (m *summedMetric) Info() metrics.Info { return m.info }

// Signature returns the signature that the metric had.
func (m *summedMetric) Signature(metrics.Level) metrics.Signature { return m.signature }

// Score returns an error, because a part has only sums.
func (m *summedMetric) Score(context.Context, []metrics.Block) ([]metrics.Scores, error) {
	return nil, errors.New("a metric of a part cannot score")
}
