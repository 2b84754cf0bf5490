package diversify

import (
	"context"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/llm/ask"
)

// Outlook is what a run would do, as far as can be told from the store.
type Outlook struct {
	ask.Outlook
	Segments   int
	References int // originals that would be expanded
	Textless   int // originals that are missing or blank and would not be expanded

	// Calls of the judge, which are part of the totals. If answers are not stored yet, it
	// is assumed to be asked about as many as are wanted.
	JudgeCalls, JudgePromptTokens, JudgeCompletionTokens int
}

// Plan finds out what Expand would ask for, without asking. It calls need once with every
// request of the next round whose answer is not stored; if need is nil, it only counts.
// When Plan finds no more requests, Expand needs no call.
func (e *Expander) Plan(ctx context.Context, ds refract.Dataset, need func(ask.Question) error) (Outlook, error) {
	var out Outlook
	var more ask.Outlook // calls of the judge about answers not known yet
	p := e.asker.Plan(func(q ask.Question) error {
		if e.judge != nil && e.judge.asks(&q) {
			out.JudgeCalls++
			out.JudgePromptTokens += q.Wire.PromptTokens()
			out.JudgeCompletionTokens += q.Expected
		}
		if need == nil {
			return nil
		}
		return need(q)
	})
	t := &tally{mu: &e.observing}
	if _, err := e.try(ctx, ds, &tally{mu: &e.observing}, e.planned(ctx)); err != nil {
		return out, err
	}
	err := p.Add(ctx, func(yield func(ask.Job, error) bool) {
		for seg, err := range ds.Segments(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			out.Segments++
			expanded := countReferences(seg)
			out.References += expanded
			out.Textless += len(seg.References) - expanded
			j := e.newJob(seg, t, out.Segments-1)
			if !yield(j, nil) {
				return
			}
			if e.judge != nil && len(j.round) > 0 && j.asks[j.from].items == nil {
				e.judge.foresee(j, &more)
			}
		}
	})
	out.Outlook = p.Outlook()
	out.Needed += more.Needed
	out.PromptTokens += more.PromptTokens
	out.CompletionTokens += more.CompletionTokens
	out.MostCompletionTokens += more.MostCompletionTokens
	out.JudgeCalls += more.Needed
	out.JudgePromptTokens += more.PromptTokens
	out.JudgeCompletionTokens += more.CompletionTokens
	return out, err
}
