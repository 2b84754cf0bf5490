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

// askedBlock is a block with what is known of its scores: of its cells, row-major, and, if
// native scores are needed, of one more column after them.
type askedBlock struct {
	block  metrics.Block
	scores metrics.Scores
	known  []bool
	lacks  bool // some scores are missing because the metric failed

	stored *storedBlock // nil without a store
}

func (s *scorer) newAsked(b metrics.Block) askedBlock {
	n := len(b.Hypotheses) * b.Columns()
	if s.native {
		n += len(b.Hypotheses)
	}
	return askedBlock{block: b, scores: metrics.Scores{Values: make([]float64, n), Status: make([]metrics.Status, n)}, known: make([]bool, n)}
}

// at returns the position of a cell. The column after the last one has native scores.
func (a *askedBlock) at(hypothesis, column int) int {
	if n := a.block.Columns(); column < n {
		return hypothesis*n + column
	}
	return len(a.block.Hypotheses)*column + hypothesis
}

// part returns the cells, or the native scores.
func (a *askedBlock) part(native bool) metrics.Scores {
	from, to := 0, a.at(0, a.block.Columns())
	if native {
		from, to = to, len(a.known)
	}
	out := metrics.Scores{Values: a.scores.Values[from:to], Status: a.scores.Status[from:to]}
	if a.scores.Reports != nil {
		out.Reports = a.scores.Reports[from:to]
	}
	return out
}

// leaveOut marks the cells from a column on that are not known: no setting needs them.
func (a *askedBlock) leaveOut(first int) {
	columns := a.block.Columns()
	for at := range a.at(0, columns) {
		if !a.known[at] && at%columns >= first {
			a.scores.Status[at] = metrics.Unneeded
		}
	}
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
	first := 1
	switch {
	case s.all:
		first = math.MaxInt
	case s.native && !s.first:
		first = 0
	}
	for i := range all {
		all[i].leaveOut(first)
	}
	partly, err := ask(ctx, missing(all, first, false), s.metric.Score)
	if n, ok := s.metric.(metrics.NativeScorer); ok && s.native && err == nil {
		partly, err = ask(ctx, missing(all, first, true), n.ScoreNative)
	}
	if err != nil && !partly {
		return nil, err
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

// missing returns requests for the scores that blocks lack: those of their first columns, or
// the native ones.
func missing(all []askedBlock, first int, native bool) (out []request) {
	for i := range all {
		a, begin := &all[i], len(out)
		columns := a.block.Columns()
		from, to := 0, min(first, columns)
		if native {
			from, to = columns, columns+1
		}
		for h := range a.block.Hypotheses {
			var cols []int
			for c := from; c < to; c++ {
				if !a.known[a.at(h, c)] {
					cols = append(cols, c)
				}
			}
			if len(cols) == 0 {
				continue
			}
			k := slices.IndexFunc(out[begin:], func(r request) bool { return slices.Equal(r.cols, cols) }) + begin
			if k < begin {
				k = len(out)
				out = append(out, request{of: a, block: i, cols: cols})
			}
			out[k].hyps = append(out[k].hyps, h)
		}
	}
	return out
}

func (r *request) texts() metrics.Block {
	b := metrics.Block{Source: r.of.block.Source}
	for _, h := range r.hyps {
		b.Hypotheses = append(b.Hypotheses, r.of.block.Hypotheses[h])
	}
	for _, c := range r.cols {
		if c == r.of.block.Columns() {
			b.References = r.of.block.References
		} else if len(r.of.block.References) > 0 {
			b.References = append(b.References, r.of.block.References[c])
		}
	}
	return b
}

// ask gets scores from the metric. partly reports that an error concerns only some of the
// blocks.
func ask(ctx context.Context, todo []request, score func(context.Context, []metrics.Block) ([]metrics.Scores, error)) (partly bool, err error) {
	if len(todo) == 0 {
		return false, nil
	}
	blocks := make([]metrics.Block, len(todo))
	for i := range todo {
		blocks[i] = todo[i].texts()
	}
	scores, err := score(ctx, blocks)
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
			from, at := i*len(r.cols)+j, a.at(h, c)
			cell := keptCell{value: s.Values[from]}
			if s.Status != nil {
				cell.status = s.Status[from]
			}
			a.scores.Values[at], a.scores.Status[at] = cell.value, cell.status
			if s.Reports != nil && s.Reports[from] != nil {
				setReport(&a.scores, at, s.Reports[from])
				if a.stored != nil {
					var err error
					if cell.report, err = json.Marshal(s.Reports[from]); err != nil {
						return err
					}
				}
			}
			if a.stored != nil {
				cell.of = a.stored.refs[c]
				a.stored.keep(h, cell)
			}
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
