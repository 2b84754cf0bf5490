package command

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/metrics"
)

// perStatistics is the value of --per for scores of systems as a line that adds up.
const perStatistics = "statistics"

// partMetrics tell a merge about the settings of a run.
type partMetrics struct {
	Metrics  []partMetric  `json:"metrics"`
	Settings []partSetting `json:"settings"`
}

// partMetric is a metric that has scored. It cannot score again.
type partMetric struct {
	Name            string            `json:"name"`
	Direction       metrics.Direction `json:"direction"`
	NeedsReferences bool              `json:"needs_references"`
	Signed          string            `json:"signature"` // of a sentence
	// Spec and the language make the metric again where its statistics are pooled.
	Spec     string `json:"spec,omitempty"`
	Language string `json:"language,omitempty"`

	signature metrics.Signature
}

type partSetting struct {
	Metric     int    `json:"metric"`
	Aggregator string `json:"aggregator"`
	Pooled     bool   `json:"pooled,omitempty"`
}

// Info returns what a part says about the metric.
func (m *partMetric) Info() metrics.Info {
	return metrics.Info{Name: m.Name, Direction: m.Direction, NeedsReferences: m.NeedsReferences}
}

// Signature returns the signature that the metric had.
func (m *partMetric) Signature(metrics.Level) metrics.Signature { return m.signature }

// Score returns an error, because a part has only sums.
func (m *partMetric) Score(context.Context, []metrics.Block) ([]metrics.Scores, error) {
	return nil, errors.New("a metric of a part cannot score")
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
	var d partMetrics
	ms := eng.Metrics()
	for _, m := range ms {
		info := m.Info()
		d.Metrics = append(d.Metrics, partMetric{
			Name: info.Name, Direction: info.Direction, NeedsReferences: info.NeedsReferences, Signed: m.Signature(metrics.Sentence).String(),
		})
	}
	for k, set := range eng.Settings() {
		of := slices.Index(ms, set.Metric)
		pooled := p.per == "system" && eng.Pools(k)
		if pooled {
			d.Metrics[of].Language = p.target
			d.Metrics[of].Spec = redact.Text(p.scoring.parsed[set.Metric.Info().Name])
		}
		d.Settings = append(d.Settings, partSetting{of, set.Aggregator.Name(), pooled})
	}
	if len(found.reports.Metrics()) > 0 {
		if p.shard.part.Reports, err = found.reports.Trust.MarshalJSON(); err != nil {
			return err
		}
	}
	if p.shard.part.Metrics, err = json.Marshal(d); err != nil {
		return err
	}
	return p.shard.end(p.e)
}

// engine makes the settings of a part again, for its sums.
func (p *part) engine(ctx context.Context, e *env) (*refract.Engine, error) {
	var d partMetrics
	if err := json.Unmarshal(p.Metrics, &d); err != nil {
		return nil, err
	}
	var settings []refract.Setting
	ms := make([]metrics.Metric, len(d.Metrics))
	for _, set := range d.Settings {
		a, err := aggregate.Parse(set.Aggregator)
		if err != nil {
			return nil, err
		}
		if set.Metric < 0 || set.Metric >= len(ms) {
			return nil, errNoPart
		}
		if ms[set.Metric] == nil {
			if ms[set.Metric], err = d.Metrics[set.Metric].again(ctx, e); err != nil {
				return nil, err
			}
		}
		settings = append(settings, refract.Setting{Metric: ms[set.Metric], Aggregator: a})
	}
	return refract.NewEngine(settings, refract.Options{Scope: refract.Auto})
}

// again returns the metric for its sums: where they are statistics of a corpus, one that
// scores them.
func (m *partMetric) again(ctx context.Context, e *env) (metrics.Metric, error) {
	if m.Spec == "" {
		var err error
		m.signature, err = metrics.ParseSignature(m.Signed)
		return m, err
	}
	made, err := e.registryWith(nil, nil).Parse(ctx, m.Spec)
	if err != nil {
		return nil, err
	}
	if made = metrics.InLanguage(made, m.Language); made.Signature(metrics.Sentence).String() != m.Signed {
		return nil, errors.New("the parts were scored by another " + m.Name + ": merge them with the program that scored them")
	}
	return made, nil
}
