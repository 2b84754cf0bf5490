package diversify

import (
	"context"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/llm/ask"
)

// Outlook is what a run would do, as far as the store can tell.
type Outlook struct {
	ask.Outlook
	Segments   int
	References int // originals that would be expanded
	Textless   int // originals that are missing or blank, and would not be

	// Of the needed requests, those that ask the judge:
	JudgePromptTokens, JudgeCompletionTokens int
}

// Plan finds out what Expand would ask for, without asking. It calls need with
// every request of the next round whose answer the store lacks, each once; a
// nil need just counts. Expand needs no further call once the answers are
// stored and Plan finds nothing more.
func (x *Expander) Plan(ctx context.Context, ds refract.Dataset, need func(ask.Question) error) (Outlook, error) {
	var out Outlook
	p := x.asker.Plan(func(q ask.Question) error {
		if x.judge != nil && q.Request.Params == x.judge.params {
			out.JudgePromptTokens += q.Wire.PromptTokens()
			out.JudgeCompletionTokens += q.Expected
		}
		if need == nil {
			return nil
		}
		return need(q)
	})
	t := &tally{mu: &x.observing}
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
			if !yield(x.newJob(seg, t), nil) {
				return
			}
		}
	})
	out.Outlook = p.Outlook()
	return out, err
}
