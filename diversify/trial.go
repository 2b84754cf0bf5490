package diversify

import (
	"context"
	"fmt"
	"iter"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm/ask"
)

// trialSize is the number of first answers that FormAuto looks at: if more than half of them are
// JSON that cannot be read, it asks for text.
const trialSize = 20

// trial is the [ask.Job] of the first round of the first segments' jobs. What is found depends on
// the order of the requests only, and as all answers are stored, a later run finds the same.
type trial struct{ jobs []*job }

// Next implements ask.Job. The jobs go on from their results.
func (t *trial) Next(results []ask.Result) (all []ask.Question, err error) {
	for _, j := range t.jobs {
		if results == nil {
			all = append(all, j.round...)
			continue
		}
		n := len(j.round)
		j.tried, results = results[:n:n], results[n:]
	}
	return all, nil
}

// Answered implements ask.Job.
func (t *trial) Answered(i int, r ask.Result) {
	j, k := t.find(i)
	j.Answered(k, r)
}

// At implements ask.Job.
func (t *trial) At(i int, err error) error {
	j, k := t.find(i)
	return j.At(k, err)
}

// find returns the job of question i, and the question's index in it.
func (t *trial) find(i int) (*job, int) {
	n := 0
	for len(t.jobs[n].round) <= i {
		i -= len(t.jobs[n].round)
		n++
	}
	return t.jobs[n], i
}

// try asks the first round of the first segments, and changes to text if the answers cannot be read.
// do runs the trial. try returns the jobs that have begun.
func (e *Expander) try(ctx context.Context, ds refract.Dataset, t *tally, do func(ask.Job) error) ([]*job, error) {
	if e.cfg.Form != FormAuto || e.unread.Load() {
		return nil, nil
	}
	var first trial
	n := 0
	for seg, err := range ds.Segments(ctx) {
		if err != nil || n >= trialSize {
			break // the run reports the error
		}
		j := e.newJob(seg, t, len(first.jobs))
		if e.plan(j) != nil {
			break
		}
		n += len(j.round)
		first.jobs = append(first.jobs, j)
	}
	if err := do(&first); err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, nil
	}
	seen, unread, example := 0, 0, ""
	for _, j := range first.jobs {
		for _, r := range j.tried {
			if seen == trialSize || r.Err != nil || r.Other || classify(&r.Answer) != whole {
				continue
			}
			seen++
			if _, notOf := unwrap(e.forms[0].name, r.Answer); notOf != nil && notOf.Verdict == NotJSON {
				unread, example = unread+1, r.Answer.Text
			}
		}
	}
	if 2*unread > seen {
		e.choosing.Lock()
		e.chosen, e.asText = true, true
		e.choosing.Unlock()
		e.unread.Store(true)
		if e.cfg.FormFound != nil {
			e.cfg.FormFound(fmt.Errorf("%d of its first %s cannot be read as JSON, such as %.40q", unread, english.Count(seen, "answer"), example))
		}
	}
	return first.jobs, nil
}

// planned runs a trial as far as its answers are stored.
func (e *Expander) planned(ctx context.Context) func(ask.Job) error {
	return func(j ask.Job) error {
		return e.asker.Plan(nil).Add(ctx, iter.Seq2[ask.Job, error](func(yield func(ask.Job, error) bool) { yield(j, nil) }))
	}
}
