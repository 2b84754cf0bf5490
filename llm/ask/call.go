package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm"
)

// grace is how long storing an answer that has arrived may take after the run was cancelled.
const grace = 500 * time.Millisecond

// How often to check whether another process has got the answer that it asked for.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = 2 * time.Second
)

// errGivenUp is the result of a call that ended with its run. Tasks of other runs that wait for it
// ask again.
var errGivenUp = errors.New("the call was given up")

// call is a call that all tasks with the same request share. It belongs to the task that began it,
// and ends with that task's run.
type call struct {
	Question
	owner  *task
	slot   bool          // its key is claimed, and it holds a slot
	done   chan struct{} // closed when the result is set
	result Result
}

// join returns the call for a question, a new one that belongs to the task if there was none.
func (r *run) join(t *task, i int) *call {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := &t.questions[i]
	c := r.calls[q.Key]
	if c == nil {
		c = &call{Question: *q, owner: t, done: make(chan struct{})}
		r.calls[q.Key] = c
	}
	return c
}

// finished sets the result of a call.
func (a *Asker) finished(c *call, res Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.result = res
	delete(a.calls, c.Key)
	close(c.done)
}

// claim finds the calls for a task's absent questions, and claims those that nobody in this process
// makes yet.
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
	t.granted = map[cache.Key]bool{}
	for n, key := range keys {
		t.granted[key] = granted[n]
	}
	return nil
}

// drop gives up those calls of a task, from one on, that have not begun.
func (r *run) drop(t *task, from int) {
	var unused []cache.Key
	for _, c := range t.calls[min(from, len(t.calls)):] {
		if c.owner != t {
			continue
		}
		if t.granted[c.Key] {
			unused = append(unused, c.Key)
		}
		r.finished(c, Result{Err: errGivenUp})
	}
	r.release(r.ctx, unused...)
	t.calls = nil
}

// follow passes the result of a call to its question, after making the call if it belongs to the
// task. An error that is not tolerated ends the run.
func (r *run) follow(t *task, i int, c *call) {
	for {
		var res Result
		if c.owner == t {
			if c.slot && !r.claimed(c) {
				c.slot = false
				<-r.slots
			}
			if c.slot || r.awaitOther(c, &res) {
				res = r.make(t, i, c)
			}
			r.finished(c, res)
		} else {
			select {
			case <-c.done:
				res = c.result
				res.Called = false
			case <-r.ctx.Done():
				return
			}
		}
		switch {
		case !errors.Is(res.Err, errGivenUp):
			t.take(i, res)
			if res.Err != nil && !res.Tolerated {
				r.end(t.at(i, res.Err))
			}
			return
		case r.ctx.Err() != nil:
			return
		}
		c = r.join(t, i)
	}
}

// claimed reports whether a call may still be made. Where this process was stopped for longer
// than its lease, others have taken its claims, and perhaps have the answers.
func (r *run) claimed(c *call) bool {
	leased, ok := r.cfg.Store.(interface{ Holds(cache.Key) bool })
	return !ok || leased.Holds(c.Key)
}

// awaitOther waits for an answer that another process asks for or has just got. It holds no slot
// while it waits. If the answer does not come, it takes a slot and returns true: the call must be
// made here.
func (r *run) awaitOther(c *call, res *Result) (ours bool) {
	keys := []cache.Key{c.Key}
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		// A claim is refused if there is an answer, so that none is missed.
		granted, err := r.cfg.Store.Claim(r.ctx, keys)
		if err == nil && granted[0] {
			if send(r.ctx, r.slots, struct{}{}) == nil {
				return true
			}
			r.release(r.ctx, c.Key)
		}
		var answers []cache.Answer
		var found []bool
		if err == nil && r.ctx.Err() == nil {
			answers, found, err = r.answers.Get(r.ctx, keys)
		}
		switch {
		case r.ctx.Err() != nil:
			res.Err = errGivenUp
			return false
		case err != nil:
			res.Err = err
			return false
		case found[0]:
			res.Answer, res.Params = answers[0], c.Request.Params
			return false
		}
		select {
		case <-time.After(pause):
		case <-r.ctx.Done():
		}
	}
}

// make makes a call that has a slot, and stores the answer.
func (r *run) make(t *task, i int, c *call) Result {
	q := c.Question // a copy: the call keeps its key in the run
	if err := r.failed(q.place()); err != nil {
		r.end(t.at(i, err))
		<-r.slots
		r.release(r.life, c.Key)
		return Result{Err: errGivenUp}
	}
	resp, kept, called, err := r.inForm(&q)
	res := Result{Called: called, Params: q.Request.Params, Other: c.Other != nil && q.Other == nil}
	switch {
	case kept != nil:
		res.Answer = *kept
		<-r.slots
		r.release(r.life, c.Key)
	case err == nil:
		r.saw(&q)
		res.Answer, err = r.keep(Entry(q.Request, resp))
		if q.Key != c.Key {
			r.release(r.life, c.Key)
		}
	case r.life.Err() != nil, r.ctx.Err() != nil && errors.Is(err, context.Canceled): // or its next attempt was not begun
		err = errGivenUp
		<-r.slots
	default:
		if res.Tolerated, err = r.tolerates(&q, err); !res.Tolerated {
			r.fail(q.place(), err, t.at(i, err)) // before freeing the slot, so that no other call begins
		}
		<-r.slots
	}
	if res.Err = err; err != nil {
		r.release(r.life, c.Key)
	}
	return res
}

// adapt asks the model, leaving out parameters that it refuses. If an answer without them is stored
// already, adapt returns it as kept.
func (r *run) adapt(ctx context.Context, q *Question) (resp llm.Response, kept *cache.Answer, called bool, err error) {
	for before := q.Key; ; before = q.Key {
		if err = r.refused.without(r.life, q); err != nil {
			return resp, nil, called, err
		}
		if q.Key != before {
			answers, found, err := r.answers.Get(r.life, []cache.Key{q.Key})
			if err != nil {
				return resp, nil, called, err
			}
			if found[0] {
				return resp, &answers[0], called, nil
			}
		}
		if resp, called, err = r.complete(ctx, q); err == nil {
			return resp, nil, called, nil
		}
		if again, stored := r.refused.note(r.life, q, err); stored != nil || !again {
			return resp, nil, called, cmp.Or(stored, err)
		}
	}
}

// complete asks the model, unless the budget is used up or earlier answers could not be stored.
func (r *run) complete(ctx context.Context, q *Question) (resp llm.Response, called bool, err error) {
	if err := r.store.flush(ctx); err != nil {
		return resp, false, fmt.Errorf("nothing is asked because earlier answers cannot be stored: %w", err)
	}
	if err := r.cfg.Budget.Take(ctx, q.Wire); err != nil {
		return resp, false, err
	}
	resp, err = r.client(q).Complete(ctx, q.Wire)
	r.cfg.Budget.Settle(q.Wire, resp, err)
	return resp, true, err
}

// tolerates reports whether the run continues after a failure. If too many failures were tolerated
// before, the error says so.
func (r *run) tolerates(q *Question, err error) (bool, error) {
	if r.cfg.Tolerate == 0 {
		return false, err
	}
	blame := llm.BlameFor(err)
	if blame == llm.BlameServer || blame == llm.BlameEither && !r.others(q) {
		return false, err
	}
	if r.tolerated.Add(1) <= int64(r.cfg.Tolerate) {
		return true, err
	}
	if !r.answered.Load() {
		return false, fmt.Errorf("%w: no request was answered, and %s refused: %w", ErrTolerance, english.Count(r.cfg.Tolerate+1, "was", "were"), err)
	}
	return false, fmt.Errorf("%w: this is one more than the %d that may fail: %w", ErrTolerance, r.cfg.Tolerate, err)
}

// keep stores an answer and returns the stored one, because another process may have been first. An
// answer that is paid for is stored even if the run was just cancelled. The call's slot is freed as
// soon as there is room for another answer to be stored.
func (r *run) keep(e cache.Entry) (cache.Answer, error) {
	ctx, cancel := outlast(r.life, grace)
	defer cancel()
	if err := send(ctx, r.puts, struct{}{}); err == nil {
		defer func() { <-r.puts }()
	} // else the store is told all the same: it may keep elsewhere what it cannot put in time
	<-r.slots
	kept, err := r.answers.Put(ctx, e)
	if err != nil {
		return cache.Answer{}, fmt.Errorf("the answer cannot be stored: %w", err)
	}
	return kept[0], nil
}

// release lets other processes ask. The store repeats a release that failed.
func (a *Asker) release(ctx context.Context, keys ...cache.Key) {
	if len(keys) == 0 {
		return
	}
	ctx, cancel := outlast(ctx, grace)
	defer cancel()
	_ = a.cfg.Store.Release(ctx, keys)
}

// outlast returns a context that ends d after ctx ends.
func outlast(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(d, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}
