package cache

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
)

// Memory is a Store in memory. Its methods fail only if their context is done or a record
// is invalid.
type Memory struct {
	mu      sync.RWMutex
	records map[Key]Record
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{records: make(map[Key]Record)} }

// String returns "in memory".
func (m *Memory) String() string { return "in memory" }

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, keys []Key) ([][]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	values := make([][]byte, len(keys))
	for i, key := range keys {
		values[i] = m.records[key].Value
	}
	return values, nil
}

// Put implements [Store].
func (m *Memory) Put(ctx context.Context, records ...Record) ([][]byte, error) {
	return m.write(ctx, records, false)
}

// Replace implements [Store].
func (m *Memory) Replace(ctx context.Context, records ...Record) error {
	_, err := m.write(ctx, records, true)
	return err
}

func (m *Memory) write(ctx context.Context, records []Record, replace bool) ([][]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkRecords(records); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	values := make([][]byte, len(records))
	for i, r := range records {
		if _, ok := m.records[r.Key]; !ok || replace {
			r.Value, r.About = bytes.Clone(r.Value), bytes.Clone(r.About)
			m.records[r.Key] = r
		}
		values[i] = m.records[r.Key].Value
	}
	return values, nil
}

// Claim implements [Store]. No other process uses this store, so every key without a value
// is granted.
func (m *Memory) Claim(ctx context.Context, keys []Key) ([]bool, error) {
	values, err := m.Get(ctx, keys)
	if err != nil {
		return nil, err
	}
	granted := make([]bool, len(keys))
	for i, v := range values {
		granted[i] = v == nil
	}
	return granted, nil
}

// Release implements [Store].
func (m *Memory) Release(ctx context.Context, _ []Key) error { return ctx.Err() }

// Records implements [Store]. It yields the records that were stored when it began.
func (m *Memory) Records(ctx context.Context, kind string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		m.mu.RLock()
		records := maps.Clone(m.records)
		m.mu.RUnlock()
		keys := slices.SortedFunc(maps.Keys(records), func(a, b Key) int { return bytes.Compare(a[:], b[:]) })
		for _, key := range keys {
			if err := ctx.Err(); err != nil {
				yield(Record{}, err)
				return
			}
			if r := records[key]; (kind == "" || r.Kind == kind) && !yield(r, nil) {
				return
			}
		}
	}
}
