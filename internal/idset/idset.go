// Package idset finds repeated ids among millions.
package idset

import (
	"hash/maphash"
	"math"
)

// Set remembers ids by 64 bits of a seeded hash, and where each came up first,
// in some 20 bytes an id. Two different ids among a million have the same hash
// with a probability of 3e-8, whatever they are, and would be taken for one.
type Set struct {
	seed   maphash.Seed
	shards [256]table
}

// table is a hash table with open addressing. The shards grow one by one, so
// that there is never room for all ids twice.
type table struct {
	hashes []uint64 // 0 where the place is free
	at     []uint32
	n      int
}

// New returns an empty Set.
func New() *Set { return &Set{seed: maphash.MakeSeed()} }

// Add adds an id that came up at a place, such as a line. Where it was added
// before, it returns that place; places above 2^32 - 1 are told as that.
func (s *Set) Add(id string, at int64) (before int64, again bool) {
	h := max(1, maphash.String(s.seed, id))
	return s.shards[h>>56].add(h, uint32(min(at, math.MaxUint32)))
}

func (t *table) add(h uint64, at uint32) (before int64, again bool) {
	if t.n >= len(t.hashes)*3/4 {
		t.grow()
	}
	i := t.find(h)
	if t.hashes[i] == h {
		return int64(t.at[i]), true
	}
	t.hashes[i], t.at[i] = h, at
	t.n++
	return 0, false
}

// find returns the place of a hash, or the free place for it.
func (t *table) find(h uint64) int {
	mask := len(t.hashes) - 1
	i := int(h) & mask
	for t.hashes[i] != 0 && t.hashes[i] != h {
		i = (i + 1) & mask
	}
	return i
}

func (t *table) grow() {
	old := *t
	size := max(8, 2*len(old.hashes))
	t.hashes, t.at = make([]uint64, size), make([]uint32, size)
	for i, h := range old.hashes {
		if h != 0 {
			k := t.find(h)
			t.hashes[k], t.at[k] = h, old.at[i]
		}
	}
}
