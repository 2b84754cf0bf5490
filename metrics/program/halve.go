package program

import (
	"context"
	"slices"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// known is what a program is asked to score after it failed at something else.
var known = metrics.Block{Source: "The river was quiet.", Hypotheses: []string{"The river was quiet."}, References: []string{"The river was quiet."}}

// part scores blocks. If the program fails at them, but still scores something else, part halves them until
// the cell at fault stands alone: that cell has no score.
func (m *metric) part(ctx context.Context, blocks []metrics.Block, native bool, tries int) ([]metrics.Scores, error) {
	scores, err := m.request(ctx, blocks, native, tries)
	if err == nil || m.cfg.Failed == nil || ctx.Err() != nil {
		return scores, err
	}
	if _, no := m.request(ctx, []metrics.Block{known}, native, 1); no != nil {
		return nil, err
	}
	first, second := halves(blocks, native)
	if second == nil {
		if !m.cfg.Failed(err) {
			return nil, err
		}
		return []metrics.Scores{{
			Values: []float64{0}, Status: []metrics.Status{metrics.Failed},
			Reports: []*analysis.Report{{Outcome: analysis.Missing, Detail: err.Error()}},
		}}, nil
	}
	if scores, err = m.part(ctx, first, native, 1); err != nil {
		return nil, err
	}
	rest, err := m.part(ctx, second, native, 1)
	if err != nil || len(blocks) > 1 {
		return append(scores, rest...), err
	}
	return []metrics.Scores{joined(scores[0], rest[0])}, nil
}

// halves divides blocks into two parts: blocks, or hypotheses of one, or references of one hypothesis. The
// second is nil if there is only one score.
func halves(blocks []metrics.Block, native bool) (first, second []metrics.Block) {
	if n := len(blocks) / 2; n > 0 {
		return blocks[:n], blocks[n:]
	}
	a, b := blocks[0], blocks[0]
	if n := len(a.Hypotheses) / 2; n > 0 {
		a.Hypotheses, b.Hypotheses = a.Hypotheses[:n], a.Hypotheses[n:]
	} else if n := len(a.References) / 2; n > 0 && !native {
		a.References, b.References = a.References[:n], a.References[n:]
	} else {
		return blocks, nil
	}
	return []metrics.Block{a}, []metrics.Block{b}
}

// joined puts the scores of two parts of a block together.
func joined(a, b metrics.Scores) metrics.Scores {
	if a.Reports != nil || b.Reports != nil {
		reports := slices.Grow(a.Reports, len(a.Values)+len(b.Values))[:len(a.Values)]
		a.Reports = append(append(reports, b.Reports...), make([]*analysis.Report, len(b.Values)-len(b.Reports))...)
	}
	a.Values, a.Status = append(a.Values, b.Values...), append(a.Status, b.Status...)
	return a
}
