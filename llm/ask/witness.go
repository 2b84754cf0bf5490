package ask

import (
	"sync"
	"time"

	"github.com/refract-eval/refract/llm"
)

// A server may fail at one input, with a status that a server in trouble gives as well. Another request,
// sent after the failure, tells them apart. It costs a call, and is known to be harmless: one that the
// model has answered, in this run or an earlier one, or else a plain sentence.

// witness finds out whether models answer.
type witness struct {
	known sync.Map // of place to llm.Request: one that has an answer

	mu   sync.Mutex // held during a call
	last map[place]sighting
}

// place is where a question is asked: a model of a client, nil for the Config's.
type place struct {
	client Completer
	who
}

func (q *Question) place() place { return place{q.Client, q.who()} }

// sighting says whether a model answered a request.
type sighting struct {
	at   time.Time // the answer was asked for then, or failed to come until then
	well bool
}

// plainSentence is what a model is asked about if nothing is known that it has answered.
const plainSentence = "The river was quiet."

// saw remembers a question that has an answer.
func (w *witness) saw(q *Question) {
	if _, known := w.known.Load(q.place()); !known {
		w.known.Store(q.place(), q.Wire)
	}
}

// others reports whether the model of a question that has just failed answers another one. Calls that
// fail at the same time share the finding.
func (r *run) others(q *Question) bool {
	failed, w, of := time.Now(), &r.witness, q.place()
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.ctx.Err() != nil {
		return false
	}
	if last := w.last[of]; !last.at.Before(failed) {
		return last.well
	}
	other := *q
	if known, ok := w.known.Load(of); ok {
		other.Wire = known.(llm.Request)
	} else {
		other.Wire.Prompt, other.Wire.Messages = plainSentence, nil
	}
	now := sighting{at: time.Now()}
	_, _, err := r.complete(llm.Briefly(r.life), &other)
	if r.ctx.Err() != nil {
		return false // the call was not begun, perhaps
	}
	if now.well = err == nil || llm.BlameFor(err) == llm.BlameRequest; !now.well {
		now.at = time.Now()
	}
	if w.last == nil {
		w.last = map[place]sighting{}
	}
	w.last[of] = now
	return now.well
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
