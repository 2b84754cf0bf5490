package judge

import (
	"context"
	"sync/atomic"

	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
)

// forecast finds out what a Judge would ask for to score every cell. It does not predict
// new samples and repeats of truncated answers.
type forecast struct {
	*Judge
	planner *ask.Planner
	cells   atomic.Int64
}

// Foresee implements metrics.Foreseeing.
func (j *Judge) Foresee() metrics.Forecast {
	return &forecast{Judge: j, planner: j.cfg.asker.Plan(nil)}
}

// Outlook implements metrics.Forecast.
func (f *forecast) Outlook() metrics.Outlook {
	o := f.planner.Outlook()
	return metrics.Outlook{
		Model: f.cfg.model, Cells: int(f.cells.Load()), Stored: o.Stored, Calls: o.Needed, Equal: o.Equal,
		PromptTokens: o.PromptTokens, MostCompletionTokens: o.MostCompletionTokens,
	}
}

// Score makes no call. All cells are Unneeded.
func (f *forecast) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	s := newScoring(f.Judge, blocks)
	cells := s.all()
	f.cells.Add(int64(len(cells) / f.cfg.samples))
	return s.scores, f.planner.Add(ctx, func(yield func(ask.Job, error) bool) {
		for _, t := range cells {
			if !yield(&conversation{scoring: s, task: t}, nil) {
				return
			}
		}
	})
}

// conversation is the [ask.Job] of one cell: its turns.
type conversation struct {
	*scoring
	task *task
}

func (c *conversation) Next(results []ask.Result) ([]ask.Question, error) {
	if results != nil {
		a := results[0].Answer
		if c.task.question.Follow == 0 || !a.HasText {
			return nil, nil
		}
		c.task = c.task.next(a.Text)
	}
	if err := c.j.prepare(c.task); err != nil {
		return nil, c.cellError(c.task, err)
	}
	return []ask.Question{c.task.question}, nil
}

func (c *conversation) Answered(int, ask.Result) {}

func (c *conversation) At(_ int, err error) error { return c.cellError(c.task, err) }
