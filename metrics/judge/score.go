package judge

import (
	"context"
	"errors"
	"fmt"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/guard"
)

// Score implements metrics.Metric.
func (j *Judge) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return j.ScoreNeeded(ctx, blocks, metrics.Need{})
}

// ScoreNeeded implements metrics.Selective. Calls go out by segment, then by
// reference, then by system: prompts that begin alike stand next to each other,
// for servers that keep what they have computed for a prefix.
func (j *Judge) ScoreNeeded(ctx context.Context, blocks []metrics.Block, need metrics.Need) ([]metrics.Scores, error) {
	s := newScoring(j, blocks)
	if need.Stop == nil {
		var all []*task
		for b := range blocks {
			columns := s.blocks[b].Columns()
			if need.FirstOnly {
				columns = 1
			}
			for c := range columns {
				for h := range s.blocks[b].Hypotheses {
					all = append(all, s.task(b, h, c))
				}
			}
		}
		return s.scores, s.run(ctx, all)
	}
	return s.scores, s.untilStop(ctx, need)
}

// untilStop goes through the columns in the order of the need, with the rows
// that have not reached the bound.
func (s *scoring) untilStop(ctx context.Context, need metrics.Need) error {
	open := make([][]bool, len(s.blocks))
	orders := make([][]int, len(s.blocks))
	for b := range s.blocks {
		open[b] = make([]bool, len(s.blocks[b].Hypotheses))
		for h := range open[b] {
			open[b][h] = true
		}
		orders[b] = need.Order(b, s.blocks[b].Columns())
	}
	for k := 0; ; k++ {
		var next []*task
		for b := range s.blocks {
			if k >= len(orders[b]) {
				continue
			}
			for h := range open[b] {
				if k > 0 {
					last := h*s.blocks[b].Columns() + orders[b][k-1]
					if s.scores[b].Status[last] == metrics.Scored && s.scores[b].Values[last] == *need.Stop {
						open[b][h] = false
					}
				}
				if open[b][h] {
					next = append(next, s.task(b, h, orders[b][k]))
				}
			}
		}
		if len(next) == 0 {
			return nil
		}
		if err := s.run(ctx, next); err != nil {
			return err
		}
	}
}

// scoring is one call of Score.
type scoring struct {
	j      *Judge
	blocks []metrics.Block
	flags  [][][]string // of each hypothesis
	scores []metrics.Scores
}

func newScoring(j *Judge, blocks []metrics.Block) *scoring {
	s := &scoring{j: j, blocks: blocks, flags: make([][][]string, len(blocks)), scores: make([]metrics.Scores, len(blocks))}
	for b, block := range blocks {
		s.flags[b] = guard.FlagAll(block.Hypotheses)
		n := len(block.Hypotheses) * block.Columns()
		s.scores[b] = metrics.Scores{
			Values: make([]float64, n), Status: make([]metrics.Status, n), Reports: make([]*analysis.Report, n),
		}
		for i := range n {
			s.scores[b].Status[i] = metrics.Unneeded
		}
	}
	return s
}

// run answers tasks, and the further ones that follow from their answers.
func (s *scoring) run(ctx context.Context, tasks []*task) error {
	for len(tasks) > 0 {
		if err := s.ask(ctx, tasks); err != nil {
			return err
		}
		var next []*task
		for _, t := range tasks {
			report, again := s.j.settle(t)
			if again != nil {
				if err := s.j.prepare(again); err != nil {
					return s.at(t, err)
				}
				next = append(next, again)
				continue
			}
			if err := s.place(t, report); err != nil {
				return s.at(t, err)
			}
		}
		tasks = next
	}
	return nil
}

// place puts a report into its cell.
func (s *scoring) place(t *task, r *analysis.Report) error {
	block := &s.blocks[t.block]
	texts := analysis.Texts{
		Hypothesis: t.fields.Hypothesis, Source: t.fields.Source, HasSource: s.j.info.NeedsSource,
		Reference: t.fields.Reference, HasReference: s.j.info.NeedsReferences,
	}
	r.Locate(texts)
	r.Check(texts, s.j.rules)
	r.Flags = append(r.Flags, s.flags[t.block][t.hypothesis]...)
	if t.promptCut() {
		r.Flags = append(r.Flags, FlagPromptCut)
	}
	i := t.hypothesis*block.Columns() + t.column
	out := &s.scores[t.block]
	out.Reports[i] = r
	if r.Outcome.HasScore() {
		out.Values[i], out.Status[i] = r.Score, metrics.Scored
		return nil
	}
	if v, ok := s.j.cfg.Policy.counts(r.Outcome); ok {
		out.Values[i], out.Status[i] = v, metrics.Scored
		return nil
	}
	out.Status[i] = status(r.Outcome)
	if s.j.cfg.Policy.kind == fail {
		return fmt.Errorf("the answer of %s has no score (%s: %s), and none is to be left out", s.j.cfg.Model, r.Outcome, r.Detail)
	}
	return nil
}

// status is that of a cell whose report has no score.
func status(o analysis.Outcome) metrics.Status {
	switch o {
	case analysis.Unparseable:
		return metrics.Unparseable
	case analysis.Blocked:
		return metrics.Blocked
	case analysis.Cut:
		return metrics.Cut
	}
	return metrics.Failed
}

// at says at which cell an error occurred.
func (s *scoring) at(t *task, err error) error {
	if errors.As(err, new(*metrics.CellError)) {
		return err
	}
	return &metrics.CellError{Block: t.block, Hypothesis: t.hypothesis, Column: t.column, Err: err}
}
