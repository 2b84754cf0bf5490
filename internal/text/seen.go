package text

import (
	"hash/maphash"
	"math"
)

// Seen finds repeated ids among millions. It remembers them by a seeded 64-bit hash, and the
// place where each was first added, in about 30 bytes an id. Two different ids with the same
// hash are taken for one; among a million ids this happens with a probability of 3e-8.
type Seen struct {
	seed  maphash.Seed
	first map[uint64]uint32
}

// NewSeen returns a Seen of no ids.
func NewSeen() *Seen { return &Seen{maphash.MakeSeed(), map[uint64]uint32{}} }

// Add adds an id found at a place, such as a line. If the id was added before, it
// returns the first place and true. Places above 2^32 - 1 are returned as 2^32 - 1.
func (s *Seen) Add(id string, at int64) (before int64, again bool) {
	h := maphash.String(s.seed, id)
	first, again := s.first[h]
	if !again {
		s.first[h] = uint32(min(at, math.MaxUint32))
	}
	return int64(first), again
}
