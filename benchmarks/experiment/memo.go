package experiment

import (
	"crypto/sha256"
	"fmt"
	"sync"
)

// memo computes a value once for a key that hashes all it depends on, however many settings
// ask for it: sets of references, and what settings make of them, can be equal.
type memo[T any] struct{ made sync.Map } // from a memoKey to a func() (*T, error)

func (m *memo[T]) get(key memoKey, compute func() (*T, error)) (*T, error) {
	f, _ := m.made.LoadOrStore(key, sync.OnceValues(compute))
	return f.(func() (*T, error))()
}

type memoKey = [sha256.Size]byte

func keyOf(parts ...any) memoKey {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%q\n", fmt.Sprint(p))
	}
	return memoKey(h.Sum(nil))
}
