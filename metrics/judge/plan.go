package judge

import (
	"context"
	"sync/atomic"

	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
)

// forecast finds out what a Judge would ask for to score every cell, as far as stored answers tell:
// it predicts no new samples and repeats that answers not stored yet may need.
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
	s.observe = nil
	f.cells.Add(int64(len(s.next) / f.cfg.samples))
	return unneeded(blocks), f.planner.Add(ctx, func(yield func(ask.Job, error) bool) {
		for i := range s.next {
			cell := *s
			if cell.next = s.next[i : i+1]; !yield(&cell, nil) {
				return
			}
		}
	})
}
