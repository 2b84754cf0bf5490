package experiment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/english"
)

// Store keeps what was computed: scores, statistics and tests. Each is under the
// hash of all that it depends on, so that nothing in it is ever out of date, and
// has a digest, so that damage is found and computed again.
type Store struct {
	*cache.Scores
	database *cache.Database
}

// storeName is the name of the file in the folder of a store.
const storeName = "scores.sqlite"

// OpenStore opens the store in a folder, which it makes where there is none.
// warn is told of what cannot be read any more.
func OpenStore(ctx context.Context, dir string, warn func(message string)) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("store of scores: %w", err)
	}
	var old []string
	for _, pattern := range []string{"cells-*.parquet", "native-*.parquet", "statistic-*.json", "test-*.json"} {
		names, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is right
		old = append(old, names...)
	}
	path := filepath.Join(dir, storeName)
	if len(old) > 0 {
		warn(fmt.Sprintf("%s has %s of an earlier version, such as %s: what they hold is computed again, into %s; delete them",
			dir, english.Count(len(old), "file", "files"), filepath.Base(old[0]), storeName))
	}
	database, err := cache.OpenSQLite(ctx, path)
	if errors.Is(err, cache.ErrCorrupt) {
		warn(fmt.Sprintf("%s cannot be read and is made anew: %v", path, err))
		for _, suffix := range []string{"-wal", "-shm", ""} {
			if err := os.RemoveAll(path + suffix); err != nil {
				return nil, fmt.Errorf("store of scores: %w", err)
			}
		}
		database, err = cache.OpenSQLite(ctx, path)
	}
	if err != nil {
		return nil, fmt.Errorf("store of scores: %w", err)
	}
	return &Store{cache.NewScores(database), database}, nil
}

// Close ends the use of the store.
func (s *Store) Close() error { return s.database.Close() }

// Usage is what a run computed and what it found in the store.
type Usage struct {
	ScoredCells, ReusedCells             int // scores of a hypothesis against a reference
	ComputedStatistics, ReusedStatistics int // and tests
}

// String says it in a line.
func (u Usage) String() string {
	return fmt.Sprintf("scored %d cells, reused %d; computed %s, reused %d",
		u.ScoredCells, u.ReusedCells, english.Count(u.ComputedStatistics, "statistic", "statistics"), u.ReusedStatistics)
}

// storeKey is the key of what is computed of some parts.
type storeKey = [sha256.Size]byte

func keyOf(parts ...any) storeKey {
	h := sha256.New()
	for _, p := range append([]any{"refract experiment 2", refract.Version}, parts...) {
		fmt.Fprintf(h, "%q\n", fmt.Sprint(p))
	}
	return storeKey(h.Sum(nil))
}

// keeping is what is computed once, by its key, whoever asks first, unless the
// store has it.
type keeping[T any] struct {
	mu   sync.Mutex
	made map[storeKey]func() (*T, error)
}

func (k *keeping[T]) get(ctx context.Context, r *run, key storeKey, compute func() (*T, error)) (*T, error) {
	k.mu.Lock()
	f := k.made[key]
	if f == nil {
		if k.made == nil {
			k.made = map[storeKey]func() (*T, error){}
		}
		f = sync.OnceValues(func() (*T, error) { return stored(ctx, r, key, compute) })
		k.made[key] = f
	}
	k.mu.Unlock()
	return f()
}

// stored returns what the store has under a key, or computes and stores it.
func stored[T any](ctx context.Context, r *run, key storeKey, compute func() (*T, error)) (*T, error) {
	if r.Store != nil {
		values, err := r.Store.Get(ctx, []storeKey{key})
		if err != nil {
			return nil, fmt.Errorf("store of scores: %w", err)
		}
		value := new(T)
		if values[0] != nil && gob.NewDecoder(bytes.NewReader(values[0])).Decode(value) == nil {
			r.count(func(u *Usage) { u.ReusedStatistics++ })
			return value, nil
		}
		if values[0] != nil {
			r.damaged("")
		}
	}
	value, err := compute()
	if err != nil {
		return nil, err
	}
	r.count(func(u *Usage) { u.ComputedStatistics++ })
	if r.Store == nil {
		return value, nil
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(value); err != nil {
		return nil, fmt.Errorf("store of scores: %w", err)
	}
	if err := r.Store.Put(ctx, []storeKey{key}, [][]byte{b.Bytes()}); err != nil {
		return nil, fmt.Errorf("store of scores: %w", err)
	}
	return value, nil
}

// damaged warns, once a run, that the store is damaged.
func (r *run) damaged(string) {
	r.damage.Do(func() {
		r.warn("the store of scores is damaged: what does not agree with its digest is computed again")
	})
}
