package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"time"

	"github.com/refract-eval/refract/llm"
)

// run is one use of an Asker. It ends with the first failure; its calls in
// flight may come home for a while.
type run struct {
	*Asker
	caller context.Context // of the one who asked for it
	ctx    context.Context // ends with the run, with its reason as the cause
	end    context.CancelCauseFunc
	life   context.Context // of its calls in flight: ends when they are given up
	giveUp context.CancelFunc
	parts  sync.WaitGroup
}

func (a *Asker) begin(ctx context.Context) *run {
	_ = a.store.flush(ctx) // else no call begins
	r := &run{Asker: a, caller: ctx}
	r.ctx, r.end = context.WithCancelCause(ctx)
	r.life, r.giveUp = context.WithCancel(context.WithoutCancel(ctx))
	return r
}

// close ends the run and, where the calls in flight may well succeed, waits for
// them: for a while, and where people have ended the run, for as long as an
// attempt may take or until they give the calls up.
func (r *run) close() {
	r.end(nil)
	home := make(chan struct{})
	go func() {
		r.parts.Wait()
		close(home)
	}()
	givenUp, interrupted := llm.Interrupted(r.caller)
	if cause := context.Cause(r.ctx); interrupted || drains(cause) {
		enough, cut := time.After(drain), r.caller.Done()
		if givenUp != nil {
			cut = givenUp
		}
		if interrupted {
			enough = nil
		}
		select {
		case <-home:
		case <-cut:
		case <-enough:
		}
	}
	r.giveUp()
	<-home
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.caller), grace)
	defer cancel()
	_ = r.store.flush(ctx) // the last time; the error that ended the run says what failed
}

// drains reports whether the calls in flight may well succeed after err has
// ended the run.
func drains(err error) bool {
	for _, kind := range []error{llm.ErrAuth, llm.ErrQuota, llm.ErrNotFound, llm.ErrUnavailable, context.Canceled} {
		if errors.Is(err, kind) {
			return false
		}
	}
	return true
}

// part runs f as a part of the run, which an error of f ends.
func (r *run) part(f func() error) {
	r.parts.Go(func() {
		if err := f(); err != nil {
			r.end(err)
		}
	})
}

// wait returns nil once c is closed, unless the run ends first: then it is why.
func (r *run) wait(c <-chan struct{}) error {
	select {
	case <-c:
	case <-r.ctx.Done():
	}
	return r.reason()
}

// reason is why the run has ended early: the first failure, instead of the
// cancellations that followed from it.
func (r *run) reason() error {
	cause := context.Cause(r.ctx)
	if ended := r.caller.Err(); ended != nil && cause == context.Cause(r.caller) {
		return ended
	}
	return cause
}

// prepare takes a task as far as the store does, and claims what it needs.
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

// call asks the model for what a task needs, in order. It returns when the last
// call has begun, except for those that another process makes.
func (r *run) call(t *task) error {
	for n, i := range t.absent {
		c := t.calls[n]
		if t.granted[c.Key] && c.owner == t {
			err := send(r.ctx, r.slots, struct{}{})
			if err == nil && r.ctx.Err() != nil { // both were ready
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

// finish takes a task whose calls have begun to its end.
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

// Do takes a job to its end. The error is that of the job, of a request, or
// that of the context; answers that came before it are stored.
func (a *Asker) Do(ctx context.Context, j Job) error {
	r := a.begin(ctx)
	defer r.close()
	t := newTask(j)
	r.part(func() error { return r.finish(t) })
	return r.wait(t.done)
}

// Stream takes jobs to their ends, many at a time, and calls done with each, in
// their order and from the caller's goroutine. The number of jobs between the
// first step and done is bounded. The error is done's, that of the jobs, of
// one of them, of a request, or that of the context.
func (a *Asker) Stream(ctx context.Context, jobs func(context.Context) iter.Seq2[Job, error], done func(Job) error) error {
	r := a.begin(ctx)
	defer r.close()
	lookers := make(chan struct{}, 4*runtime.GOMAXPROCS(0))
	read := make(chan *task, cap(lookers))
	// With room for many quick jobs after a slow one.
	begun := make(chan *task, max(64, 4*a.cfg.Concurrency)-1)
	r.part(func() error { // looks ahead
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
			read <- t // is emptied to the end
		}
		// A dataset may just end when it is cancelled. If it watches the
		// caller's context, ours may not have heard of that yet.
		return cmp.Or(r.ctx.Err(), ctx.Err())
	})
	r.part(func() (err error) { // begins the calls, in order
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
				r.end(err) // now, so that no task before it begins more
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
