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

var (
	_ Store   = (*LRU)(nil)
	_ Many    = (*LRU)(nil)
	_ Claimer = (*LRU)(nil)
	_ Keeper  = (*LRU)(nil)
)

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

// GetMany implements [Many]. It asks below, at once, for what memory lacks,
// and does not keep it: memory holds entries, and reading many answers leaves
// the requests out. Nor would it pay, as a store that reads many answers at once
// is as fast as this one.
func (l *LRU) GetMany(ctx context.Context, keys []Key) ([]Answer, []bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if l.recent.Len() == 0 {
		return GetMany(ctx, l.below, keys)
	}
	answers, found := make([]Answer, len(keys)), make([]bool, len(keys))
	var lacking []Key
	var places []int
	for i, key := range keys {
		if e, ok := l.recent.Get(key); ok {
			answers[i], found[i] = e.Answer, true
		} else {
			lacking, places = append(lacking, key), append(places, i)
		}
	}
	if len(lacking) == 0 {
		return answers, found, nil
	}
	below, has, err := GetMany(ctx, l.below, lacking)
	if err != nil {
		return nil, nil, err
	}
	for i, at := range places {
		answers[at], found[at] = below[i], has[i]
	}
	return answers, found, nil
}

// Claim implements [Claimer] for the store below, which is asked each time.
func (l *LRU) Claim(ctx context.Context, keys []Key) ([]bool, error) {
	return Claim(ctx, l.below, keys)
}

// Release implements [Claimer] for the store below.
func (l *LRU) Release(ctx context.Context, keys []Key) error {
	return Release(ctx, l.below, keys)
}

// Put implements [Store]. An entry enters memory when Get reads it back, not
// here: the store below may hold an earlier answer, and that one counts.
func (l *LRU) Put(ctx context.Context, e Entry) error {
	return l.below.Put(ctx, e)
}

// Keep implements [Keeper]: the answer that counts enters memory.
func (l *LRU) Keep(ctx context.Context, e Entry) (Answer, error) {
	a, err := Keep(ctx, l.below, e)
	if err != nil {
		return Answer{}, err
	}
	l.recent.Add(e.Request.Key(), Entry{Request: e.Request, Answer: a})
	return a, nil
}
