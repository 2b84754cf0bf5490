package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"

	"github.com/refract-eval/refract/llm"
)

// run is one use of an Asker. It ends with the first failure; calls in flight then finish, and are
// stored.
type run struct {
	*Asker
	caller context.Context // the caller's context
	ctx    context.Context // ends with the run; its cause is why
	stop   context.CancelCauseFunc
	life   context.Context // context of calls in flight; ends when they are given up; see llm.Lasting

	stopCalls context.CancelFunc // no attempt begins afterwards
	giveUp    context.CancelFunc
	parts     sync.WaitGroup
}

func (a *Asker) begin(ctx context.Context) *run {
	_ = a.store.flush(ctx) // if it fails, no call begins
	r := &run{Asker: a, caller: ctx}
	r.ctx, r.stop = context.WithCancelCause(ctx)
	begin, stopCalls := context.WithCancel(ctx)
	life, giveUp := llm.Lasting(ctx, begin)
	r.life, r.stopCalls, r.giveUp = life, stopCalls, func() { giveUp(); stopCalls() }
	return r
}

// end ends the run for a reason, nil at its end. Calls that have their share of the budget still
// begin if the reason is that nothing is left of it.
func (r *run) end(cause error) {
	r.stop(cause)
	if !errors.Is(context.Cause(r.ctx), ErrSpent) || cause != nil && !errors.Is(cause, ErrSpent) {
		r.stopCalls()
	}
}

// close ends the run, and waits for the calls in flight.
func (r *run) close() {
	r.end(nil)
	r.parts.Wait()
	r.giveUp()
	r.mu.Lock()
	delete(r.failing, r)
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.caller), grace)
	defer cancel()
	_ = r.store.flush(ctx) // a last try; the error that ended the run says what failed
}

// part runs f in a goroutine of the run. An error of f ends the run.
func (r *run) part(f func() error) {
	r.parts.Go(func() {
		if err := f(); err != nil {
			r.end(err)
		}
	})
}

// wait returns nil once c is closed. If the run ends first, it returns the reason.
func (r *run) wait(c <-chan struct{}) error {
	select {
	case <-c:
	case <-r.ctx.Done():
	}
	return r.reason()
}

// reason returns why the run ended early: the first failure, not the cancellations that it
// caused.
func (r *run) reason() error {
	cause := context.Cause(r.ctx)
	if ended := r.caller.Err(); ended != nil && cause == context.Cause(r.caller) {
		return ended
	}
	return cause
}

// prepare runs a task as far as stored answers allow, and claims the missing ones.
func (r *run) prepare(t *task) error {
	if over, err := r.advance(r.ctx, t); err != nil || over {
		return err
	}
	for _, i := range t.absent {
		if q := &t.questions[i]; r.client(q) == nil {
			return t.at(i, fmt.Errorf("%w (model %q at the %s endpoint, %s)", ErrNotStored, q.Request.Model, q.Request.Kind, q.Request.Params))
		}
	}
	if err := r.claim(t); err != nil {
		return cmp.Or(r.ctx.Err(), t.at(t.absent[0], err))
	}
	return nil
}

// call asks the model for the missing answers of a task, in order. It returns when the last call has
// begun, not counting those that another process makes.
func (r *run) call(t *task) error {
	for n, i := range t.absent {
		c := t.calls[n]
		if t.granted[c.Key] && c.owner == t {
			err := send(r.ctx, r.slots, struct{}{})
			if err == nil && r.ctx.Err() != nil { // select may choose either if both are ready
				<-r.slots
				err = r.ctx.Err()
			}
			if err != nil {
				r.drop(t, n)
				return err
			}
			c.slot = true
		}
		t.waiting.Add(1)
		r.parts.Go(func() {
			defer t.waiting.Done()
			r.follow(t, i, c)
		})
	}
	return nil
}

// finish runs a task whose calls have begun to its end.
func (r *run) finish(t *task) error {
	for {
		t.waiting.Wait()
		select {
		case <-t.done:
			return nil
		case <-r.ctx.Done():
			return r.ctx.Err()
		default:
		}
		if err := r.prepare(t); err != nil {
			return err
		}
		if err := r.call(t); err != nil {
			return err
		}
	}
}

// Do runs a job to its end. The error comes from the job, a request or the context. Answers received
// before it are stored.
func (a *Asker) Do(ctx context.Context, j Job) error {
	r := a.begin(ctx)
	defer r.close()
	t := newTask(j)
	r.part(func() error { return r.finish(t) })
	return r.wait(t.done)
}

// Stream runs jobs to their ends, many concurrently, and calls done with each, in order and from the
// caller's goroutine. The number of jobs in progress is bounded. The error comes from done, the
// sequence of jobs, a job, a request or the context.
func (a *Asker) Stream(ctx context.Context, jobs func(context.Context) iter.Seq2[Job, error], done func(Job) error) error {
	r := a.begin(ctx)
	defer r.close()
	lookers := make(chan struct{}, 4*runtime.GOMAXPROCS(0))
	read := make(chan *task, cap(lookers))
	// The buffer has room for many quick jobs after a slow one.
	begun := make(chan *task, max(64, 4*a.cfg.Concurrency)-1)
	r.part(func() error { // looks up jobs ahead
		defer close(read)
		for j, err := range jobs(r.ctx) {
			if err != nil {
				return err
			}
			t := newTask(j)
			if err := send(r.ctx, lookers, struct{}{}); err != nil {
				return err
			}
			r.parts.Go(func() {
				t.ready <- r.prepare(t)
				<-lookers
			})
			read <- t // cannot block for ever, as the channel is drained to its end
		}
		// A dataset may end without an error when it is cancelled. If it watches the
		// caller's context, r.ctx may not have ended yet.
		return cmp.Or(r.ctx.Err(), ctx.Err())
	})
	r.part(func() (err error) { // begins calls, in order
		defer close(begun)
		for t := range read {
			if ended := <-t.ready; err != nil || ended != nil {
				r.drop(t, 0)
				err = cmp.Or(err, ended)
			} else if err = r.call(t); err == nil {
				r.part(func() error { return r.finish(t) })
				err = send(r.ctx, begun, t)
			}
			if err != nil {
				r.end(err) // immediately, so that no earlier task begins more calls
			}
		}
		return err
	})
	for t := range begun {
		if err := r.wait(t.done); err != nil {
			return err
		}
		if err := done(t.Job); err != nil {
			return err
		}
	}
	return r.reason()
}

func send[T any](ctx context.Context, to chan<- T, v T) error {
	select {
	case to <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
