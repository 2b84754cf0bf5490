package ask

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/refract-eval/refract/cache"
)

// Job is work whose requests come in rounds. The requests of a round are made together, and their
// answers decide the next round.
type Job interface {
	// Next returns the questions of the next round. results has the results of the last round,
	// in the order of its questions; nil before the first round. Without questions the job
	// ends.
	Next(results []Result) ([]Question, error)
	// Answered is called with each result when it arrives, and the index of its question in the
	// round. It must be safe for concurrent use.
	Answered(i int, r Result)
	// At adds to an error that ends the run what question i of the round was about.
	At(i int, err error) error
}

// task is a job in progress.
type task struct {
	Job
	questions []Question // of the round, in the form that is answered
	others    []bool     // which questions are in their other form; nil for none
	results   []Result
	absent    []int              // questions without a stored answer, the first of equal ones
	equal     map[int][]int      // further equal questions, by the first
	calls     []*call            // calls for the absent questions
	granted   map[cache.Key]bool // whether the keys of the task's own calls are claimed
	waiting   sync.WaitGroup
	ready     chan error    // result of preparing the first round
	done      chan struct{} // closed after the last round
}

func newTask(j Job) *task {
	return &task{Job: j, ready: make(chan error, 1), done: make(chan struct{})}
}

// at adds to an error what its question is about, unless the budget is used up.
func (t *task) at(i int, err error) error {
	if errors.Is(err, ErrSpent) {
		return err
	}
	return t.At(i, err)
}

// take passes a result to its question, and to equal questions.
func (t *task) take(i int, res Result) {
	res.Other = res.Other || t.others != nil && t.others[i]
	t.results[i] = res
	t.Answered(i, res)
	res.Called = false
	for _, k := range t.equal[i] { // they have the same form
		t.results[k] = res
		t.Answered(k, res)
	}
}

// advance runs a task as far as stored answers allow, until it has absent questions or is over.
func (a *Asker) advance(ctx context.Context, t *task) (over bool, err error) {
	for {
		questions, err := t.Next(t.results)
		if err != nil {
			return false, err
		}
		t.questions, t.others, t.absent, t.equal, t.calls = questions, nil, nil, nil, nil
		t.results = make([]Result, len(questions))
		if len(questions) == 0 {
			close(t.done)
			return true, nil
		}
		if err := a.lookUp(ctx, t); err != nil || len(t.absent) > 0 {
			return false, err
		}
	}
}

// keys are the keys of a round's questions, without parameters that the model refuses. Two
// keys of a question follow one another.
func (a *Asker) keys(ctx context.Context, t *task) ([]cache.Key, error) {
	var keys []cache.Key
	t.questions = slices.Clone(t.questions) // do not change the job's own
	for i := range t.questions {
		q := &t.questions[i]
		err := a.refused.without(ctx, q)
		if q.Other != nil && err == nil {
			other := *q.Other
			err = a.refused.without(ctx, &other)
			q.Other = &other
		}
		if err != nil {
			return nil, cmp.Or(ctx.Err(), t.at(i, err))
		}
		if keys = append(keys, q.Key); q.Other != nil {
			keys = append(keys, q.Other.Key)
		}
	}
	return keys, nil
}

// lookUp reads the stored answers of a round.
func (a *Asker) lookUp(ctx context.Context, t *task) error {
	keys, err := a.keys(ctx, t)
	if err != nil {
		return err
	}
	answers, found, err := a.answers.Get(ctx, keys)
	if err != nil {
		return cmp.Or(ctx.Err(), t.at(0, err))
	}
	first := map[cache.Key]int{}
	for i := range t.questions {
		ans, has := answers[0], found[0]
		answers, found = answers[1:], found[1:]
		if q := &t.questions[i]; q.Other != nil {
			other := !has && found[0]
			switch {
			case other:
				ans, has = answers[0], true
			case has:
				a.model(q).form.CompareAndSwap(unknownForm, firstForm)
			case a.model(q).form.Load() == otherForm:
				other = true
			case a.cfg.Choose != nil:
				if other, err = a.cfg.Choose(ctx); err != nil {
					return cmp.Or(ctx.Err(), err) // the error is about another question
				}
			}
			answers, found = answers[1:], found[1:]
			if other {
				if t.others == nil {
					t.others = make([]bool, len(t.questions))
				}
				t.others[i], t.questions[i] = true, *q.Other
			}
		}
		if has {
			a.saw(&t.questions[i])
			t.take(i, Result{Answer: ans, Params: t.questions[i].Request.Params})
			continue
		}
		key := t.questions[i].Key
		if same, ok := first[key]; ok {
			if t.equal == nil {
				t.equal = map[int][]int{}
			}
			t.equal[same] = append(t.equal[same], i)
			continue
		}
		first[key] = i
		t.absent = append(t.absent, i)
	}
	return nil
}
