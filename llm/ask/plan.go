package ask

import (
	"context"
	"iter"
	"sync"

	"github.com/refract-eval/refract/cache"
)

// Outlook is what jobs would ask, as far as can be told from the store.
type Outlook struct {
	Stored int // answers in the store
	Needed int // distinct requests without a stored answer, and requests that are sure to follow
	Equal  int // further requests equal to a needed one

	// Estimates for the needed requests, by the length of their texts. They exclude rounds that
	// depend on answers not known yet.
	PromptTokens, CompletionTokens int
	// MostCompletionTokens is the maximum number of completion tokens.
	MostCompletionTokens int
}

// Planner finds out what jobs would ask, without asking. It is safe for concurrent use.
type Planner struct {
	asker *Asker
	need  func(Question) error

	mu   sync.Mutex
	seen map[cache.Key]bool
	out  Outlook
}

// Plan returns a planner without jobs. It calls need with every question of the jobs' next rounds
// whose answer is not stored, once for equal questions; if need is nil, it only counts. An error of
// need ends Add.
func (a *Asker) Plan(need func(Question) error) *Planner {
	a.refused.forget() // batches may have found more
	return &Planner{asker: a, need: need, seen: map[cache.Key]bool{}}
}

// Add runs jobs as far as stored answers allow.
func (p *Planner) Add(ctx context.Context, jobs iter.Seq2[Job, error]) error {
	for j, err := range jobs {
		if err != nil {
			return err
		}
		t := newTask(&counted{Job: j, p: p})
		_, err = p.asker.advance(ctx, t)
		if err != nil {
			return err
		}
		for _, i := range t.absent {
			if err := p.needed(t.questions[i], len(t.equal[i])); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// counted is a job that counts its stored answers for a planner.
type counted struct {
	Job
	p *Planner
}

func (c *counted) Answered(i int, r Result) {
	c.Job.Answered(i, r)
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	c.p.out.Stored++
}

func (p *Planner) needed(q Question, equal int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Equal += equal
	if p.seen[q.Key] {
		p.out.Equal++
		return nil
	}
	p.seen[q.Key] = true
	prompt := q.Wire.PromptTokens()
	for range 1 + q.Follow {
		p.out.Needed++
		p.out.PromptTokens += prompt
		p.out.CompletionTokens += min(q.Expected, q.Wire.MaxTokens)
		p.out.MostCompletionTokens += q.Wire.MaxTokens
		prompt += q.Wire.MaxTokens
	}
	if p.need == nil {
		return nil
	}
	return p.need(q)
}

// Outlook returns what was found so far.
func (p *Planner) Outlook() Outlook {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out
}
