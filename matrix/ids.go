package matrix

import "hash/maphash"

// idSet remembers ids by their hashes, with where they came up. Two ids among
// a million have the same hash with a probability of 3e-8, and would be
// refused.
type idSet struct {
	seed maphash.Seed
	at   map[uint64]int64
}

func newIDSet() idSet { return idSet{maphash.MakeSeed(), map[uint64]int64{}} }

// add reports whether the id was added before, and where.
func (s idSet) add(id string, at int64) (before int64, again bool) {
	h := maphash.String(s.seed, id)
	if before, again = s.at[h]; !again {
		s.at[h] = at
	}
	return before, again
}
