package ask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm"
)

// grace is how long an answer that has arrived may take to be stored after
// the run was cancelled.
const grace = 500 * time.Millisecond

// call is one call in flight, shared by all who wait for the same request. It
// belongs to none of them: it is cancelled when the last one has left.
type call struct {
	Question
	cancel context.CancelFunc
	done   chan struct{} // closed once the waiters have the result

	// Guarded by Asker.mu:
	waiters   []waiter
	abandoned bool // cancelled, as its last waiters have left
	finished  bool // there is a result, and nobody waits any more
	result    Result
}

// waiter is a question of a run that needs a call.
type waiter struct {
	run  *run
	task *task
	i    int
}

func (w waiter) question() *Question { return &w.task.questions[w.i] }

// deliver hands a result to a waiter. The last one of a round begins the next.
func (w waiter) deliver(res Result) {
	w.task.take(w.i, res)
	switch {
	case res.Err != nil && !res.Tolerated:
		w.run.end(w.task.at(w.i, res.Err))
	case w.task.left.Add(-1) == 0:
		w.run.start(func() error { return w.run.proceed(w.task) })
	}
}

// ask gets the answer to a question that the store lacks. It returns once the
// call has begun, or is left to another process.
func (r *run) ask(w waiter) error {
	q := w.question()
	if r.client(q) == nil {
		return w.task.at(w.i, fmt.Errorf("%w (model %q at the %s endpoint, %s)", ErrNotStored, q.Request.Model, q.Request.Kind, q.Request.Params))
	}
	r.mu.Lock()
	joined, mine := r.join(w), r.claimed[q.Key]
	r.mu.Unlock()
	if !joined && mine {
		var err error
		if joined, err = r.place(w); err != nil {
			return err
		}
	}
	if !joined {
		r.start(func() error { return r.elsewhere(w) })
	}
	return nil
}

// join has a waiter share the call in flight of its request, if there is one
// that is not abandoned. The caller holds a.mu.
func (a *Asker) join(w waiter) bool {
	c := a.calls[w.question().Key]
	switch {
	case c == nil || c.abandoned || w.run.closed:
		return false
	case c.finished:
		res := c.result
		res.Called = false
		w.run.startLocked(func() error {
			w.deliver(res)
			return nil
		})
	default:
		c.waiters = append(c.waiters, w)
	}
	return true
}

// place takes a slot and begins the call of a claimed request, or joins the one
// that there is by then. It does neither where the claim was used meanwhile.
func (r *run) place(w waiter) (bool, error) {
	select {
	case r.slots <- struct{}{}:
	case <-r.ctx.Done():
		return false, r.ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	q := w.question()
	switch err := r.ctx.Err(); {
	case err != nil: // both were ready
		<-r.slots
		return false, err
	case r.join(w):
		<-r.slots // the call has one of its own
		return true, nil
	case r.calls[q.Key] != nil || !r.claimed[q.Key]:
		<-r.slots
		return false, nil
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.ctx))
	c := &call{Question: *q, cancel: cancel, done: make(chan struct{}), waiters: []waiter{w}}
	r.calls[q.Key] = c
	r.workers.run(func() { r.Asker.make(ctx, c) })
	return true, nil
}

// make makes a call, stores the answer, and hands it to the waiters.
func (a *Asker) make(ctx context.Context, c *call) {
	var res Result
	resp, called, err := a.complete(ctx, &c.Question)
	switch {
	case err == nil:
		a.answered.Store(true)
		res.Answer, err = a.keep(ctx, Entry(c.Request, resp))
	case ctx.Err() == nil:
		if res.Tolerated, err = a.tolerates(err); !res.Tolerated {
			a.mu.Lock()
			waiters := slices.Clone(c.waiters)
			a.mu.Unlock()
			// Before the slot is free: nobody is to begin another call.
			for _, w := range waiters {
				w.run.end(w.task.at(w.i, err))
			}
		}
		fallthrough
	default:
		<-a.slots
	}
	if err != nil {
		a.release(ctx, c.Key)
	}
	c.cancel()
	res.Err, res.Called = err, called
	a.mu.Lock()
	c.result, c.finished = res, true
	waiters := c.waiters
	if c.abandoned && err != nil {
		waiters = nil // nobody is interested
	}
	a.mu.Unlock()
	for _, w := range waiters {
		w.deliver(res)
		res.Called = false
	}
	a.mu.Lock()
	delete(a.claimed, c.Key)
	delete(a.calls, c.Key)
	a.mu.Unlock()
	close(c.done)
}

// complete asks the model, unless the budget forbids it.
func (a *Asker) complete(ctx context.Context, q *Question) (resp llm.Response, called bool, err error) {
	if err := a.cfg.Budget.Take(ctx, q.Wire); err != nil {
		return resp, false, err
	}
	resp, err = a.client(q).Complete(ctx, q.Wire)
	a.cfg.Budget.Settle(q.Wire, resp, err)
	return resp, true, err
}

// tolerates reports whether the run goes on after a failure, and says in the
// error where it would have gone on before.
func (a *Asker) tolerates(err error) (bool, error) {
	own := errors.Is(err, llm.ErrContextLength) || errors.Is(err, llm.ErrInvalidRequest) || errors.Is(err, llm.ErrBadAnswer)
	if !own || !a.answered.Load() || a.cfg.Tolerate == 0 {
		return false, err
	}
	if a.tolerated.Add(1) <= int64(a.cfg.Tolerate) {
		return true, err
	}
	return false, fmt.Errorf("%w: %d were, and one more is not: %w", ErrTolerance, a.cfg.Tolerate, err)
}

// keep stores an answer and returns the one that counts: another process may
// have stored its own first. What was paid for is kept, even if the run has
// just been cancelled. The slot of the call is free as soon as there is room
// for another answer on its way into the store.
func (a *Asker) keep(ctx context.Context, e cache.Entry) (cache.Answer, error) {
	ctx, cancel := outlast(ctx, grace)
	defer cancel()
	select {
	case a.puts <- struct{}{}:
		<-a.slots
		defer func() { <-a.puts }()
	case <-ctx.Done():
		<-a.slots
		return cache.Answer{}, fmt.Errorf("the answer cannot be stored: %w", ctx.Err())
	}
	kept, err := a.answers.Put(ctx, e)
	if err != nil {
		return cache.Answer{}, fmt.Errorf("the answer cannot be stored: %w", err)
	}
	return kept[0], nil
}

// outlast returns a context that ends a while after ctx does.
func outlast(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(d, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}

// leave takes a run that has ended from all calls. Calls that nobody else
// waits for are cancelled, after some time where they may well succeed: their
// answers still count.
func (r *run) leave(ctx context.Context) {
	waits := func(w waiter) bool { return w.run == r }
	var calls []*call
	r.mu.Lock()
	r.closed = true
	for _, c := range r.calls {
		if slices.ContainsFunc(c.waiters, waits) {
			calls = append(calls, c)
		}
	}
	r.mu.Unlock()
	if _, interrupted := llm.Interrupted(ctx); r.cfg.Drain > 0 && (interrupted || drains(context.Cause(ctx))) {
		r.drain(calls)
	}
	r.mu.Lock()
	for i, c := range calls {
		others := slices.DeleteFunc(slices.Clone(c.waiters), waits)
		switch {
		case c.finished:
		case len(others) > 0:
			c.waiters, calls[i] = others, nil
		default:
			c.abandoned = true
			c.cancel()
		}
	}
	r.mu.Unlock()
	for _, c := range calls {
		if c != nil {
			<-c.done
		}
	}
}

// drain waits for calls: for a while, and where people have ended the run, for as
// long as an attempt may take or until they give the calls up.
func (r *run) drain(calls []*call) {
	enough, cut := time.After(r.cfg.Drain), r.caller.Done()
	if givenUp, interrupted := llm.Interrupted(r.caller); givenUp != nil {
		cut = givenUp
		if interrupted {
			enough = nil
		}
	}
	for _, c := range calls {
		select {
		case <-c.done:
		case <-cut:
			return
		case <-enough:
			return
		}
	}
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

// workers make calls. A goroutine that has made one makes the next one, with
// the stack that it has grown.
type workers struct {
	work chan func()
	end  chan struct{}
}

func newWorkers() *workers {
	return &workers{work: make(chan func()), end: make(chan struct{})}
}

// run runs f in a worker that has nothing to do, or else in a new one.
func (w *workers) run(f func()) {
	select {
	case w.work <- f:
	default:
		go func() {
			for {
				f()
				select {
				case f = <-w.work:
				case <-w.end:
					return
				}
			}
		}()
	}
}
