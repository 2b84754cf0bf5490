package ask

import (
	"context"
	"sync"

	"github.com/refract-eval/refract/cache"
)

// keptStore keeps records that its store could not write, for example to a full disk, because they
// are paid for. All runs of an Asker share it, and none asks anything new before the records are
// written.
type keptStore struct {
	cache.Store
	mu      sync.Mutex
	pending []cache.Record
}

// Put implements [cache.Store].
func (k *keptStore) Put(ctx context.Context, records ...cache.Record) ([][]byte, error) {
	values, err := k.Store.Put(ctx, records...)
	if err != nil && ctx.Err() == nil {
		k.mu.Lock()
		k.pending = append(k.pending, records...)
		k.mu.Unlock()
	}
	return values, err
}

// flush writes the records that could not be written before.
func (k *keptStore) flush(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.pending) == 0 {
		return nil
	}
	_, err := k.Store.Put(ctx, k.pending...)
	if err == nil {
		k.pending = nil
	}
	return err
}
