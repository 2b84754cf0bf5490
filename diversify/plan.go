package diversify

import (
	"cmp"
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
}

// Plan finds out what Expand would ask for, without asking. It calls need with
// every request of the next round whose answer the store lacks, each once; a
// nil need just counts. Expand needs no further call once the answers are
// stored and Plan finds nothing more.
func (x *Expander) Plan(ctx context.Context, ds refract.Dataset, need func(ask.Question) error) (Outlook, error) {
	var out Outlook
	p := x.asker.Plan(need)
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
			if !yield(x.newJob(seg, t), nil) {
				return
			}
		}
	})
	out.Outlook = p.Outlook()
	return out, err
}

// Total returns how many first answers Expand gives for a dataset, which it
// reads once.
func (x *Expander) Total(ctx context.Context, ds refract.Dataset) (int, error) {
	each, total := 0, 0
	for _, p := range x.cfg.Prompts {
		each += cmp.Or(p.Samples, x.cfg.Samples)
	}
	for seg, err := range ds.Segments(ctx) {
		if err != nil {
			return 0, err
		}
		expanded, _, _ := countReferences(seg)
		total += expanded * each
	}
	return total, nil
}
