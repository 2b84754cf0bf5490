package diversify

import (
	"context"
	"errors"
	"fmt"
	"iter"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm/ask"
)

// Expand expands all segments of a dataset and calls yield with each, in
// order and from the caller's goroutine. A yielded segment is a copy in which the new
// Variants and Rejected follow the old ones, ordered by reference, prompt and sample.
// Only originals are expanded, and of these only references with a text.
//
// Every answer becomes a variant with its Origin. Without Config.Check, its text is the
// answer without surrounding white space; a text with the finish reason "length" was
// cut, and a withheld or blank text is missing. With Config.Check, the text is the
// cleaned answer, and rejected answers become Rejected.
//
// The error comes from yield or from the dataset, is an [*Error] that says which
// request failed, or wraps ctx.Err(). Answers received before it are stored, and
// another call of Expand continues from there. Calls in flight when one fails may
// finish, and are then stored, too.
func (e *Expander) Expand(ctx context.Context, ds refract.Dataset, yield func(*refract.Segment) error) (Summary, error) {
	t := &tally{mu: &e.observing, observe: e.cfg.Observe}
	begun, err := e.try(ctx, ds, t, func(j ask.Job) error { return e.asker.Do(ctx, j) })
	if err != nil {
		return e.ended(ctx, t, err)
	}
	n := 0
	var recent []string // references of the last segments
	jobs := func(ctx context.Context) iter.Seq2[ask.Job, error] {
		return func(yield func(ask.Job, error) bool) {
			for seg, err := range ds.Segments(ctx) {
				j := e.newJob(seg, t, n)
				if n < len(begun) {
					j = begun[n]
				}
				if j.turn >= 0 {
					j.others = recent
				}
				if e.judge != nil && err == nil && len(seg.References) > 0 {
					recent = append(recent[max(0, len(recent)-49):], seg.References[0].Value)
				}
				if n++; !yield(j, err) {
					return
				}
			}
		}
	}
	err = e.asker.Stream(ctx, jobs, func(done ask.Job) error {
		j := done.(*job)
		out := e.result(j)
		expanded := *out // yield may change its segment
		if err := yield(out); err != nil {
			return err
		}
		t.update(func(p *Progress) { p.yielded(j, &expanded) })
		return nil
	})
	return e.ended(ctx, t, err)
}

// ended returns the summary of a run and why it ended.
func (e *Expander) ended(ctx context.Context, t *tally, err error) (Summary, error) {
	s := t.summary()
	if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
		err = fmt.Errorf("expansion interrupted after %s; the answers received are stored: %w", english.Count(s.Segments, "segment"), ended)
	}
	return s, err
}

// newJob creates the job for segment n.
func (e *Expander) newJob(seg *refract.Segment, t *tally, n int) *job {
	return &job{x: e, seg: seg, tally: t, turn: e.turn(n)}
}
