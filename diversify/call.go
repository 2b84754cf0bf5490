package diversify

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/refract-eval/refract/llm"
)

// run is one use of an Expander.
type run struct {
	caller context.Context // of the one who asked for it
	ctx    context.Context // ends with the run, with its reason as the cause
	end    context.CancelCauseFunc
	g      *errgroup.Group
	t      *tally
}

func newRun(caller context.Context, t *tally) *run {
	r := &run{caller: caller, t: t}
	r.ctx, r.end = context.WithCancelCause(caller)
	r.g, r.ctx = errgroup.WithContext(r.ctx)
	return r
}

// reason is why the run has ended early: the first failure, in place of the
// cancellations that followed from it.
func (r *run) reason(err error) error {
	if ended := r.caller.Err(); ended != nil && errors.Is(err, ended) {
		return err
	}
	if cause := context.Cause(r.ctx); cause != nil && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}

// call asks the model for what the store lacks, once that is claimed. It
// returns once the last call of the round has begun, but for those that
// another process makes; each ends as a goroutine of the run, and the last one
// goes on with the next round.
func (x *Expander) call(r *run, j *job) error {
	for _, i := range j.absent {
		a := &j.asks[i]
		if x.client(a) == nil {
			return x.fail(j, a, fmt.Errorf("%w (model %q at the %s endpoint, %s)", ErrNotStored, a.request.Model, a.request.Kind, a.request.Params))
		}
		x.mu.Lock()
		f := x.share(r, j, a)
		may := x.may(a.key)
		x.mu.Unlock()
		if f == nil && may {
			var err error
			if f, err = x.board(r, j, a); err != nil {
				return err
			}
		}
		r.g.Go(func() error {
			if f == nil {
				var err error
				if f, err = x.elsewhere(r, j, a); err != nil {
					return x.ended(r, j, a, err)
				}
			}
			if err := x.ride(r, j, a, f); err != nil {
				return err
			}
			if j.left.Add(-1) == 0 {
				return x.proceed(r, j)
			}
			return nil
		})
	}
	return nil
}

// ended is the error of a look at the store that may have ended with the run.
func (x *Expander) ended(r *run, j *job, a *ask, err error) error {
	if ended := r.ctx.Err(); ended != nil {
		return ended
	}
	return x.fail(j, a, err)
}

// ride waits for a flight, and takes its answer.
func (x *Expander) ride(r *run, j *job, a *ask, f *flight) error {
	if err := x.wait(r, f); err != nil {
		return err
	}
	first := f.told.CompareAndSwap(false, true)
	if f.err != nil {
		if first && f.called {
			r.t.update(func(p *Progress) { p.Failed++ })
		}
		if !f.tolerated {
			return x.fail(j, a, f.err)
		}
		a.failed = f.err
		return nil
	}
	a.answer = f.answer
	r.t.update(func(p *Progress) { p.add(j, a, first && f.called) })
	return nil
}

// proceed goes on after the last answer of a round.
func (x *Expander) proceed(r *run, j *job) error {
	if !x.settle(j) {
		close(j.done)
		return nil
	}
	if err := x.seek(r.ctx, []*job{j}, r.t); err != nil {
		return err
	}
	if err := x.claimRounds(r.ctx, j); err != nil {
		return err
	}
	return x.call(r, j) // nothing is absent if the store had it all
}

// client is whom a request goes to.
func (x *Expander) client(a *ask) Completer {
	if a.about >= 0 && x.judge.Client != nil {
		return x.judge.Client
	}
	return x.cfg.Client
}

// wire is the request as the client is given it.
func (x *Expander) wire(a *ask) llm.Request {
	if a.about >= 0 {
		return llm.Request{Model: a.request.Model, Prompt: a.request.Prompt, TopP: 1, MaxTokens: x.judge.MaxTokens}
	}
	return llm.Request{
		Model: a.request.Model, Prompt: a.request.Prompt,
		Temperature: x.cfg.Temperature, TopP: x.cfg.TopP, MaxTokens: x.room(a.room), Extra: x.cfg.Extra,
	}
}
