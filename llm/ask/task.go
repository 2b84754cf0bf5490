package ask

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/refract-eval/refract/cache"
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

// task is a job under way.
type task struct {
	Job
	questions []Question // of the round, in the form that is answered
	others    []bool     // the ones in their other form; nil for none
	results   []Result
	absent    []int              // questions that the store lacks, the first of equal ones
	equal     map[int][]int      // the further ones, by the first
	calls     []*call            // of the absent ones
	granted   map[cache.Key]bool // whether the keys of its own calls are claimed
	waiting   sync.WaitGroup
	ready     chan error    // whether the first round could be prepared
	done      chan struct{} // closed when no round is left
}

func newTask(j Job) *task {
	return &task{Job: j, ready: make(chan error, 1), done: make(chan struct{})}
}

// at says where an error belongs. The end of the budget belongs nowhere.
func (t *task) at(i int, err error) error {
	if errors.Is(err, ErrSpent) {
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

// advance takes a task as far as the store does: it then has absent questions,
// or is over.
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

// lookUp reads the stored answers of a round.
func (a *Asker) lookUp(ctx context.Context, t *task) error {
	var keys []cache.Key
	t.questions = slices.Clone(t.questions) // the job's own stay as they are
	for i := range t.questions {
		q := &t.questions[i]
		err := a.refused.without(ctx, q)
		if q.Other != nil && err == nil {
			other := *q.Other
			err = a.refused.without(ctx, &other)
			q.Other = &other
		}
		if err != nil {
			return cmp.Or(ctx.Err(), t.at(i, err))
		}
		if keys = append(keys, q.Key); q.Other != nil {
			keys = append(keys, q.Other.Key)
		}
	}
	answers, found, err := a.answers.Get(ctx, keys)
	if err == nil && (len(answers) != len(keys) || len(found) != len(keys)) {
		err = errors.New("the store has given another number of answers than it was asked for")
	}
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
			case !has && a.cfg.Choose != nil:
				if other, err = a.cfg.Choose(ctx); err != nil {
					return cmp.Or(ctx.Err(), err) // of another question
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
			a.answered.Store(true)
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
