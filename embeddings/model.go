package embeddings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm"
)

// Kind is the kind of endpoint under which vectors are stored.
const Kind = "embeddings"

// ErrNotStored says that a vector is not in the store and there is no client to ask for
// it.
var ErrNotStored = errors.New("vector not stored")

var errNotFinite = errors.New("its numbers are not finite")

// Client makes one call for embeddings. *llm.Client implements it.
type Client interface {
	Embed(ctx context.Context, r llm.EmbedRequest) (llm.EmbedResponse, error)
}

// Defaults of Model.
const (
	DefaultBatch       = 64
	defaultConcurrency = 4
)

// Model is an Embedder that keeps vectors in a store and asks a server only for missing
// ones, once for equal texts. It always returns the stored vector, so that a later run
// gets the same bytes.
type Model struct {
	Client     Client // nil to use only stored vectors
	Store      cache.Store
	Name       string
	Revision   string // of the model's weights; "" if none is given
	Dimensions int    // requested from models that can shorten vectors; 0 for the model's own number
	Batch      int    // texts per call; 0 means DefaultBatch
	// Concurrency is the number of calls in flight at a time; 0 means
	// defaultConcurrency.
	Concurrency int
	// Refused, if not nil, is called with each text that gets no vector: one that the server
	// refuses, such as a text that is too long, or fails at although it answers others. If it
	// returns true, the text gets a nil vector.
	Refused func(text string, err error) bool

	asked, stored atomic.Int64
}

var _ Embedder = (*Model)(nil)

// Asked returns the number of texts that the server was asked for so far. Stored returns
// the number of texts found in the store, counting equal texts of a call once.
func (m *Model) Asked() int  { return int(m.asked.Load()) }
func (m *Model) Stored() int { return int(m.stored.Load()) }

// Embed implements Embedder. It stores every vector as soon as it arrives, and before
// returning it.
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	w, missing, err := m.find(ctx, texts)
	if err != nil {
		return nil, err
	}
	m.stored.Add(int64(len(w.vectors) - len(missing)))
	if err := w.ask(ctx, missing); err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = w.vectors[t]
	}
	return out, nil
}

// Missing returns the distinct texts whose vectors are not stored, in order.
func (m *Model) Missing(ctx context.Context, texts []string) ([]string, error) {
	_, missing, err := m.find(ctx, texts)
	out := make([]string, len(missing))
	for i, r := range missing {
		out[i] = r.Prompt
	}
	return out, err
}

// find reads the stored vectors, and returns requests for the others.
func (m *Model) find(ctx context.Context, texts []string) (w *work, missing []cache.Request, err error) {
	params, err := m.params()
	if err != nil {
		return nil, nil, err
	}
	w = &work{Model: m, vectors: make(map[string][]float32, len(texts))}
	var requests []cache.Request
	var keys []cache.Key
	for _, t := range texts {
		if _, twice := w.vectors[t]; !twice {
			w.vectors[t] = nil
			requests = append(requests, cache.Request{Kind: Kind, Model: m.Name, Revision: m.Revision, Prompt: t, Params: params})
			keys = append(keys, requests[len(requests)-1].Key())
		}
	}
	answers, found, err := cache.NewAnswers(m.Store).Get(ctx, keys)
	if err != nil {
		return nil, nil, err
	}
	for i, r := range requests {
		if !found[i] {
			missing = append(missing, r)
		} else if err := w.take(r, answers[i]); err != nil {
			return nil, nil, err
		}
	}
	return w, missing, nil
}

func (m *Model) params() (cache.Params, error) {
	if m.Dimensions == 0 {
		return "", nil
	}
	return cache.NewParams(map[string]any{"dimensions": m.Dimensions})
}

// work is one call of Embed or Missing.
type work struct {
	*Model
	vectors map[string][]float32 // by text; nil until the vector is known
	size    int                  // dimensions of all vectors; 0 before the first
	mu      sync.Mutex           // of the vectors, and of storing them
	witness llm.Witness
}

// take sets a vector from a stored answer.
func (w *work) take(r cache.Request, a cache.Answer) error {
	err := errors.New("the entry has no text")
	var v []float32
	if a.HasText {
		v, err = decode(a.Text)
	}
	if err != nil {
		return fmt.Errorf("stored vector %s: %w", r.Key(), err)
	}
	w.size = cmp.Or(w.size, len(v))
	if len(v) != w.size {
		return fmt.Errorf("%w: the store has vectors of %d and of %d dimensions for model %q; use another cache, or name the model's revision",
			ErrVector, w.size, len(v), w.Name)
	}
	w.vectors[r.Prompt] = v
	return nil
}

// ask gets and stores the missing vectors.
func (w *work) ask(ctx context.Context, missing []cache.Request) error {
	switch {
	case len(missing) == 0:
		return nil
	case w.Client == nil:
		return fmt.Errorf("%w: texts without one of model %q: %d of %d", ErrNotStored, w.Name, len(missing), len(w.vectors))
	}
	for _, r := range missing {
		if r.Prompt == "" {
			return errors.New("a text is empty, and servers do not embed empty texts; leave it out")
		}
	}
	requests := &llm.Halving[cache.Request]{Witness: &w.witness, Ask: w.get, Other: func(ctx context.Context) error {
		_, err := w.Client.Embed(ctx, w.request(w.known()))
		return err
	}}
	if w.Refused != nil {
		requests.Failed = func(r *cache.Request, why error) error {
			if w.Refused(r.Prompt, why) {
				return nil
			}
			return fmt.Errorf("model %q gives no vector for the text %.60q, which can be shortened or left out: %w", w.Name, r.Prompt, why)
		}
	}
	calls, working := errgroup.WithContext(ctx)
	calls.SetLimit(cmp.Or(max(0, w.Concurrency), defaultConcurrency))
	size := cmp.Or(max(0, w.Batch), DefaultBatch)
	for first := 0; first < len(missing) && working.Err() == nil; first += size {
		part := missing[first:min(first+size, len(missing))]
		calls.Go(func() error {
			ctx, done := llm.Lasting(ctx, working) // an answer that is paid for is stored
			defer done()
			return requests.Do(ctx, part)
		})
	}
	if err := calls.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// get asks for vectors, and keeps them.
func (w *work) get(ctx context.Context, part []cache.Request) error {
	texts := make([]string, len(part))
	for i, r := range part {
		texts[i] = r.Prompt
	}
	got, err := w.Client.Embed(ctx, w.request(texts...))
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.keep(ctx, part, got.Vectors)
}

func (w *work) request(texts ...string) llm.EmbedRequest {
	return llm.EmbedRequest{Model: w.Name, Texts: texts, Dimensions: w.Dimensions}
}

// known returns a text that has a vector, or else a plain sentence.
func (w *work) known() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for t, v := range w.vectors {
		if v != nil {
			return t
		}
	}
	return llm.PlainSentence
}

// keep stores vectors and then uses those in the store, because another process may have
// been first.
func (w *work) keep(ctx context.Context, part []cache.Request, got [][]float32) error {
	if len(got) != len(part) {
		return fmt.Errorf("embeddings of model %q: the server gave %d vectors for %d texts", w.Name, len(got), len(part))
	}
	now, due := time.Now(), cmp.Or(w.size, w.Dimensions)
	var entries []cache.Entry
	for i, r := range part {
		text := encode(got[i])
		v, err := decode(text)
		if got[i] == nil {
			err = errNotFinite
		}
		if err == nil {
			_, err = norm(v)
		}
		if err != nil {
			err = fmt.Errorf("the server gave a vector of model %q for the text %.60q: %w", w.Name, r.Prompt, err)
			if w.Refused != nil && w.Refused(r.Prompt, err) {
				continue
			}
			return err
		}
		if due = cmp.Or(due, len(v)); len(v) != due {
			return fmt.Errorf("%w: the server gave a vector of %d dimensions for model %q, expected %d; use another cache, or name the model's revision",
				ErrVector, len(v), w.Name, due)
		}
		entries = append(entries, cache.Entry{Request: r, Answer: cache.Answer{Text: text, HasText: true, Created: now}})
	}
	w.asked.Add(int64(len(entries)))
	kept, err := cache.NewAnswers(w.Store).Put(ctx, entries...)
	if err != nil {
		return err
	}
	for i, e := range entries {
		if err := w.take(e.Request, kept[i]); err != nil {
			return err
		}
	}
	return nil
}
