package ask

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/ordered"
	"github.com/refract-eval/refract/llm/budget"
)

// Job is work whose requests come in rounds: those of a round are asked
// together, and their answers say what the next round asks.
type Job interface {
	// Next returns the questions of the next round. results are those of the
	// last round, in its order; nil before the first. No question ends the job.
	Next(results []Result) ([]Question, error)
	// Answered is told of each result when it comes, with the place of its
	// question in the round. Goroutines call it concurrently.
	Answered(i int, r Result)
	// At says where a question of the round belongs, in an error that ends the
	// run.
	At(i int, err error) error
}

// lookAhead is how many jobs are looked up together.
const lookAhead = 16

// task is a job on its way.
type task struct {
	Job
	questions []Question // of the round, in the form that is answered
	others    []bool     // the ones in their other form; nil for none
	results   []Result
	absent    []int         // questions that the store lacks, the first of equal ones
	equal     map[int][]int // the further ones, by the first
	left      atomic.Int64  // absent questions without a result
	done      chan struct{} // closed once no round is left
}

func newTask(j Job) *task {
	return &task{Job: j, done: make(chan struct{})}
}

// next begins the next round, and reports whether there is one.
func (t *task) next() (bool, error) {
	questions, err := t.Next(t.results)
	if err != nil {
		return false, err
	}
	t.questions, t.others, t.absent, t.equal = questions, nil, nil, nil
	t.results = make([]Result, len(questions))
	return len(questions) > 0, nil
}

// at says where an error belongs. The end of the budget belongs nowhere.
func (t *task) at(i int, err error) error {
	if errors.Is(err, budget.ErrSpent) {
		return err
	}
	return t.At(i, err)
}

// take hands a result to its question, and to those that are equal to it.
func (t *task) take(i int, res Result) {
	res.Other = t.others != nil && t.others[i]
	t.results[i] = res
	t.Answered(i, res)
	res.Called = false
	for _, k := range t.equal[i] { // they have its form too
		t.results[k] = res
		t.Answered(k, res)
	}
}

// other replaces a question by its other form.
func (t *task) other(i int) {
	if t.others == nil {
		t.others = make([]bool, len(t.questions))
	}
	t.others[i], t.questions[i] = true, *t.questions[i].Other
}

// lookUp reads the stored answers of the tasks' rounds.
func (a *Asker) lookUp(ctx context.Context, tasks []*task) error {
	var keys []cache.Key
	for _, t := range tasks {
		for i := range t.questions {
			q := &t.questions[i]
			if keys = append(keys, q.Key); q.Other != nil {
				keys = append(keys, q.Other.Key)
			}
		}
	}
	answers, found, err := a.answers.Get(ctx, keys)
	if err == nil && (len(answers) != len(keys) || len(found) != len(keys)) {
		err = errors.New("the store has given another number of answers than it was asked for")
	}
	if err != nil {
		return cmp.Or(ctx.Err(), tasks[0].at(0, err))
	}
	for _, t := range tasks {
		var first map[cache.Key]int
		for i := range t.questions {
			ans, has := answers[0], found[0]
			answers, found = answers[1:], found[1:]
			if q := &t.questions[i]; q.Other != nil {
				other := !has && found[0]
				switch {
				case other:
					ans, has = answers[0], true
				case !has && a.cfg.Choose != nil:
					if other, err = a.cfg.Choose(ctx); err != nil {
						return cmp.Or(ctx.Err(), t.at(i, err))
					}
				}
				answers, found = answers[1:], found[1:]
				if other {
					t.other(i)
				}
			}
			if has {
				a.answered.Store(true)
				t.take(i, Result{Answer: ans})
				continue
			}
			if first == nil {
				first = map[cache.Key]int{}
			}
			key := t.questions[i].Key
			if same, ok := first[key]; !ok {
				first[key] = i
				t.absent = append(t.absent, i)
			} else {
				if t.equal == nil {
					t.equal = map[int][]int{}
				}
				t.equal[same] = append(t.equal[same], i)
			}
		}
		t.left.Store(int64(len(t.absent)))
	}
	return nil
}

// advance takes tasks as far as the store does, from where they are: those of
// them that need calls then have absent questions, the others are done.
func (a *Asker) advance(ctx context.Context, tasks []*task) error {
	for {
		var more []*task
		for _, t := range tasks {
			if len(t.absent) > 0 {
				continue
			}
			switch again, err := t.next(); {
			case err != nil:
				return err
			case again:
				more = append(more, t)
			default:
				close(t.done)
			}
		}
		if len(more) == 0 {
			return nil
		}
		if err := a.lookUp(ctx, more); err != nil {
			return err
		}
		tasks = more
	}
}

// run is one use of an Asker. It ends with the first failure.
type run struct {
	*Asker
	caller context.Context // of the one who asked for it
	ctx    context.Context // ends with the run, with its reason as the cause
	end    context.CancelCauseFunc
	parts  sync.WaitGroup
	closed bool // no part begins any more; guarded by Asker.mu
}

func (a *Asker) begin(ctx context.Context) *run {
	r := &run{Asker: a, caller: ctx}
	r.ctx, r.end = context.WithCancelCause(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.runs++; a.runs == 1 {
		a.workers = newWorkers()
	}
	return r
}

// start runs f as a part of the run, which an error of f ends before then is
// called.
func (r *run) start(f func() error, then ...func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.startLocked(f, then...)
}

func (r *run) startLocked(f func() error, then ...func()) {
	if r.closed {
		return
	}
	r.parts.Go(func() {
		if err := f(); err != nil {
			r.end(err)
		}
		for _, g := range then {
			g()
		}
	})
}

// inside runs f as a part of the run, which its error ends, in the caller's
// goroutine.
func (r *run) inside(f func() error) error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return r.ctx.Err()
	}
	r.parts.Add(1)
	r.mu.Unlock()
	defer r.parts.Done()
	err := f()
	if err != nil {
		r.end(err)
	}
	return err
}

// reason is why the run has ended early: the first failure, in place of the
// cancellations that followed from it.
func (r *run) reason() error {
	cause := context.Cause(r.ctx)
	if ended := r.caller.Err(); ended != nil && cause == context.Cause(r.caller) {
		return ended
	}
	return cause
}

// wait returns nil once c is closed, unless the run ends first.
func (r *run) wait(c <-chan struct{}) error {
	select {
	case <-c:
	case <-r.ctx.Done():
	}
	return r.reason()
}

// close ends the run and waits for its parts and, where the calls in flight
// may well succeed, for these. With the last run end the workers and the claims
// that nobody has made use of.
func (r *run) close() {
	r.end(nil)
	r.leave(r.ctx)
	r.parts.Wait()
	r.mu.Lock()
	var unused []cache.Key
	if r.runs--; r.runs == 0 {
		close(r.workers.end)
		for key := range r.claimed {
			unused = append(unused, key)
		}
		clear(r.claimed)
	}
	r.mu.Unlock()
	r.release(r.ctx, unused...)
}

// prepare takes tasks as far as the store does, and claims what they need.
func (r *run) prepare(tasks ...*task) error {
	if err := r.advance(r.ctx, tasks); err != nil {
		return err
	}
	var keys []cache.Key
	var first func(error) error
	for _, t := range tasks {
		for _, i := range t.absent {
			if first == nil {
				first = func(err error) error { return t.at(i, err) }
			}
			if q := &t.questions[i]; r.client(q) != nil {
				keys = append(keys, q.Key)
			}
		}
	}
	if err := r.claim(r.ctx, keys); err != nil {
		return cmp.Or(r.ctx.Err(), first(err))
	}
	return nil
}

// call asks the model for what a task needs. It returns once the last call has
// begun, but for those that another process makes; the last answer goes on
// with the next round.
func (r *run) call(t *task) error {
	for _, i := range t.absent {
		if err := r.ask(waiter{r, t, i}); err != nil {
			return err
		}
	}
	return nil
}

// proceed goes on after the last answer of a round.
func (r *run) proceed(t *task) error {
	t.absent = nil
	if err := r.prepare(t); err != nil {
		return err
	}
	return r.call(t) // nothing is absent if the store had it all
}

// Do takes a job to its end. The error is that of the job, of a request, or
// that of the context; answers that came before it are stored.
func (a *Asker) Do(ctx context.Context, j Job) error {
	r := a.begin(ctx)
	defer r.close()
	t := newTask(j)
	r.start(func() error { return r.proceed(t) })
	return r.wait(t.done)
}

// Stream takes jobs to their ends, many at a time, and calls done with each, in
// their order and from the caller's goroutine. The number of jobs between the
// first step and done is bounded. The error is done's, that of the jobs, of
// one of them, of a request, or that of the context.
func (a *Asker) Stream(ctx context.Context, jobs func(context.Context) iter.Seq2[Job, error], done func(Job) error) error {
	r := a.begin(ctx)
	defer r.close()
	lookers := runtime.GOMAXPROCS(0)
	read := make(chan *task, lookers*lookAhead)
	// In order, for the caller: with room for many quick jobs behind a slow one.
	begun := make(chan *task, max(64, 4*a.cfg.Concurrency)-1)

	r.start(func() error {
		for j, err := range jobs(r.ctx) {
			if err != nil {
				return err
			}
			if err := send(r.ctx, read, newTask(j)); err != nil {
				return err
			}
		}
		// A dataset may just end when it is cancelled. If it watches the
		// caller's context, ours may not have heard of that yet.
		return cmp.Or(r.ctx.Err(), ctx.Err())
	}, func() { close(read) })
	r.start(func() error {
		prepare := func(tasks []*task) ([]*task, error) {
			return tasks, r.inside(func() error { return r.prepare(tasks...) })
		}
		return ordered.Map(r.ctx, lookers, receive(read), prepare, func(tasks []*task) error {
			for _, t := range tasks {
				if err := r.call(t); err != nil {
					return err
				}
				if err := send(r.ctx, begun, t); err != nil {
					return err
				}
			}
			return nil
		})
	}, func() { close(begun) })

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

// receive gives tasks as they come: one that is waited for, and what else is
// there, up to lookAhead.
func receive(from <-chan *task) iter.Seq2[[]*task, error] {
	return func(yield func([]*task, error) bool) {
		for t := range from {
			tasks := []*task{t}
			for len(tasks) < lookAhead && len(from) > 0 {
				tasks = append(tasks, <-from)
			}
			if !yield(tasks, nil) {
				return
			}
		}
	}
}

func send(ctx context.Context, to chan<- *task, t *task) error {
	select {
	case to <- t:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
