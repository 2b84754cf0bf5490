package diversify

import (
	"context"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/llm/ask"
)

// Outlook is what a run would do, as far as the store can tell.
type Outlook struct {
	ask.Outlook
	Segments          int
	References        int // originals that would be expanded
	MissingReferences int
	EmptyReferences   int

	// Questions are the needed requests that ask the judge.
	Questions Load
	// Most and MostQuestions bound what the segments that need a call can take,
	// stored answers of theirs too: every answer is rejected or cut as often, and as
	// long, as it may be.
	Most, MostQuestions Load
}

// Load is a number of calls, and their tokens.
type Load struct{ Calls, PromptTokens, CompletionTokens int }

// add adds another load n times.
func (l *Load) add(m Load, n int) {
	l.Calls += n * m.Calls
	l.PromptTokens += n * m.PromptTokens
	l.CompletionTokens += n * m.CompletionTokens
}

// Plan finds out what Expand would ask for, without asking. It calls need with
// every request of the next round whose answer the store lacks, each once; a
// nil need just counts. Expand needs no further call once the answers are
// stored and Plan finds nothing more.
func (x *Expander) Plan(ctx context.Context, ds refract.Dataset, need func(ask.Question) error) (Outlook, error) {
	var out Outlook
	p := x.asker.Plan(func(q ask.Question) error {
		if x.judge != nil && q.Request.Params == x.judge.params {
			out.Questions.add(Load{1, q.Wire.PromptTokens(), q.Expected}, 1)
		}
		if need == nil {
			return nil
		}
		return need(q)
	})
	t := newTally(x, nil)
	err := p.Add(ctx, func(yield func(ask.Job, error) bool) {
		for seg, err := range ds.Segments(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			expanded, missing, empty := countReferences(seg)
			out.Segments++
			out.References += expanded
			out.MissingReferences += missing
			out.EmptyReferences += empty
			if !yield(&planned{job: x.newJob(seg, t)}, nil) {
				return
			}
		}
	})
	out.Outlook, out.Most, out.MostQuestions = p.Outlook(), t.most, t.mostQuestions
	return out, err
}

// planned is a job whose bounds count until nothing more is asked for it.
type planned struct {
	*job
	most, mostQuestions Load
}

// Next implements [ask.Job].
func (p *planned) Next(results []ask.Result) ([]ask.Question, error) {
	round, err := p.job.Next(results)
	if err != nil || results != nil && len(round) > 0 {
		return round, err
	}
	times := -1
	if results == nil {
		p.bound(&p.most, &p.mostQuestions)
		times = 1
	}
	p.tally.mu.Lock()
	defer p.tally.mu.Unlock()
	p.tally.most.add(p.most, times)
	p.tally.mostQuestions.add(p.mostQuestions, times)
	return round, nil
}

// bound adds the most that a job can ask for, by its first round.
func (j *job) bound(answers, questions *Load) {
	cfg := &j.x.cfg
	rooms := 0
	for room := range cfg.Enlarge + 1 {
		rooms += j.x.room(room)
	}
	times, further := 1, 0
	if cfg.Temperature > 0 {
		if j.rounds == 0 { // a first expansion
			times += cfg.Resample
		}
		further = max(0, cfg.Complete-j.accepted()) * (cfg.Rounds - j.rounds)
	}
	var longest Load
	for i, q := range j.round {
		prompt := q.Wire.PromptTokens()
		if q.Other != nil {
			prompt = max(prompt, q.Other.Wire.PromptTokens())
		}
		each := Load{1 + cfg.Enlarge, prompt * (1 + cfg.Enlarge), rooms}
		answers.add(each, times)
		if each.PromptTokens > longest.PromptTokens {
			longest = each
		}
		if j.x.judge == nil {
			continue
		}
		n := times
		if i == len(j.round)-1 {
			n += further
		}
		reference := j.seg.References[j.cells[j.asks[i].cell].reference].Value
		asks := j.x.judge.question(reference, "").Wire.PromptTokens() + j.x.room(cfg.Enlarge)
		questions.add(Load{1, asks, j.x.judge.MaxTokens}, n)
	}
	answers.add(longest, further)
}
