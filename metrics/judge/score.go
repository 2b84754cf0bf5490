package judge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/refract-eval/refract/internal/guard"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Score implements metrics.Metric. Calls are ordered by segment, then reference, then
// system, so that prompts with the same beginning are adjacent, for servers that cache
// prefixes.
func (j *Judge) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	s := newScoring(j, blocks)
	return s.scores, j.cfg.asker.Do(ctx, s)
}

// scoring is one call of Score, as an [ask.Job].
type scoring struct {
	j       *Judge
	blocks  []metrics.Block
	flags   [][][]string // of each hypothesis
	scores  []metrics.Scores
	observe func(ask.Result)
	round   []*task
	next    []*task // to ask first
}

func newScoring(j *Judge, blocks []metrics.Block) *scoring {
	s := &scoring{j: j, blocks: blocks, flags: make([][][]string, len(blocks)), scores: unneeded(blocks), observe: j.cfg.observe}
	for b, block := range blocks {
		for _, text := range block.Hypotheses {
			s.flags[b] = append(s.flags[b], guard.Flags(text))
		}
	}
	s.next = s.all()
	return s
}

// unneeded returns scores of which none is there.
func unneeded(blocks []metrics.Block) []metrics.Scores {
	scores := make([]metrics.Scores, len(blocks))
	for b, block := range blocks {
		n := len(block.Hypotheses) * block.Columns()
		scores[b] = metrics.Scores{
			Values: make([]float64, n), Status: slices.Repeat([]metrics.Status{metrics.Unneeded}, n), Reports: make([]*analysis.Report, n),
		}
	}
	return scores
}

// Next implements ask.Job: it puts reports into their cells and returns the follow-up
// questions, or else the next cells.
func (s *scoring) Next(results []ask.Result) ([]ask.Question, error) {
	next := s.next
	s.next = nil
	for i, t := range s.round {
		t.answer, t.err = results[i].Answer, results[i].Err
		report, again := s.j.readAnswer(t)
		if again != nil {
			next = append(next, again)
		} else if err := s.take(t, report); err != nil {
			return nil, s.cellError(t, err)
		}
	}
	s.round = next
	questions := make([]ask.Question, len(next))
	for i, t := range next {
		if err := s.j.prepare(t); err != nil {
			return nil, s.cellError(t, err)
		}
		questions[i] = t.question
	}
	return questions, nil
}

// all returns the tasks of all cells in the order of calls.
func (s *scoring) all() (all []*task) {
	for b := range s.blocks {
		columns := s.blocks[b].Columns()
		for c := range columns {
			for h := range s.blocks[b].Hypotheses {
				all = append(all, s.tasks(b, h, c)...)
			}
		}
	}
	return all
}

// Answered implements ask.Job.
func (s *scoring) Answered(_ int, r ask.Result) {
	if s.observe != nil {
		s.observe(r)
	}
}

// At implements ask.Job.
func (s *scoring) At(i int, err error) error { return s.cellError(s.round[i], err) }

// take checks a report. With the last report of a cell, it combines all of them.
func (s *scoring) take(t *task, r *analysis.Report) error {
	texts := analysis.Texts{Hypothesis: t.fields.Hypothesis}
	if s.j.info.NeedsSource {
		texts.Source = t.fields.Source
	}
	if s.j.info.NeedsReferences {
		texts.Reference = t.fields.Reference
	}
	r.Locate(texts)
	r.Check(texts, s.j.rules)
	if t.promptCut() {
		r.Flags = append(r.Flags, analysis.FlagPromptCut)
	}
	t.cell.reports[t.draw] = r
	if t.cell.left--; t.cell.left > 0 {
		return nil
	}
	if len(t.cell.reports) > 1 {
		r = analysis.Combine(s.j.cfg.combine, t.cell.reports, (s.j.cfg.samples+1)/2, float64(s.j.info.Direction))
	}
	return s.place(t, r)
}

// place puts a report into its cell.
func (s *scoring) place(t *task, r *analysis.Report) error {
	block := &s.blocks[t.block]
	r.Flags = slices.Concat(s.flags[t.block][t.hypothesis], r.Flags)
	i := t.hypothesis*block.Columns() + t.column
	out := &s.scores[t.block]
	out.Reports[i] = r
	v, scored := s.j.cfg.policy.Counts(r.Outcome)
	if r.Outcome.HasScore() {
		v, scored = *r.Score, true
	}
	if scored {
		out.Values[i], out.Status[i] = v, metrics.Scored
		return nil
	}
	out.Status[i] = statuses[r.Outcome]
	if s.j.cfg.policy.Fails() {
		return fmt.Errorf("the answer of %s has no score (%s: %s), and unparseable=fail makes that an error", s.j.cfg.model, r.Outcome, r.Detail)
	}
	return nil
}

// statuses maps the outcomes of reports without a score to the status of their cell.
var statuses = map[analysis.Outcome]metrics.Status{
	analysis.Unparseable: metrics.Unparseable, analysis.Blocked: metrics.Blocked, analysis.Cut: metrics.Cut, analysis.Missing: metrics.Failed,
}

// cellError adds the cell to an error.
func (s *scoring) cellError(t *task, err error) error {
	if errors.As(err, new(*metrics.CellError)) {
		return err
	}
	return &metrics.CellError{Block: t.block, Hypothesis: t.hypothesis, Column: t.column, Err: err}
}
