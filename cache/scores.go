package cache

import (
	"context"
	"errors"
)

// Scores keeps blocks of scores in a store, under keys that the caller makes:
// hashes of all that determines a block. The last block of a key counts.
type Scores struct{ store Store }

// NewScores returns the scores of a store.
func NewScores(s Store) *Scores { return &Scores{s} }

// Get returns the blocks of keys: values[i] is that of keys[i], nil where there
// is none, and empty where the block does not agree with its checksum. A database
// that is damaged itself is an error that wraps [ErrCorrupt].
func (s *Scores) Get(ctx context.Context, keys [][32]byte) (values [][]byte, err error) {
	asked := make([]Key, len(keys))
	for i, key := range keys {
		asked[i] = key
	}
	values, err = s.store.Get(ctx, asked)
	var damage *damageError
	if !errors.As(err, &damage) {
		return values, err
	}
	// One damaged block is no reason to do without the others.
	values = make([][]byte, len(keys))
	for i, key := range asked {
		value, err := s.store.Get(ctx, []Key{key})
		switch {
		case errors.As(err, &damage):
			values[i] = []byte{}
		case err != nil:
			return nil, err
		default:
			values[i] = value[0]
		}
	}
	return values, nil
}

// Put stores values[i], which is not empty, under keys[i], all in one
// transaction.
func (s *Scores) Put(ctx context.Context, keys [][32]byte, values [][]byte) error {
	records := make([]Record, len(keys))
	for i, key := range keys {
		records[i] = Record{Key: key, Kind: scoreRecord, Value: values[i]}
	}
	return s.store.Replace(ctx, records...)
}
