package cache

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
)

// Memory is a Store that lives as long as the process.
type Memory struct {
	mu      sync.RWMutex
	entries map[Key]Entry

	known knownParams
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{entries: make(map[Key]Entry)} }

// Get implements [Store]. It fails only if ctx is done.
func (m *Memory) Get(ctx context.Context, key Key) (Entry, bool, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, false, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	e, ok := m.entries[key]
	return e, ok, nil
}

// GetMany implements [Store]. It fails only if ctx is done.
func (m *Memory) GetMany(ctx context.Context, keys []Key) ([]Answer, []bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	answers, found := make([]Answer, len(keys)), make([]bool, len(keys))
	m.mu.RLock()
	defer m.mu.RUnlock()
	for i, key := range keys {
		var e Entry
		e, found[i] = m.entries[key]
		answers[i] = e.Answer
	}
	return answers, found, nil
}

// Claim implements [Store]. No other process knows of this store, so all
// that has no answer is granted.
func (m *Memory) Claim(ctx context.Context, keys []Key) ([]bool, error) {
	_, found, err := m.GetMany(ctx, keys)
	for i := range found {
		found[i] = !found[i]
	}
	return found, err
}

// Release implements [Store].
func (m *Memory) Release(ctx context.Context, _ []Key) error { return ctx.Err() }

// Put implements [Store].
func (m *Memory) Put(ctx context.Context, e Entry) error {
	_, err := m.Keep(ctx, e)
	return err
}

// Keep implements [Store].
func (m *Memory) Keep(ctx context.Context, e Entry) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	e, err := e.normalized(&m.known)
	if err != nil {
		return Answer{}, err
	}
	key := e.Request.Key()
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.entries[key]; !ok {
		m.entries[key] = e
	}
	return m.entries[key].Answer, nil
}

// Entries implements [Store]. It yields what was stored when it began.
func (m *Memory) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		m.mu.RLock()
		entries := maps.Clone(m.entries)
		m.mu.RUnlock()
		keys := slices.SortedFunc(maps.Keys(entries), func(a, b Key) int { return bytes.Compare(a[:], b[:]) })
		for _, key := range keys {
			if err := ctx.Err(); err != nil {
				yield(Entry{}, err)
				return
			}
			if !yield(entries[key], nil) {
				return
			}
		}
	}
}
