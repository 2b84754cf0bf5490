package cache

import (
	"context"
	"iter"

	"golang.org/x/sync/errgroup"
)

// Answers reads and writes the answers of a store.
type Answers struct{ store Store }

// NewAnswers returns the answers of a store.
func NewAnswers(s Store) *Answers { return &Answers{s} }

// Get returns the answers of keys, of which some may be equal: answers[i] is
// that of keys[i], and found[i] says whether there is one. Nothing is returned
// beside an error.
func (a *Answers) Get(ctx context.Context, keys []Key) (answers []Answer, found []bool, err error) {
	return a.store.GetMany(ctx, keys)
}

// Put stores entries, each under the key of its request, and returns the
// answers that count: the first answer to a request stays, whatever is put
// later. An entry that is malformed or not UTF-8 is refused. When Put returns
// nil, the answers are as durable as the store can make them; when it returns
// an error, some may still have been stored.
func (a *Answers) Put(ctx context.Context, entries ...Entry) ([]Answer, error) {
	answers := make([]Answer, len(entries))
	all, ctx := errgroup.WithContext(ctx)
	for i, e := range entries {
		all.Go(func() (err error) {
			answers[i], err = a.store.Keep(ctx, e)
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	return answers, nil
}

// Entries yields all entries in the order of their keys. The sequence ends
// after the first error.
func (a *Answers) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return a.store.Entries(ctx)
}
