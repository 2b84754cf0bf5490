package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// errGivenUp is the result of a call that ended with its run. Others who wait for it
// ask again.
var errGivenUp = errors.New("the call was given up")

// call is one call, shared by all who wait for the same request. It is of the task
// that began it, and ends with that one's run.
type call struct {
	Question
	owner  *task
	slot   bool          // its key is claimed, and it holds a slot
	done   chan struct{} // closed when there is a result
	result Result
}

// join finds the call of a question, which is the task's own if there was none.
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

// finished gives a call its result.
func (a *Asker) finished(c *call, res Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.result = res
	delete(a.calls, c.Key)
	close(c.done)
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
	t.granted = map[cache.Key]bool{}
	for n, key := range keys {
		t.granted[key] = granted[n]
	}
	return nil
}

// drop gives the calls of a task up, from one on, that have not begun.
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

// follow hands the result of a call to its question, and makes the call if it is the
// task's own. An error that is not tolerated ends the run.
func (r *run) follow(t *task, i int, c *call) {
	for {
		var res Result
		if c.owner == t {
			if c.slot || r.elsewhere(c, &res) {
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

// elsewhere waits for an answer that somebody else asks for, or has just got. It
// holds no slot while it waits, and takes one where the answer does not come and the
// call is to be made here.
func (r *run) elsewhere(c *call, res *Result) (ours bool) {
	keys := []cache.Key{c.Key}
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		// A claim is refused where there is an answer, so that none is missed.
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
	q := c.Question // its key in the run stays
	resp, kept, called, err := r.adapt(&q)
	res := Result{Called: called, Params: q.Request.Params}
	switch {
	case kept != nil:
		res.Answer = *kept
		<-r.slots
		r.release(r.life, c.Key)
	case err == nil:
		r.answered.Store(true)
		res.Answer, err = r.keep(Entry(q.Request, resp))
		if q.Key != c.Key {
			r.release(r.life, c.Key)
		}
	case r.life.Err() != nil:
		err = errGivenUp
		<-r.slots
	default:
		if res.Tolerated, err = r.tolerates(err); !res.Tolerated {
			r.end(t.at(i, err)) // before the slot is free: nobody is to begin another call
		}
		<-r.slots
	}
	if res.Err = err; err != nil {
		r.release(r.life, c.Key)
	}
	return res
}

// adapt asks the model, without the parameters that it turns out to refuse. kept is an
// answer without them that is stored already.
func (r *run) adapt(q *Question) (resp llm.Response, kept *cache.Answer, called bool, err error) {
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
		if resp, called, err = r.complete(q); err == nil {
			return resp, nil, called, nil
		}
		if again, stored := r.refused.note(r.life, q, err); stored != nil || !again {
			return resp, nil, called, cmp.Or(stored, err)
		}
	}
}

// complete asks the model, unless the budget forbids it or earlier answers cannot be
// stored.
func (r *run) complete(q *Question) (resp llm.Response, called bool, err error) {
	if err := r.store.flush(r.life); err != nil {
		return resp, false, fmt.Errorf("nothing is asked, as earlier answers cannot be stored: %w", err)
	}
	if err := r.cfg.Budget.Take(r.life, q.Wire); err != nil {
		return resp, false, err
	}
	resp, err = r.client(q).Complete(r.life, q.Wire)
	r.cfg.Budget.Settle(q.Wire, resp, err)
	return resp, true, err
}

// tolerates reports whether the run goes on after a failure, and says in the
// error where it would have gone on before.
func (a *Asker) tolerates(err error) (bool, error) {
	var row *rowError
	answered := a.answered.Load()
	own := errors.Is(err, llm.ErrContextLength) || errors.Is(err, llm.ErrInvalidRequest) || errors.As(err, &row) ||
		answered && errors.Is(err, llm.ErrBadAnswer) // else perhaps it is no model server
	if !own || a.cfg.Tolerate == 0 {
		return false, err
	}
	if a.tolerated.Add(1) <= int64(a.cfg.Tolerate) {
		return true, err
	}
	if !answered {
		return false, fmt.Errorf("%w: all %d requests so far were refused, and none was answered: %w", ErrTolerance, a.cfg.Tolerate+1, err)
	}
	return false, fmt.Errorf("%w: %d were, and one more is not: %w", ErrTolerance, a.cfg.Tolerate, err)
}

// keep stores an answer and returns the one that counts: another process may
// have stored its own first. What was paid for is kept, even if the run has
// just been cancelled. The slot of the call is free as soon as there is room
// for another answer on its way into the store.
func (r *run) keep(e cache.Entry) (cache.Answer, error) {
	ctx, cancel := outlast(r.life, grace)
	defer cancel()
	err := send(ctx, r.puts, struct{}{})
	<-r.slots
	if err == nil {
		defer func() { <-r.puts }()
		var kept []cache.Answer
		if kept, err = r.answers.Put(ctx, e); err == nil {
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
