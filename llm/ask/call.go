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

// How often to look whether another process has the answer it asks for.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = 2 * time.Second
)

// errGivenUp is the result of a call that nobody waited for any more. Who has
// joined it since then asks again.
var errGivenUp = errors.New("the call was given up")

// call is one call, shared by all who wait for the same request. It belongs to
// none of them: it is cancelled when the last one has left.
type call struct {
	Question
	owner  *task // that has it begin
	mine   bool  // its key is claimed
	ctx    context.Context
	cancel context.CancelFunc
	begun  chan struct{} // closed when it has a slot
	done   chan struct{} // closed when there is a result

	// Guarded by Asker.mu:
	waiters []waiter
	result  Result
	told    bool // somebody has been told that the model was called
}

// waiter is a question of a run that waits for a call.
type waiter struct {
	run  *run
	task *task
	i    int
}

// join has a question wait for the call of its request, which it begins to own if
// there is none.
func (r *run) join(t *task, i int) *call {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := &t.questions[i]
	c := r.calls[q.Key]
	if c == nil {
		c = &call{Question: *q, owner: t, begun: make(chan struct{}), done: make(chan struct{})}
		c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(r.ctx))
		r.calls[q.Key] = c
	}
	c.waiters = append(c.waiters, waiter{r, t, i})
	return c
}

// leave takes a run from a call, and cancels it when nobody is left.
func (r *run) leave(c *call) (last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.waiters = slices.DeleteFunc(c.waiters, func(w waiter) bool { return w.run == r })
	if len(c.waiters) > 0 {
		return false
	}
	c.cancel()
	return true
}

// claim finds the calls of a task's absent questions, and claims those that
// nobody in this process makes yet.
func (r *run) claim(t *task) error {
	var keys []cache.Key
	for _, i := range t.absent {
		c := r.join(t, i)
		if t.calls = append(t.calls, c); c.owner == t {
			keys = append(keys, c.Key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	granted, err := r.cfg.Store.Claim(r.ctx, keys)
	if err != nil {
		r.drop(t, 0)
		return err
	}
	for _, c := range t.calls {
		if c.owner == t {
			c.mine, granted = granted[0], granted[1:]
		}
	}
	return nil
}

// drop gives the calls of a task up, from one on, that have not begun.
func (r *run) drop(t *task, from int) {
	var unused []cache.Key
	for _, c := range t.calls[min(from, len(t.calls)):] {
		if c.owner != t {
			r.leave(c)
			continue
		}
		if c.mine {
			unused = append(unused, c.Key)
		}
		r.finished(c, Result{Err: errGivenUp})
	}
	r.release(r.ctx, unused...)
	t.calls = nil
}

// launch begins the call of a task that owns it, once there is a slot.
func (r *run) launch(t *task, c *call) error {
	switch {
	case c.owner != t:
	case !c.mine:
		go r.elsewhere(c)
	default:
		if err := send(r.ctx, r.slots, struct{}{}); err != nil {
			return err
		}
		if err := r.ctx.Err(); err != nil { // both were ready
			<-r.slots
			return err
		}
		close(c.begun)
		go r.make(c)
	}
	return nil
}

// await hands the result of a call to its question. When the run ends, it stays
// with a call in flight until that is given up.
func (r *run) await(t *task, i int, c *call) {
	for {
		select {
		case <-c.begun:
		case <-c.done:
		case <-r.ctx.Done():
		}
		var ended <-chan struct{} = r.gone
		select {
		case <-c.begun:
		default:
			ended = r.ctx.Done()
		}
		select {
		case <-c.done:
		case <-ended:
			if !r.leave(c) {
				return
			}
			<-c.done // its answer may be on its way into the store
		}
		r.mu.Lock()
		res := c.result
		res.Called = res.Called && !c.told
		c.told = c.told || res.Called
		r.mu.Unlock()
		if !errors.Is(res.Err, errGivenUp) {
			t.take(i, res)
			if res.Err != nil && !res.Tolerated {
				r.end(t.at(i, res.Err))
			}
			return
		}
		if r.ctx.Err() != nil {
			return
		}
		if c = r.join(t, i); c.owner == t {
			go r.elsewhere(c)
		}
	}
}

// elsewhere waits for an answer that somebody else asks for, or has just got,
// and takes over if it does not come. It holds no slot while it waits.
func (a *Asker) elsewhere(c *call) {
	keys := []cache.Key{c.Key}
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		// A claim is refused where there is an answer, so that none is missed.
		granted, err := a.cfg.Store.Claim(c.ctx, keys)
		if err == nil && granted[0] {
			if send(c.ctx, a.slots, struct{}{}) == nil {
				close(c.begun)
				a.make(c)
			} else {
				a.release(c.ctx, c.Key)
				a.finished(c, Result{Err: errGivenUp})
			}
			return
		}
		var answers []cache.Answer
		var found []bool
		if err == nil {
			answers, found, err = a.answers.Get(c.ctx, keys)
		}
		switch {
		case c.ctx.Err() != nil:
			err = errGivenUp
		case err == nil && found[0]:
			a.finished(c, Result{Answer: answers[0]})
			return
		}
		if err != nil {
			a.finished(c, Result{Err: err})
			return
		}
		select {
		case <-time.After(pause):
		case <-c.ctx.Done():
		}
	}
}

// make makes a call that has a slot, and stores the answer.
func (a *Asker) make(c *call) {
	resp, called, err := a.complete(c.ctx, &c.Question)
	res := Result{Called: called}
	switch {
	case err == nil:
		a.answered.Store(true)
		res.Answer, err = a.keep(c.ctx, Entry(c.Request, resp))
	case c.ctx.Err() != nil:
		err = errGivenUp
		<-a.slots
	default:
		if res.Tolerated, err = a.tolerates(err); !res.Tolerated {
			a.mu.Lock()
			waiters := slices.Clone(c.waiters)
			a.mu.Unlock()
			// Before the slot is free: nobody is to begin another call.
			for _, w := range waiters {
				w.run.end(w.task.at(w.i, err))
			}
		}
		<-a.slots
	}
	if res.Err = err; err != nil {
		a.release(c.ctx, c.Key)
	}
	a.finished(c, res)
}

// finished gives a call its result.
func (a *Asker) finished(c *call, res Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.result = res
	delete(a.calls, c.Key)
	close(c.done)
	c.cancel()
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
	err := send(ctx, a.puts, struct{}{})
	<-a.slots
	if err == nil {
		defer func() { <-a.puts }()
		var kept []cache.Answer
		if kept, err = a.answers.Put(ctx, e); err == nil {
			return kept[0], nil
		}
	}
	return cache.Answer{}, fmt.Errorf("the answer cannot be stored: %w", err)
}

// release lets other processes ask. The store tries a release that failed
// again.
func (a *Asker) release(ctx context.Context, keys ...cache.Key) {
	if len(keys) == 0 {
		return
	}
	ctx, cancel := outlast(ctx, grace)
	defer cancel()
	_ = a.cfg.Store.Release(ctx, keys)
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
