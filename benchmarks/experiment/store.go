package experiment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/files"
)

// Store keeps what was computed: scores, statistics and tests. Each is stored under the
// hash of everything it depends on, so that nothing in it is ever out of date, and has a
// digest, so that damage is found and the value computed again. A file that cannot be read
// is set aside, whenever this is noticed.
type Store struct {
	path string
	warn func(message string)

	mu       sync.Mutex
	database *cache.Database // nil once set aside
}

// storeName is the name of the file in the folder of a store.
const storeName = "scores.sqlite"

// StoreFile is the file of a store in a folder.
func StoreFile(dir string) string { return filepath.Join(dir, storeName) }

// OpenStore opens the store in a folder, which it creates if missing. warn is called for
// what cannot be read any more.
func OpenStore(ctx context.Context, dir string, warn func(message string)) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("store of scores: %w", files.CannotCreate(dir, dir, err))
	}
	s := &Store{path: StoreFile(dir), warn: warn}
	var err error
	if s.database, err = cache.Open(ctx, s.path); errors.Is(err, cache.ErrCorrupt) {
		if err = s.setAside(); err == nil {
			s.database, err = cache.Open(ctx, s.path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("store of scores: %w", err)
	}
	return s, nil
}

// setAside renames the file and SQLite's two companions. It replaces a copy left by earlier
// damage, but nothing that may not be a store.
func (s *Store) setAside() error {
	aside := s.path + ".damaged"
	for n := 2; !givesWay(aside); n++ {
		aside = fmt.Sprintf("%s.damaged%d", s.path, n)
	}
	for _, suffix := range []string{"-wal", "-shm", ""} { // a new file must not find an old log
		if err := os.Remove(aside + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Rename(s.path+suffix, aside+suffix); err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	s.warn(fmt.Sprintf("%s is damaged, or no store of scores: it is renamed to %s, and what it held is computed again; delete that file if you do not need it",
		s.path, filepath.Base(aside)))
	return nil
}

// givesWay reports whether a file may be replaced: it does not exist, or is one of
// SQLite's.
func givesWay(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	head := make([]byte, 16)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "SQLite format 3\x00"
}

// do uses the store. If the file turns out to be damaged, it is set aside, and the rest of
// the run goes on without a store.
func (s *Store) do(use func(*cache.Scores) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.database == nil {
		return nil
	}
	err := use(cache.NewScores(s.database))
	if !errors.Is(err, cache.ErrCorrupt) {
		return err
	}
	_ = s.database.Close() // it is damaged
	s.database = nil
	return s.setAside()
}

// Get returns the values of keys, as [cache.Scores.Get] does.
func (s *Store) Get(ctx context.Context, keys [][32]byte) ([][]byte, error) {
	values := make([][]byte, len(keys))
	err := s.do(func(c *cache.Scores) error {
		found, err := c.Get(ctx, keys)
		copy(values, found)
		return err
	})
	return values, err
}

// Put stores values under keys, as [cache.Scores.Put] does.
func (s *Store) Put(ctx context.Context, keys [][32]byte, values [][]byte) error {
	return s.do(func(c *cache.Scores) error { return c.Put(ctx, keys, values) })
}

// Close closes the store. Damage noticed only then is not an error: the next use sets the
// file aside.
func (s *Store) Close() error {
	if s.database == nil {
		return nil
	}
	if err := s.database.Close(); !errors.Is(err, cache.ErrCorrupt) {
		return err
	}
	return nil
}

// Usage is what a run computed and what it found in the store.
type Usage struct {
	ScoredCells, ReusedCells             int // scores of a hypothesis against a reference
	ComputedStatistics, ReusedStatistics int // and tests
}

// String describes it in a line.
func (u Usage) String() string {
	return fmt.Sprintf("scored %d cells, reused %d (stored by earlier runs, or by this one for equal texts); computed %s, reused %d",
		u.ScoredCells, u.ReusedCells, english.Count(u.ComputedStatistics, "statistic", "statistics"), u.ReusedStatistics)
}

// storeKey is the key of a value computed from some parts.
type storeKey = [sha256.Size]byte

func keyOf(parts ...any) storeKey {
	h := sha256.New()
	for _, p := range append([]any{"refract experiment 3", refract.Version}, parts...) {
		fmt.Fprintf(h, "%q\n", fmt.Sprint(p))
	}
	return storeKey(h.Sum(nil))
}

// keeping computes a value once for its key, whoever asks first, unless the store has it.
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

// stored returns the stored value of a key, or computes and stores it.
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
			r.warn(refract.DamagedScores)
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
