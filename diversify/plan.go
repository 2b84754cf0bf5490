package diversify

import (
	"context"
	"math"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/llm/ask"
)

// Outlook is what a run would do, as far as the store can tell.
type Outlook struct {
	ask.Outlook
	Segments          int
	References        int // originals that would be expanded
	MissingReferences int
	EmptyReferences   int

	// What will follow from the needed requests by their answers, estimated from
	// the stored ones where FollowMeasured: answers that are asked for in place of
	// rejected ones, and questions to the judge.
	Again, Judged  int
	FollowMeasured bool
	// Answers and Questions to the judge are what is needed and what follows.
	Answers, Questions Load
	// MostAnswers and MostQuestions bound what the segments that need a call can
	// take in all, stored answers of theirs too: every answer is rejected or cut,
	// as often as it may be, and as long as it may be.
	MostAnswers, MostQuestions Load
	// MostOfOne bounds one answer that is asked for beside those, as in place of a
	// variant that an audit rejects.
	MostOfOne Load
	// Done counts the segments that nothing is needed for, and Accepted is how
	// many variants they have on average.
	Done     int
	Accepted float64
}

// Load is a number of calls, and their tokens.
type Load struct{ Calls, PromptTokens, CompletionTokens int }

// Plus adds a multiple of another load.
func (l Load) Plus(m Load, times float64) Load {
	add := func(a, b int) int { return a + int(math.Round(float64(b)*times)) }
	return Load{add(l.Calls, m.Calls), add(l.PromptTokens, m.PromptTokens), add(l.CompletionTokens, m.CompletionTokens)}
}

// Plan finds out what Expand would ask for, without asking. It calls need with
// every request of the next round whose answer the store lacks, each once; a
// nil need just counts. Expand needs no further call once the answers are
// stored and Plan finds nothing more. Config.Vectors are asked for.
func (x *Expander) Plan(ctx context.Context, ds refract.Dataset, need func(ask.Question) error) (Outlook, error) {
	var out Outlook
	var questions Load
	p := x.asker.Plan(func(q ask.Question) error {
		if x.judge != nil && q.Request.Params == x.judge.params {
			questions = questions.Plus(Load{1, q.Wire.PromptTokens(), q.Expected}, 1)
		}
		if need == nil {
			return nil
		}
		return need(q)
	})
	t := newTally(x, nil)
	t.foresees = true
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
			if !yield(x.newJob(ctx, seg, t), nil) {
				return
			}
		}
	})
	out.Outlook = p.Outlook()
	t.course.foresee(&x.cfg, &out, questions)
	return out, err
}

// MostQuestions returns how many questions Expand asks the judge of equivalence
// about a dataset at most, and the tokens of one: on average, if variants are
// as long as their references, and of the longest answer. It reads the dataset
// once.
func (x *Expander) MostQuestions(ctx context.Context, ds refract.Dataset) (n, prompt, answer int, err error) {
	each := 0
	for p := range x.cfg.Prompts {
		each += x.samples(p)
	}
	if x.cfg.Temperature > 0 {
		each *= 1 + x.cfg.Resample
	}
	references := 0
	for seg, err := range ds.Segments(ctx) {
		if err != nil {
			return 0, 0, 0, err
		}
		more, each := x.cfg.Complete*x.cfg.Rounds, each // more for any reference of the segment
		if x.goesOn(seg) {
			more, each = max(0, x.cfg.Complete-selection.Usable(selection.TakeBack(seg, x.cfg.Complete)))*x.cfg.Rounds, 0
		}
		for _, ref := range seg.References {
			if stateOf(ref) == present {
				n += each + more
				more = 0
				references++
				prompt += x.judge.question(ref.Value, ref.Value).Wire.PromptTokens()
			}
		}
	}
	if x.judge.From > 1 {
		n = 0
	}
	return n, prompt / max(1, references), x.judge.MaxTokens, nil
}
