package ask_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm/ask"
)

var errFull = errors.New("disk full")

// smallStore has room for a few answers.
type smallStore struct {
	*cache.Memory
	room atomic.Int64
}

func (s *smallStore) Put(ctx context.Context, records ...cache.Record) ([][]byte, error) {
	if s.room.Add(-int64(len(records))) < 0 {
		return nil, errFull
	}
	return s.Memory.Put(ctx, records...)
}

// Once an answer could not be stored, no run of the Asker asks anything new. At most answers that
// were in flight or being stored can be lost. When there is room again, paid answers are stored first,
// and nothing is asked twice.
func TestFullStore(t *testing.T) {
	const concurrency, room, n = 4, 5, 60
	store := &smallStore{Memory: cache.NewMemory()}
	store.room.Store(room)
	c := echo()
	a := ask.New(ask.Config{Client: c, Store: store, Concurrency: concurrency})
	var runs sync.WaitGroup
	for i := range n { // one run each, as with a judge's batches
		runs.Go(func() {
			if _, err := all(t.Context(), a, fmt.Sprint("prompt ", i)); err != nil && !errors.Is(err, errFull) {
				t.Error(err)
			}
		})
	}
	runs.Wait()
	paid := len(c.calls)
	assert.LessOrEqual(t, paid, room+2*concurrency, "%d calls were made, of which %d could be stored", paid, room)
	store.room.Store(1000)
	for i := range n {
		_, err := all(t.Context(), a, fmt.Sprint("prompt ", i))
		assert.NoError(t, err)
	}
	assert.Len(t, c.calls, n)
}
