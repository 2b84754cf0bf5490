// Package panel combines several metrics into one: the mean or median of its members'
// scores.
//
// Every member is asked for every cell, as if it were the only metric, and its scores are
// stored under its own name. A cell has a score only if all members give one, since a mean
// without a member is on another scale.
package panel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// config says what a panel is made of.
type config struct {
	Members []metrics.Metric     // at least two
	Combine analysis.Combination // "" means the mean
	Bounds  bool                 // whether scores are rescaled so that a member's lower bound is 0 and its upper one 1
	// Keep returns how a member is asked, such as refract.Keep; nil means its Score.
	Keep func(metrics.Metric) Score
}

// Score is the type of metrics.Metric's method Score.
type Score = func(context.Context, []metrics.Block) ([]metrics.Scores, error)

// panelMetric is a metric of metrics. It is safe for concurrent use.
type panelMetric struct {
	cfg   config
	score []Score // of each member
	info  metrics.Info
}

var (
	_ metrics.Composite = (*panelMetric)(nil)
	_ metrics.Localized = (*panelMetric)(nil)
)

// Factory makes panels from specs; parse makes the members.
func Factory(parse func(ctx context.Context, spec string) (metrics.Metric, error), keep func(metrics.Metric) Score) metrics.Factory {
	return metrics.Factory{
		Name: metricName, Tail: specTail, Summary: "mean or median of other metrics and judges, with their agreement",
		New: func(ctx context.Context, v *metrics.Values) (metrics.Metric, error) {
			specs, options, err := split(v.Tail())
			if err != nil {
				return nil, v.Wrong(err)
			}
			cfg := config{Keep: keep}
			if err := metrics.EachOption(options, cfg.set); err != nil {
				return nil, v.Wrong(err)
			}
			for _, spec := range specs {
				m, err := parse(ctx, spec)
				if start := (*metrics.StartError)(nil); errors.As(err, &start) {
					err = &metrics.StartError{Name: metricName + ":" + redact.Text(v.Tail()), Err: start}
				}
				if err != nil {
					return nil, errors.Join(err, metrics.Close(cfg.Members...))
				}
				cfg.Members = append(cfg.Members, m)
			}
			p, err := newPanel(cfg)
			if err != nil {
				return nil, errors.Join(v.Wrong(err), metrics.Close(cfg.Members...))
			}
			return p, nil
		},
	}
}

// set sets an option such as "combine=median"; "" sets none.
func (c *config) set(key, value string, _ bool) error {
	switch key {
	case "":
	case "combine":
		if !slices.Contains(analysis.Combinations(), value) {
			return errors.New(english.Unknown("combination", value, analysis.Combinations()))
		}
		c.Combine = analysis.Combination(value)
	case "scale":
		if c.Bounds = value == "bounds"; !c.Bounds {
			return fmt.Errorf("option scale=%q: want bounds", value)
		}
	default:
		return fmt.Errorf("%s; put a member with options into brackets, as in [gemba-da:sl=German,tl=English]+mqm",
			english.Unknown("option of a panel", key, []string{"combine", "scale"}))
	}
	return nil
}

// newPanel returns a panel, or an error that says why its members do not fit together.
func newPanel(cfg config) (*panelMetric, error) {
	if len(cfg.Members) < 2 {
		return nil, errors.New("a panel needs at least two members")
	}
	cfg.Combine = cmp.Or(cfg.Combine, analysis.Mean)
	p := &panelMetric{cfg: cfg, info: cfg.Members[0].Info()}
	p.info.Keep = metrics.KeepOnRequest // the members' own scores are stored
	var names []string
	for _, m := range cfg.Members {
		info := m.Info()
		switch {
		case slices.Contains(names, info.Name):
			return nil, fmt.Errorf("%s is a member twice", info.Name)
		case info.Direction != p.info.Direction:
			return nil, fmt.Errorf("for %s lower scores are better, and for %s higher ones: the members of a panel must agree", lowerFirst(info, cfg.Members[0].Info())...)
		case cfg.Bounds && math.IsInf(info.Upper-info.Lower, 0):
			return nil, fmt.Errorf("scale=bounds needs bounds on both sides, which %s lacks", info.Name)
		case !cfg.Bounds && (info.Lower != p.info.Lower || info.Upper != p.info.Upper):
			return nil, fmt.Errorf("%s is from %g to %g, and %s from %g to %g: add scale=bounds for scores from 0 to 1",
				names[0], p.info.Lower, p.info.Upper, info.Name, info.Lower, info.Upper)
		case unfitted(m):
			return nil, fmt.Errorf("%s weighs words by all references, and cannot be a member of a panel", info.Name)
		}
		names = append(names, info.Name)
		p.info.NeedsSource = p.info.NeedsSource || info.NeedsSource
		p.info.NeedsReferences = p.info.NeedsReferences || info.NeedsReferences
		p.info.Explains = p.info.Explains || info.Explains
		p.info.Pace.Batch, p.info.Pace.Calls = max(p.info.Pace.Batch, info.Pace.Batch), max(p.info.Pace.Calls, info.Pace.Calls)
		score := m.Score
		if cfg.Keep != nil {
			score = cfg.Keep(m)
		}
		p.score = append(p.score, score)
	}
	var options []string
	if cfg.Combine != analysis.Mean {
		options = append(options, "combine="+string(cfg.Combine))
	}
	if cfg.Bounds {
		options = append(options, "scale=bounds")
		p.info.Lower, p.info.Upper = 0, 1
	}
	p.info.Name = metricName + ":" + join(names, options...)
	return p, nil
}

// lowerFirst returns the names of two metrics, starting with the one for which lower is
// better.
func lowerFirst(a, b metrics.Info) []any {
	if b.Direction == metrics.LowerIsBetter {
		a, b = b, a
	}
	return []any{a.Name, b.Name}
}

// Info implements metrics.Metric.
func (p *panelMetric) Info() metrics.Info { return p.info }

// Signature implements metrics.Metric. It contains each member's.
func (p *panelMetric) Signature(metrics.Level) metrics.Signature {
	var sig metrics.Signature
	for i, m := range p.cfg.Members {
		sig = sig.With(fmt.Sprintf("member%d", i+1), m.Info().Name+" "+m.Signature(metrics.Sentence).String())
	}
	scale := "same"
	if p.cfg.Bounds {
		scale = "bounds"
	}
	return sig.With("combine", string(p.cfg.Combine)).With("scale", scale)
}

// InLanguage implements metrics.Localized for all members.
func (p *panelMetric) InLanguage(code string) metrics.Metric {
	cfg := p.cfg
	cfg.Members = nil
	for _, m := range p.cfg.Members {
		cfg.Members = append(cfg.Members, metrics.InLanguage(m, code))
	}
	out, err := newPanel(cfg)
	if err != nil {
		panic(err) // impossible: a member has the same Info in every language
	}
	return out
}

// Members implements metrics.Composite.
func (p *panelMetric) Members() []metrics.Metric { return slices.Clone(p.cfg.Members) }

func unfitted(m metrics.Metric) bool {
	f, ok := m.(metrics.Fitter)
	return ok && !f.Fitted()
}

// Close closes the members.
func (p *panelMetric) Close() error { return metrics.Close(p.cfg.Members...) }

// Score implements metrics.Metric. It asks all members concurrently.
func (p *panelMetric) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	said := make([][]metrics.Scores, len(p.score))
	g, ctx := errgroup.WithContext(ctx)
	for k, m := range p.cfg.Members {
		g.Go(func() error {
			var err error
			said[k], err = p.score[k](ctx, given(m.Info(), blocks))
			if err == nil && len(said[k]) != len(blocks) {
				err = fmt.Errorf("%d matrices for %d segments", len(said[k]), len(blocks))
			}
			return named(m.Info().Name, err)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := make([]metrics.Scores, len(blocks))
	for i, b := range blocks {
		n := len(b.Hypotheses) * b.Columns()
		out[i] = metrics.Scores{Values: make([]float64, n), Status: make([]metrics.Status, n), Reports: make([]*analysis.Report, n)}
		for cell := range out[i].Values {
			p.place(&out[i], cell, i, b.Columns(), said)
		}
	}
	return out, nil
}

// named adds a member's name to an error, and keeps its cell.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	if at := (*metrics.CellError)(nil); errors.As(err, &at) {
		return &metrics.CellError{Block: at.Block, Hypothesis: at.Hypothesis, Column: at.Column, Err: fmt.Errorf("%s: %w", name, at.Err)}
	}
	if part := (*metrics.BlocksError)(nil); errors.As(err, &part) {
		err = part.Err // a member's scores of other blocks are not scores of the panel
	}
	return fmt.Errorf("%s: %w", name, err)
}

// given drops the texts that a member does not need.
func given(info metrics.Info, blocks []metrics.Block) []metrics.Block {
	blocks = slices.Clone(blocks)
	for i := range blocks {
		if !info.NeedsReferences {
			blocks[i].References = nil
		}
		if !info.NeedsSource {
			blocks[i].Source = ""
		}
	}
	return blocks
}

// place combines the members' cells into one. If one of them is not scored, the result has
// its status.
func (p *panelMetric) place(out *metrics.Scores, cell, block, columns int, said [][]metrics.Scores) {
	parts := make([]*analysis.Report, len(said))
	for k, m := range p.cfg.Members {
		s, at := &said[k][block], cell
		if !m.Info().NeedsReferences {
			at = cell / columns
		}
		status := metrics.Scored
		if s.Status != nil {
			status = s.Status[at]
		}
		part := analysis.Report{Outcome: analysis.Missing}
		if s.Reports != nil && s.Reports[at] != nil {
			part = *s.Reports[at]
		}
		part.By = m.Info().Name
		if status == metrics.Scored {
			outcome, v, info := analysis.Scored, s.Values[at], m.Info()
			if p.cfg.Bounds {
				v = (v - info.Lower) / (info.Upper - info.Lower)
			}
			if part.Outcome == analysis.NoError {
				outcome = analysis.NoError
			}
			part.SetScore(outcome, v)
		} else {
			if part.Outcome.HasScore() {
				part.Outcome, part.Score = analysis.Missing, nil
			}
			if out.Status[cell] == metrics.Scored {
				out.Status[cell] = status
			}
		}
		parts[k] = &part
	}
	r := analysis.Combine(p.cfg.Combine, parts, len(parts), float64(p.info.Direction))
	out.Reports[cell] = r
	if r.Score != nil {
		out.Values[cell] = *r.Score
	}
}
