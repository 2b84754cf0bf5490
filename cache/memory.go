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
}

var (
	_ Store  = (*Memory)(nil)
	_ Lister = (*Memory)(nil)
)

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

// Put implements [Store].
func (m *Memory) Put(ctx context.Context, e Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e, err := e.normalized()
	if err != nil {
		return err
	}
	key := e.Request.Key()
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.entries[key]; !ok {
		m.entries[key] = e
	}
	return nil
}

// Entries implements [Lister]. It yields what was stored when it began.
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
