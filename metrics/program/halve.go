package program

import (
	"context"

	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// known is what a program is asked to score after it failed at something else.
var known = metrics.Block{Source: llm.PlainSentence, Hypotheses: []string{llm.PlainSentence}, References: []string{llm.PlainSentence}}

// scored is a block with its scores, once it has them.
type scored struct {
	metrics.Block
	metrics.Scores
}

// halving scores blocks, trying the first request several times. If the program fails at them, but still scores
// something else, the cell at fault is found; it has no score.
func (m *metric) halving(ctx context.Context, native bool, tries int) *llm.Halving[scored] {
	h := &llm.Halving[scored]{
		Witness: &m.witness,
		Ask: func(ctx context.Context, part []scored) error {
			err := m.request(ctx, part, native, tries)
			if tries = 1; err != nil {
				err = &llm.Blamed{Err: err, On: llm.BlameEither}
			}
			return err
		},
		Other: func(ctx context.Context) error { return m.request(ctx, []scored{{Block: known}}, native, 1) },
	}
	if m.cfg.Failed != nil {
		h.Failed = func(b *scored, why error) (err error) {
			if cells := b.cells(native); len(cells) > 1 {
				b.Scores, err = m.whole(ctx, cells, native)
				return err
			}
			if !m.cfg.Failed(why) {
				return why
			}
			b.Scores = metrics.Scores{
				Values: []float64{0}, Status: []metrics.Status{metrics.Failed},
				Reports: []*analysis.Report{{Outcome: analysis.Missing, Detail: why.Error()}},
			}
			return nil
		}
	}
	return h
}

// cells returns a block for each score of a block.
func (s *scored) cells(native bool) (out []metrics.Block) {
	for _, h := range s.Hypotheses {
		for c := range columns(s.Block, native) {
			cell := metrics.Block{Source: s.Source, Hypotheses: []string{h}, References: s.References}
			if !native && len(s.References) > 0 {
				cell.References = s.References[c : c+1]
			}
			out = append(out, cell)
		}
	}
	return out
}

// columns returns the number of scores of each hypothesis.
func columns(b metrics.Block, native bool) int {
	if native {
		return 1
	}
	return b.Columns()
}

// whole scores the cells of a block.
func (m *metric) whole(ctx context.Context, cells []metrics.Block, native bool) (out metrics.Scores, err error) {
	scores, err := m.score(ctx, cells, native, 1)
	if err != nil {
		return out, err
	}
	out.Reports = make([]*analysis.Report, len(cells))
	for i, s := range scores {
		out.Values, out.Status = append(out.Values, s.Values...), append(out.Status, s.Status...)
		copy(out.Reports[i:], s.Reports)
	}
	return out, nil
}
