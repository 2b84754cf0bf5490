// Package idset finds repeated ids among millions.
package idset

import (
	"hash/maphash"
	"math"
)

// Set remembers ids by 64 bits of a seeded hash, and where each came up first,
// in some 30 bytes an id. Two different ids among a million have the same hash
// with a probability of 3e-8, whatever they are, and would be taken for one.
type Set struct {
	seed  maphash.Seed
	first map[uint64]uint32
}

// New returns an empty Set.
func New() *Set { return &Set{maphash.MakeSeed(), map[uint64]uint32{}} }

// Add adds an id that came up at a place, such as a line. Where it was added
// before, it returns that place; places above 2^32 - 1 are told as that.
func (s *Set) Add(id string, at int64) (before int64, again bool) {
	h := maphash.String(s.seed, id)
	first, again := s.first[h]
	if !again {
		s.first[h] = uint32(min(at, math.MaxUint32))
	}
	return int64(first), again
}
