package refract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// askedBlock is a block with what is known of its scores.
type askedBlock struct {
	block  metrics.Block
	scores metrics.Scores
	known  []bool
	native metrics.Scores
	have   []bool // whether a hypothesis has its native score; nil if none is needed
	lacks  bool   // some scores are missing because the metric failed

	stored *storedBlock // nil without a store
}

func (s *scorer) newAsked(b metrics.Block) askedBlock {
	n := len(b.Hypotheses) * b.Columns()
	x := askedBlock{block: b, scores: newScores(n), known: make([]bool, n), native: newScores(len(b.Hypotheses))}
	if s.native {
		x.have = make([]bool, len(b.Hypotheses))
	}
	return x
}

func newScores(n int) metrics.Scores {
	return metrics.Scores{Values: make([]float64, n), Status: make([]metrics.Status, n)}
}

// ask scores blocks: it reads stored scores, gets the others from the metric and stores
// them. Together with an error it returns the blocks if some of them have scores.
func (s *scorer) ask(ctx context.Context, blocks []metrics.Block) ([]askedBlock, error) {
	all := make([]askedBlock, len(blocks))
	for i, b := range blocks {
		all[i] = s.newAsked(b)
	}
	if s.cache != nil {
		if err := s.cache.read(ctx, all); err != nil {
			return nil, fmt.Errorf("the store of scores: %w", err)
		}
	}
	partly, err := s.askCells(ctx, all)
	if err != nil && !partly {
		return nil, err
	}
	if n, ok := s.metric.(metrics.NativeScorer); ok && s.native && !partly {
		if err := askNative(ctx, n, all); err != nil {
			return nil, err
		}
	}
	if s.cache != nil {
		if no := s.cache.write(context.WithoutCancel(ctx), all); no != nil { // what was scored is kept, even if the run has ended
			return nil, errors.Join(err, fmt.Errorf("the store of scores: %w", no))
		}
	}
	return all, err
}

// request is a part of a block for the metric to score: some hypotheses against the
// same references.
type request struct {
	of         *askedBlock
	block      int
	hyps, cols []int
}

// missing returns requests for the scores that a block lacks in its first columns.
func (a *askedBlock) missing(block, first int) []request {
	var out []request
	columns := a.block.Columns()
	for h := range a.block.Hypotheses {
		var cols []int
		for c := range min(columns, first) {
			if !a.known[h*columns+c] {
				cols = append(cols, c)
			}
		}
		if len(cols) == 0 {
			continue
		}
		i := slices.IndexFunc(out, func(r request) bool { return slices.Equal(r.cols, cols) })
		if i < 0 {
			i = len(out)
			out = append(out, request{of: a, block: block, cols: cols})
		}
		out[i].hyps = append(out[i].hyps, h)
	}
	return out
}

func (r *request) texts() metrics.Block {
	b := metrics.Block{Source: r.of.block.Source}
	for _, h := range r.hyps {
		b.Hypotheses = append(b.Hypotheses, r.of.block.Hypotheses[h])
	}
	for _, c := range r.cols {
		if len(r.of.block.References) > 0 {
			b.References = append(b.References, r.of.block.References[c])
		}
	}
	return b
}

// askCells gets the missing scores from the metric. partly reports that an error concerns
// only some of the blocks.
func (s *scorer) askCells(ctx context.Context, all []askedBlock) (partly bool, err error) {
	var todo []request
	var blocks []metrics.Block
	first := 1
	switch {
	case s.all:
		first = math.MaxInt
	case s.native && !s.first:
		first = 0
	}
	for i := range all {
		x := &all[i]
		for at := range x.known {
			if !x.known[at] && at%x.block.Columns() >= first {
				x.scores.Status[at] = metrics.Unneeded
			}
		}
		for _, r := range x.missing(i, first) {
			todo, blocks = append(todo, r), append(blocks, r.texts())
		}
	}
	if len(blocks) == 0 {
		return false, nil
	}
	scores, err := s.metric.Score(ctx, blocks)
	if at := (*metrics.CellError)(nil); errors.As(err, &at) {
		r := todo[at.Block]
		return false, &metrics.CellError{Block: r.block, Hypothesis: r.hyps[at.Hypothesis], Column: r.cols[min(at.Column, len(r.cols)-1)], Err: at.Err}
	}
	part := (*metrics.BlocksError)(nil)
	if partly = errors.As(err, &part); partly {
		scores, err = part.Scores, part.Err
	} else if err != nil {
		return false, err
	}
	if len(scores) != len(blocks) {
		return false, fmt.Errorf("%d matrices for %d blocks", len(scores), len(blocks))
	}
	for i := range todo {
		if partly && scores[i].Values == nil {
			todo[i].of.lacks = true
		} else if err := todo[i].fill(scores[i]); err != nil {
			return false, err
		}
	}
	return partly, err
}

// fill puts the scores of a request into its block.
func (r *request) fill(s metrics.Scores) error {
	n := len(r.hyps) * len(r.cols)
	if len(s.Values) != n || s.Status != nil && len(s.Status) != n || s.Reports != nil && len(s.Reports) != n {
		return fmt.Errorf("%d values, %d statuses and %d reports for %d cells", len(s.Values), len(s.Status), len(s.Reports), n)
	}
	a := r.of
	for i, h := range r.hyps {
		for j, c := range r.cols {
			from, at := i*len(r.cols)+j, h*a.block.Columns()+c
			cell := keptCell{value: s.Values[from]}
			if s.Status != nil {
				cell.status = s.Status[from]
			}
			a.scores.Values[at], a.scores.Status[at] = cell.value, cell.status
			if s.Reports != nil && s.Reports[from] != nil {
				setReport(&a.scores, at, s.Reports[from])
			}
			if a.stored == nil {
				continue
			}
			if s.Reports != nil && s.Reports[from] != nil {
				var err error
				if cell.report, err = json.Marshal(s.Reports[from]); err != nil {
					return err
				}
			}
			cell.of = a.stored.refs[c]
			a.stored.keep(h, cell)
		}
	}
	return nil
}

func setReport(s *metrics.Scores, at int, r *analysis.Report) {
	if s.Reports == nil {
		s.Reports = make([]*analysis.Report, len(s.Values))
	}
	s.Reports[at] = r
}

// askNative gets the native scores of the blocks that lack some.
func askNative(ctx context.Context, m metrics.NativeScorer, all []askedBlock) error {
	var todo []*askedBlock
	var blocks []metrics.Block
	for i := range all {
		if x := &all[i]; slices.Contains(x.have, false) {
			todo, blocks = append(todo, x), append(blocks, x.block)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	scores, err := m.ScoreNative(ctx, blocks)
	if err == nil && len(scores) != len(blocks) {
		err = fmt.Errorf("%d lists of native scores for %d blocks", len(scores), len(blocks))
	}
	for i := 0; err == nil && i < len(todo); i++ {
		err = todo[i].fillNative(scores[i])
	}
	return err
}

// fillNative puts native scores into their block.
func (a *askedBlock) fillNative(s metrics.Scores) error {
	if n := len(a.have); len(s.Values) != n || s.Status != nil && len(s.Status) != n {
		return fmt.Errorf("%d native scores for %d hypotheses", len(s.Values), n)
	}
	for h, v := range s.Values {
		cell := keptCell{value: v}
		if s.Status != nil {
			cell.status = s.Status[h]
		}
		a.native.Values[h], a.native.Status[h] = v, cell.status
		if a.stored != nil {
			cell.of = a.stored.list
			a.stored.keep(h, cell)
		}
	}
	return nil
}
