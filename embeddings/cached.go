package embeddings

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/refract-eval/refract/cache"
)

// Kind is the kind of endpoint under which vectors are stored.
const Kind = "embeddings"

// ErrNotStored says that a vector is not in the store and that there is no
// Embedder to ask.
var ErrNotStored = errors.New("vector not stored")

// Cached is an Embedder that keeps vectors in a store and asks another
// Embedder for the rest, for equal texts once. A vector is used as the store
// has it, so that a later run gets the same bytes.
type Cached struct {
	Embedder   Embedder // nil to use only what is stored
	Store      cache.Store
	Model      string
	Revision   string // of the model's weights; "" where none is named
	Dimensions int    // as the Embedder asks for; 0 for the model's own

	asked, stored atomic.Int64
}

var _ Embedder = (*Cached)(nil)

// Asked is the number of texts that the Embedder was asked for so far, and
// Stored that of distinct texts of calls whose vectors were stored before.
func (c *Cached) Asked() int  { return int(c.asked.Load()) }
func (c *Cached) Stored() int { return int(c.stored.Load()) }

// Embed implements Embedder. Every vector is stored before it is returned, and
// as soon as it comes where the Embedder is Batched.
func (c *Cached) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	at := make(map[string]int, len(texts)) // text -> its place among the distinct ones
	var distinct []string
	for _, t := range texts {
		if _, ok := at[t]; !ok {
			at[t] = len(distinct)
			distinct = append(distinct, t)
		}
	}
	keys, err := c.keys(distinct)
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(distinct))
	if err := c.read(ctx, keys, vectors); err != nil {
		return nil, err
	}
	var missing []int
	for i, v := range vectors {
		if v == nil {
			missing = append(missing, i)
		}
	}
	c.stored.Add(int64(len(distinct) - len(missing)))
	if len(missing) > 0 {
		if err := c.ask(ctx, distinct, keys, missing, vectors); err != nil {
			return nil, err
		}
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = vectors[at[t]]
		if len(out[i]) != len(out[0]) {
			return nil, fmt.Errorf("%w: the store has vectors of %d and of %d dimensions for model %q; use another cache, or name the model's revision", ErrVector, len(out[0]), len(out[i]), c.Model)
		}
	}
	return out, nil
}

// request is what determines the vector of a text.
func (c *Cached) request(text string) (cache.Request, error) {
	r := cache.Request{Kind: Kind, Model: c.Model, Revision: c.Revision, Prompt: text}
	if c.Dimensions > 0 {
		var err error
		if r.Params, err = cache.NewParams(map[string]any{"dimensions": c.Dimensions}); err != nil {
			return cache.Request{}, err
		}
	}
	return r, nil
}

func (c *Cached) keys(texts []string) ([]cache.Key, error) {
	keys := make([]cache.Key, len(texts))
	for i, t := range texts {
		r, err := c.request(t)
		if err != nil {
			return nil, err
		}
		keys[i] = r.Key()
	}
	return keys, nil
}

// read sets the vectors of the keys that are stored.
func (c *Cached) read(ctx context.Context, keys []cache.Key, vectors [][]float32) error {
	answers, found, err := cache.NewAnswers(c.Store).Get(ctx, keys)
	if err != nil {
		return err
	}
	for i := range keys {
		if !found[i] {
			continue
		}
		if vectors[i], err = stored(keys[i], answers[i]); err != nil {
			return err
		}
	}
	return nil
}

// stored is the vector of an answer.
func stored(key cache.Key, a cache.Answer) ([]float32, error) {
	if !a.HasText {
		return nil, fmt.Errorf("stored vector %s: the entry has no text", key)
	}
	v, err := decode(a.Text)
	if err != nil {
		return nil, fmt.Errorf("stored vector %s: %w", key, err)
	}
	return v, nil
}

// ask gets and stores the vectors of the missing texts.
func (c *Cached) ask(ctx context.Context, texts []string, keys []cache.Key, missing []int, vectors [][]float32) error {
	if c.Embedder == nil {
		return fmt.Errorf("%w: %d of %d texts have no stored vector of model %q", ErrNotStored, len(missing), len(texts), c.Model)
	}
	wanted := make([]string, len(missing))
	for i, m := range missing {
		wanted[i] = texts[m]
	}
	keep := func(first int, got [][]float32) error {
		if first < 0 || first+len(got) > len(missing) {
			return fmt.Errorf("the embedder gave vectors %d to %d for %d texts", first, first+len(got), len(missing))
		}
		part := missing[first : first+len(got)]
		c.asked.Add(int64(len(got)))
		return c.keep(ctx, texts, keys, part, got, vectors)
	}
	var err error
	if b, ok := c.Embedder.(Batched); ok {
		err = b.EmbedBatches(ctx, wanted, keep)
	} else {
		var got [][]float32
		if got, err = c.Embedder.Embed(ctx, wanted); err == nil {
			err = keep(0, got)
		}
	}
	if err != nil {
		return err
	}
	for _, m := range missing {
		if vectors[m] == nil {
			return errors.New("the embedder gave fewer vectors than texts")
		}
	}
	return nil
}

// keep stores vectors, and sets what the store then has: another process may
// have been first.
func (c *Cached) keep(ctx context.Context, texts []string, keys []cache.Key, part []int, got, vectors [][]float32) error {
	now := time.Now()
	entries := make([]cache.Entry, len(part))
	for i, m := range part {
		r, err := c.request(texts[m])
		if err != nil {
			return err
		}
		entries[i] = cache.Entry{Request: r, Answer: cache.Answer{Text: encode(got[i]), HasText: true, Created: now}}
	}
	kept, err := cache.NewAnswers(c.Store).Put(ctx, entries...)
	if err != nil {
		return err
	}
	for i, m := range part {
		if vectors[m], err = stored(keys[m], kept[i]); err != nil {
			return err
		}
	}
	return nil
}
