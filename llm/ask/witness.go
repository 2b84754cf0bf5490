package ask

import (
	"context"
	"sync/atomic"

	"github.com/refract-eval/refract/llm"
)

// witness tells whether a model answers. The request that it sends is known to be harmless: one that the
// model has answered, in this run or an earlier one, or else a plain sentence.
type witness struct {
	llm.Witness
	known atomic.Pointer[llm.Request] // one that has an answer
}

// place is where a question is asked: a model of a client, nil for the Config's.
type place struct {
	client Completer
	who
}

func (q *Question) place() place { return place{q.Client, q.who()} }

// witness returns the witness of the model of a question.
func (a *Asker) witness(q *Question) *witness {
	at := q.place()
	w, ok := a.witnesses.Load(at)
	if !ok {
		w, _ = a.witnesses.LoadOrStore(at, &witness{})
	}
	return w.(*witness)
}

// saw remembers a question that has an answer.
func (a *Asker) saw(q *Question) {
	a.answered.Store(true)
	if w := a.witness(q); w.known.Load() == nil {
		wire := q.Wire
		w.known.Store(&wire)
	}
}

// others reports whether the model of a question that has just failed answers another one.
func (r *run) others(q *Question) bool {
	w := r.witness(q)
	return w.Answers(r.life, func(ctx context.Context) error {
		other := *q
		if known := w.known.Load(); known != nil {
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
