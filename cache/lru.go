package cache

import (
	"context"

	lru "github.com/hashicorp/golang-lru/v2"
)

// LRU keeps the entries used last in memory, in front of another Store.
type LRU struct {
	below  Store
	recent *lru.Cache[Key, Entry]
}

var _ Store = (*LRU)(nil)

// NewLRU returns a front of at most size entries; a size below 1 counts as 1.
// Closing the store below is left to its owner.
func NewLRU(store Store, size int) *LRU {
	recent, err := lru.New[Key, Entry](max(size, 1))
	if err != nil {
		panic(err) // a size of 1 or more is all it asks for
	}
	return &LRU{below: store, recent: recent}
}

// Get implements [Store]. An absent key is asked of the store below each time,
// as another process may store it.
func (l *LRU) Get(ctx context.Context, key Key) (Entry, bool, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, false, err
	}
	if e, ok := l.recent.Get(key); ok {
		return e, true, nil
	}
	e, ok, err := l.below.Get(ctx, key)
	if err != nil || !ok {
		return Entry{}, false, err
	}
	l.recent.Add(key, e)
	return e, true, nil
}

// Put implements [Store]. An entry enters memory when Get reads it back, not
// here: the store below may hold an earlier answer, and that one counts.
func (l *LRU) Put(ctx context.Context, e Entry) error {
	return l.below.Put(ctx, e)
}
