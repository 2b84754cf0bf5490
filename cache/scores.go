package cache

import (
	"context"
	"errors"
)

// Scores keeps blocks of scores in a store. The caller makes the keys, which are hashes of
// everything that determines a block. A new block replaces the old one with its key.
type Scores struct{ store Store }

// NewScores returns the Scores in a store.
func NewScores(s Store) *Scores { return &Scores{s} }

// Get returns the blocks of keys. values[i] is the block of keys[i], nil if there is none,
// and empty but not nil if the block does not match its checksum. Damage to the database
// itself is an error that wraps [ErrCorrupt].
func (s *Scores) Get(ctx context.Context, keys [][32]byte) (values [][]byte, err error) {
	asked := make([]Key, len(keys))
	for i, key := range keys {
		asked[i] = key
	}
	values, err = s.store.Get(ctx, asked)
	if !errors.As(err, new(*Problem)) {
		return values, err
	}
	// Despite one damaged block, the others are returned.
	values = make([][]byte, len(keys))
	for i, key := range asked {
		value, err := s.store.Get(ctx, []Key{key})
		switch {
		case errors.As(err, new(*Problem)):
			values[i] = []byte{}
		case err != nil:
			return nil, err
		default:
			values[i] = value[0]
		}
	}
	return values, nil
}

// Put stores values[i], which must not be empty, under keys[i], all in one transaction.
func (s *Scores) Put(ctx context.Context, keys [][32]byte, values [][]byte) error {
	records := make([]Record, len(keys))
	for i, key := range keys {
		records[i] = Record{Key: key, Kind: scoreRecord, Value: values[i]}
	}
	return s.store.Replace(ctx, records...)
}
