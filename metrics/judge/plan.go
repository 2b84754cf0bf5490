package judge

import (
	"context"
	"sync"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
)

// Outlook is what a judge would ask for, as far as its store can tell.
type Outlook struct {
	Cells  int // that would be scored
	Stored int // answers that the store has
	Needed int // calls, of all turns
	Equal  int // cells whose answer is needed for another one anyway
	// Estimates of the needed calls: the tokens of their prompts, and the most
	// that their answers can have.
	PromptTokens, MostCompletionTokens int
}

// Planner is a metric that finds out what a Judge would ask for to score every
// cell, and scores none. What early stopping, new samples and cut answers
// change is not part of it.
type Planner struct {
	*Judge
	mu   sync.Mutex
	seen map[cache.Key]struct{}
	out  Outlook
}

// Plan returns a planner for the judge.
func (j *Judge) Plan() *Planner { return &Planner{Judge: j, seen: map[cache.Key]struct{}{}} }

// Outlook is what was found so far.
func (p *Planner) Outlook() Outlook {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out
}

// Score makes no call. All cells are Unneeded.
func (p *Planner) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	s := newScoring(p.Judge, blocks)
	var tasks []*task
	for b := range blocks {
		for c := range blocks[b].Columns() {
			for h := range blocks[b].Hypotheses {
				tasks = append(tasks, s.task(b, h, c))
			}
		}
	}
	p.mu.Lock()
	p.out.Cells += len(tasks)
	p.mu.Unlock()
	for len(tasks) > 0 {
		next, err := p.look(ctx, s, tasks)
		if err != nil {
			return nil, err
		}
		tasks = next
	}
	return s.scores, nil
}

// ScoreNeeded is Score: what is not needed depends on scores.
func (p *Planner) ScoreNeeded(ctx context.Context, blocks []metrics.Block, _ metrics.Need) ([]metrics.Scores, error) {
	return p.Score(ctx, blocks)
}

// look counts the requests of tasks, and returns the further turns of those
// that the store has.
func (p *Planner) look(ctx context.Context, s *scoring, tasks []*task) (next []*task, err error) {
	keys := make([]cache.Key, len(tasks))
	for i, t := range tasks {
		if err := p.prepare(t); err != nil {
			return nil, s.at(t, err)
		}
		keys[i] = t.question.Key
	}
	answers, found, err := p.cfg.Asker.Look(ctx, keys)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	turns := max(1, p.cfg.Judge.Turns())
	for i, t := range tasks {
		if found[i] {
			p.out.Stored++
			if t.answer = answers[i]; t.answer.HasText && len(t.answers) < turns-1 {
				next = append(next, t.again(func(n *task) { n.answers = append(n.answers[:len(n.answers):len(n.answers)], t.answer.Text) }))
			}
			continue
		}
		if _, ok := p.seen[keys[i]]; ok {
			p.out.Equal++
			continue
		}
		p.seen[keys[i]] = struct{}{}
		wire := t.question.Wire
		tokens := llm.EstimateTokens(wire.Prompt)
		for _, m := range wire.Messages {
			tokens += llm.EstimateTokens(m.Content)
		}
		// A later turn repeats what was said, and the answer to it.
		for turn := len(t.answers); turn < turns; turn++ {
			p.out.Needed++
			p.out.PromptTokens += tokens
			p.out.MostCompletionTokens += wire.MaxTokens
			tokens += wire.MaxTokens
		}
	}
	return next, nil
}
