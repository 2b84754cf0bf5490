package ask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm"
)

// A model may refuse a sampling parameter by name. If the parameter is a default and not the user's
// choice, the question is asked again without it, and the key of the stored answer does not include
// it. The refusal is stored, too, so that the next run finds these answers without asking.

// kindRefused begins the kind of endpoint under which refusals are stored. The prompt is the
// parameter.
const kindRefused = "refused-parameter:"

var parameters = []string{llm.ParamTemperature, llm.ParamTopP}

// who identifies the model and endpoint that refuse.
type who struct{ model, revision, kind string }

func (q *Question) who() who {
	kind, _, _ := strings.Cut(q.Request.Kind, "-") // the endpoint
	return who{q.Request.Model, q.Request.Revision, kind}
}

func (w who) refusal(parameter string) cache.Request {
	return cache.Request{Kind: kindRefused + w.kind, Model: w.model, Revision: w.revision, Prompt: parameter}
}

// refusals holds the parameters that models refuse, as far as the store knows.
type refusals struct {
	answers *cache.Answers
	told    func(string, bool) // see Config.LeftOut; may be nil

	mu    sync.Mutex
	known map[who][]string
	said  map[string]bool // what told has been called with
}

func newRefusals(store cache.Store, told func(string, bool)) *refusals {
	return &refusals{answers: cache.NewAnswers(store), told: told, known: map[who][]string{}, said: map[string]bool{}}
}

// forget makes the next use look in the store again.
func (r *refusals) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.known)
}

func (r *refusals) find(ctx context.Context, w who) ([]string, error) {
	r.mu.Lock()
	found, known := r.known[w]
	r.mu.Unlock()
	if known {
		return found, nil
	}
	var keys []cache.Key
	for _, p := range parameters {
		keys = append(keys, w.refusal(p).Key())
	}
	_, stored, err := r.answers.Get(ctx, keys)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	found = slices.Clone(r.known[w])
	for i, p := range parameters {
		if stored[i] && !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	r.known[w] = found
	for _, p := range found {
		r.announce(w, p, "as an earlier run found", true)
	}
	return found, nil
}

// announce reports once that a model is asked without a parameter. The caller holds the lock.
func (r *refusals) announce(w who, parameter, why string, earlier bool) {
	what := fmt.Sprintf("model %s refuses %s and is asked without it", w.model, parameter)
	if r.told != nil && !r.said[what] {
		r.said[what] = true
		r.told(what+": "+why, earlier)
	}
}

// without removes from a question the parameters that its model refuses and the user did not
// choose.
func (r *refusals) without(ctx context.Context, q *Question) error {
	refused, err := r.find(ctx, q.who())
	if err != nil || len(refused) == 0 {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(refused), func(p string) bool {
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

// note records if a question was refused because of a parameter that can be left out, and reports
// whether to ask again without it.
func (r *refusals) note(ctx context.Context, q *Question, err error) (bool, error) {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok || e.Refuses == "" || slices.Contains(q.Chosen, e.Refuses) || slices.Contains(q.Wire.Omit, e.Refuses) {
		return false, nil
	}
	w := q.who()
	if _, err := r.find(ctx, w); err != nil {
		return false, err
	}
	r.mu.Lock()
	first := !slices.Contains(r.known[w], e.Refuses)
	if first {
		r.known[w] = append(slices.Clone(r.known[w]), e.Refuses)
		r.announce(w, e.Refuses, err.Error(), false)
	}
	r.mu.Unlock()
	if !first {
		return true, nil
	}
	_, stored := r.answers.Put(ctx, Entry(w.refusal(e.Refuses), llm.Response{Text: err.Error(), HasText: true}))
	return true, stored
}
