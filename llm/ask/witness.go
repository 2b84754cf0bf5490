package ask

import (
	"context"
	"sync/atomic"

	"github.com/refract-eval/refract/llm"
)

// model is what is known of a model at a place. Its witness tells whether it answers: the request that
// it sends is known to be harmless, as the model has answered it, in this run or an earlier one, or else
// is a plain sentence.
type model struct {
	llm.Witness
	known atomic.Pointer[llm.Request] // one that has an answer
	form  atomic.Int32                // of questions that it answers; see unknownForm
}

// place is where a question is asked: a model of a client, nil for the Config's.
type place struct {
	client Completer
	who
}

func (q *Question) place() place { return place{q.Client, q.who()} }

func (a *Asker) model(q *Question) *model {
	m, _ := a.models.LoadOrStore(q.place(), &model{})
	return m.(*model)
}

// saw remembers a question that has an answer.
func (a *Asker) saw(q *Question) {
	a.answered.Store(true)
	if m := a.model(q); m.known.Load() == nil {
		wire := q.Wire
		m.known.Store(&wire)
	}
}

// others reports whether the model of a question that has just failed answers another one.
func (r *run) others(q *Question) bool {
	m := r.model(q)
	return m.Answers(r.life, func(ctx context.Context) error {
		other := *q
		if known := m.known.Load(); known != nil {
			other.Wire = *known
		} else {
			other.Wire.Prompt, other.Wire.Messages = llm.PlainSentence, nil
		}
		_, _, err := r.complete(ctx, &other)
		return err
	})
}

// fail ends the run with err after a failure at a place. Other runs of the Asker that go on to ask there
// before this one has ended find the failure.
func (r *run) fail(at place, failed, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end(err)
	if _, twice := r.failing[r]; !twice {
		r.failing[r] = failure{at, failed}
	}
}

type failure struct {
	at  place
	err error
}

// failed returns the failure of another run at a place, if that run still waits for its calls.
func (a *Asker) failed(at place) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.failing {
		if f.at == at {
			return f.err
		}
	}
	return nil
}
