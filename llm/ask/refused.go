package ask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm"
)

// A model may refuse a sampling parameter by its name. Where the parameter is a
// default, and not what the user chose, the question is asked again without it; the
// key of the stored answer then has no such parameter. The refusal is stored too, so that
// the next run finds those answers without asking.

// kindRefused is the kind of endpoint under which refusals are stored. The prompt is
// the parameter.
const kindRefused = "refused-parameter:"

var parameters = []string{llm.ParamTemperature, llm.ParamTopP}

// who names the model and endpoint that refuse.
type who struct{ model, revision, kind string }

func (q *Question) who() who {
	kind := cache.KindChat
	if strings.HasPrefix(q.Request.Kind, cache.KindCompletions) {
		kind = cache.KindCompletions
	}
	return who{q.Request.Model, q.Request.Revision, kind}
}

func (w who) refusal(parameter string) cache.Request {
	return cache.Request{Kind: kindRefused + w.kind, Model: w.model, Revision: w.revision, Prompt: parameter}
}

// refusals are the parameters that models refuse, as far as the store knows.
func (a *Asker) refusals(ctx context.Context, w who) ([]string, error) {
	a.mu.Lock()
	found, known := a.refused[w]
	a.mu.Unlock()
	if known {
		return found, nil
	}
	var keys []cache.Key
	for _, p := range parameters {
		keys = append(keys, w.refusal(p).Key())
	}
	_, stored, err := a.answers.Get(ctx, keys)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, p := range parameters {
		if stored[i] && !slices.Contains(a.refused[w], p) {
			a.refused[w] = append(slices.Clone(a.refused[w]), p)
		}
	}
	if _, known := a.refused[w]; !known {
		a.refused[w] = nil
	}
	return a.refused[w], nil
}

// without leaves out of a question what its model refuses and the user did not choose.
func (a *Asker) without(ctx context.Context, q *Question) error {
	refused, err := a.refusals(ctx, q.who())
	if err != nil || len(refused) == 0 {
		return err
	}
	left := slices.Clone(refused)
	left = slices.DeleteFunc(left, func(p string) bool {
		return slices.Contains(q.Chosen, p) || slices.Contains(q.Wire.Omit, p)
	})
	if len(left) == 0 {
		return nil
	}
	if q.Request.Params, err = q.Request.Params.Without(left...); err != nil {
		return err
	}
	q.Key = q.Request.Key()
	q.Wire.Omit = append(slices.Clone(q.Wire.Omit), left...)
	return nil
}

// refuses notes that a question was refused for a parameter that can be left out, and
// reports whether it is to be asked without it.
func (a *Asker) refuses(ctx context.Context, q *Question, err error) (bool, error) {
	parameter := Refused(q, err)
	if parameter == "" {
		return false, nil
	}
	w := q.who()
	if _, err := a.refusals(ctx, w); err != nil {
		return false, err
	}
	a.mu.Lock()
	first := !slices.Contains(a.refused[w], parameter)
	if first {
		a.refused[w] = append(slices.Clone(a.refused[w]), parameter)
	}
	a.mu.Unlock()
	if !first {
		return true, nil
	}
	if a.cfg.LeftOut != nil {
		a.cfg.LeftOut(fmt.Sprintf("model %s refuses %s, so that it is asked without: %v", w.model, parameter, err))
	}
	return true, a.storeRefusal(ctx, w, parameter, err)
}

func (a *Asker) storeRefusal(ctx context.Context, w who, parameter string, said error) error {
	_, err := a.answers.Put(ctx, Entry(w.refusal(parameter), llm.Response{Text: said.Error(), HasText: true}))
	return err
}

// Refused is the parameter that an error refuses and that the question can do
// without, or "".
func Refused(q *Question, err error) string {
	var e *llm.Error
	if !errors.As(err, &e) || e.Refuses == "" || slices.Contains(q.Chosen, e.Refuses) || slices.Contains(q.Wire.Omit, e.Refuses) {
		return ""
	}
	return e.Refuses
}
