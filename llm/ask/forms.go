package ask

import (
	"errors"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm"
)

// A server may refuse the form of a question, such as its schema, with any status and words. The
// question is then asked in its other form. If that is answered, so are all later questions that
// are not stored.

// Which form of questions a model answers; the first finding stays.
const (
	unknownForm int32 = iota
	firstForm
	otherForm
)

// inForm asks the model in the question's form, or changes the question to its other form if only
// that is answered. Like adapt, it may find an answer that is stored.
func (r *run) inForm(q *Question) (resp llm.Response, kept *cache.Answer, called bool, err error) {
	m := r.model(q)
	resp, kept, called, err = r.adapt(r.life, q)
	if q.Other == nil {
		return resp, kept, called, err
	}
	switch {
	case err == nil:
		m.form.CompareAndSwap(unknownForm, firstForm)
		return resp, kept, called, nil
	case m.form.Load() == firstForm, !Refuses(err), r.ctx.Err() != nil:
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
	if m.form.CompareAndSwap(unknownForm, otherForm) && r.cfg.OtherForm != nil {
		r.cfg.OtherForm(q.Request.Model, err)
	}
	*q = other
	return resp, kept, called, nil
}

// Refuses reports whether a failure may be the server's answer to the form of a request.
func Refuses(err error) bool {
	e, ok := errors.AsType[*llm.Error](err)
	return ok && e.Status != 0 && llm.BlameFor(err) != llm.BlameServer && !llm.IsAny(err, llm.ErrContextLength, llm.ErrRateLimited, llm.ErrBadAnswer)
}
