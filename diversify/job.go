package diversify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
)

// job is one segment on its way through the steps.
type job struct {
	seg  *refract.Segment
	asks []ask // in the order of the variants

	expanded, missing, empty int // originals

	absent []int         // asks that the store lacked when it was looked up
	looked chan struct{} // closed once the store was looked up
	left   atomic.Int64  // absent asks without an answer
	done   chan struct{} // closed once every ask has its answer
}

// ask is a request, and its answer.
type ask struct {
	reference, prompt, sample int
	request                   cache.Request
	key                       cache.Key
	answer                    answer
}

func newJob(seg *refract.Segment) *job {
	return &job{seg: seg, looked: make(chan struct{}), done: make(chan struct{})}
}

// plan writes down the requests of a job.
func (x *Expander) plan(j *job) error {
	j.asks = make([]ask, 0, len(j.seg.References)*len(x.cfg.Prompts)*x.cfg.Samples)
	for r, ref := range j.seg.References {
		switch {
		case !ref.Valid:
			j.missing++
			continue
		case strings.TrimSpace(ref.Value) == "":
			j.empty++
			continue
		case !utf8.ValidString(ref.Value):
			return j.fail(&ask{reference: r}, "", errors.New("it is not valid UTF-8, and would reach the model changed"))
		}
		j.expanded++
		for p := range x.cfg.Prompts {
			prompt := x.cfg.Prompts[p].For(ref.Value)
			for s := range x.cfg.Samples {
				request := cache.Request{
					Kind: kind(x.cfg.Endpoint), Model: x.cfg.Model, Prompt: prompt, Params: x.params, Sample: s,
				}
				j.asks = append(j.asks, ask{reference: r, prompt: p, sample: s, request: request, key: request.Key()})
			}
		}
	}
	return nil
}

// lookUp plans a job and asks the store for each answer.
func (x *Expander) lookUp(ctx context.Context, j *job, t *tally) error {
	if err := x.plan(j); err != nil {
		return err
	}
	for i := range j.asks {
		a := &j.asks[i]
		e, ok, err := x.cfg.Store.Get(ctx, a.key)
		if err != nil {
			return x.fail(j, a, err)
		}
		if ok {
			a.answer = newAnswer(e)
		} else {
			j.absent = append(j.absent, i)
		}
	}
	t.update(func(p *Progress) {
		absent := j.absent
		for i := range j.asks {
			if len(absent) > 0 && absent[0] == i {
				absent = absent[1:]
				continue
			}
			p.add(j.asks[i].answer, false)
		}
	})
	j.left.Store(int64(len(j.absent)))
	if len(j.absent) == 0 {
		close(j.done)
	}
	close(j.looked)
	return nil
}

// call asks the model for what the store lacked. It returns once the last
// call has begun; each call ends as a goroutine of g, and the last one closes
// j.done.
func (x *Expander) call(ctx context.Context, g *errgroup.Group, j *job, t *tally) error {
	for _, i := range j.absent {
		a := &j.asks[i]
		if x.cfg.Client == nil {
			return x.fail(j, a, fmt.Errorf("%w (model %q at the %s endpoint, %s)", ErrNotStored, x.cfg.Model, x.cfg.Endpoint, x.params))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		select {
		case x.slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		g.Go(func() error {
			f, err := x.join(ctx, a.request, a.key)
			if err != nil {
				return err
			}
			first := f.told.CompareAndSwap(false, true)
			if f.err != nil {
				if first && f.called {
					t.update(func(p *Progress) { p.Failed++ })
				}
				return x.fail(j, a, f.err)
			}
			a.answer = f.answer
			t.update(func(p *Progress) { p.add(a.answer, first && f.called) })
			if j.left.Add(-1) == 0 {
				close(j.done)
			}
			return nil
		})
	}
	return nil
}

// result returns the segment with its variants. The one that was read stays
// as it is.
func (x *Expander) result(j *job) *refract.Segment {
	out := *j.seg
	out.Variants = slices.Grow(slices.Clip(out.Variants), len(j.asks))
	for _, a := range j.asks {
		out.Variants = append(out.Variants, refract.Variant{
			Reference: a.reference,
			Prompt:    x.cfg.Prompts[a.prompt].Name,
			Sample:    a.sample,
			Model:     x.cfg.Model,
			Text:      a.answer.text,
			Finish:    a.answer.finish,
		})
	}
	return &out
}

func (x *Expander) fail(j *job, a *ask, err error) error {
	return j.fail(a, x.cfg.Prompts[a.prompt].Name, err)
}

func (j *job) fail(a *ask, prompt string, err error) error {
	return &Error{Pos: j.seg.Pos, Segment: j.seg.ID, Reference: a.reference, Prompt: prompt, Sample: a.sample, Err: err}
}
