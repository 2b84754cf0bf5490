package cache

import "context"

// Scores keeps blocks of scores in a store, under keys that the caller makes:
// hashes of all that determines a block. The last block of a key counts.
type Scores struct{ store Store }

// NewScores returns the scores of a store.
func NewScores(s Store) *Scores { return &Scores{s} }

// Get returns the blocks of keys: values[i] is that of keys[i], nil where there
// is none. A block that does not agree with its checksum is an error that wraps
// [ErrCorrupt].
func (s *Scores) Get(ctx context.Context, keys [][32]byte) (values [][]byte, err error) {
	asked := make([]Key, len(keys))
	for i, key := range keys {
		asked[i] = key
	}
	return s.store.Get(ctx, asked)
}

// Put stores values[i], which is not empty, under keys[i], all in one
// transaction.
func (s *Scores) Put(ctx context.Context, keys [][32]byte, values [][]byte) error {
	records := make([]Record, len(keys))
	for i, key := range keys {
		records[i] = Record{Key: key, Kind: ScoreRecord, Value: values[i]}
	}
	return s.store.Replace(ctx, records...)
}
