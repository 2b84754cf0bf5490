package ask

import (
	"errors"
	"sync"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm"
)

// A server may refuse the form of a question, such as its schema, with any status and words. The
// question is then asked in its other form. If that is answered, so are all later questions that
// are not stored.

// forms holds which models answer the first form of questions, and which answer only the other.
type forms struct {
	mu    sync.Mutex
	first map[place]bool
}

// note records which form a model answers, and reports whether that is new. The first finding
// stays.
func (f *forms) note(w place, first bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first == nil {
		f.first = map[place]bool{}
	}
	_, known := f.first[w]
	if !known {
		f.first[w] = first
	}
	return !known
}

// refused reports whether a model answers only the other form.
func (f *forms) refused(w place) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	first, known := f.first[w]
	return known && !first
}

// given reports whether a model has answered the first form.
func (f *forms) given(w place) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.first[w]
}

// inForm asks the model in the question's form, or changes the question to its other form if only
// that is answered. Like adapt, it may find an answer that is stored.
func (r *run) inForm(q *Question) (resp llm.Response, kept *cache.Answer, called bool, err error) {
	w := q.place()
	resp, kept, called, err = r.adapt(r.life, q)
	if q.Other == nil {
		return resp, kept, called, err
	}
	switch {
	case err == nil:
		r.forms.note(w, true)
		return resp, kept, called, nil
	case r.forms.given(w), !Refuses(err), r.ctx.Err() != nil:
		return resp, kept, called, err
	}
	other := *q.Other
	other.Client = q.Client
	answers, found, stored := r.answers.Get(r.life, []cache.Key{other.Key})
	if stored != nil {
		return resp, kept, called, stored
	}
	if kept = &answers[0]; !found[0] {
		var failed error
		if resp, kept, _, failed = r.adapt(llm.Briefly(r.life), &other); failed != nil {
			return resp, nil, called, err
		}
	}
	if r.forms.note(w, false) && r.cfg.OtherForm != nil {
		r.cfg.OtherForm(q.Request.Model, err)
	}
	*q = other
	return resp, kept, called, nil
}

// Refuses reports whether a failure may be the server's answer to the form of a request.
func Refuses(err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Status == 0 || llm.BlameFor(err) == llm.BlameServer {
		return false
	}
	return !errors.Is(err, llm.ErrContextLength) && !errors.Is(err, llm.ErrRateLimited) && !errors.Is(err, llm.ErrBadAnswer)
}
