package ter

import (
	"bytes"
	"hash/maphash"
)

// vocabulary numbers the distinct words of a block in the order in which they
// come, from 0. It is a hash table over one byte arena, because a map would
// allocate a string for every new word of every block.
type vocabulary struct {
	seed   maphash.Seed
	slots  []int32 // open addressing: number + 1, 0 where free; a power of two
	hashes []uint64
	ends   []int // of the words in arena
	arena  []byte
}

func newVocabulary() *vocabulary {
	return &vocabulary{seed: maphash.MakeSeed(), slots: make([]int32, 1024)}
}

// reset forgets all words and keeps the memory.
func (v *vocabulary) reset() {
	clear(v.slots)
	v.hashes, v.ends, v.arena = v.hashes[:0], v.ends[:0], v.arena[:0]
}

func (v *vocabulary) len() int { return len(v.ends) }

func (v *vocabulary) word(id int32) []byte {
	start := 0
	if id > 0 {
		start = v.ends[id-1]
	}
	return v.arena[start:v.ends[id]]
}

// id returns the number of a word, a new one where needed.
func (v *vocabulary) id(word []byte) int32 {
	hash := maphash.Bytes(v.seed, word)
	slot := v.find(hash, word)
	if n := v.slots[slot]; n != 0 {
		return n - 1
	}
	n := int32(v.len())
	v.hashes = append(v.hashes, hash)
	v.arena = append(v.arena, word...)
	v.ends = append(v.ends, len(v.arena))
	v.slots[slot] = n + 1
	if 2*v.len() > len(v.slots) {
		v.grow()
	}
	return n
}

// find returns the slot of a word, or the free one where it belongs.
func (v *vocabulary) find(hash uint64, word []byte) int {
	mask := len(v.slots) - 1
	slot := int(hash) & mask
	for {
		n := v.slots[slot]
		if n == 0 || v.hashes[n-1] == hash && bytes.Equal(v.word(n-1), word) {
			return slot
		}
		slot = (slot + 1) & mask
	}
}

func (v *vocabulary) grow() {
	v.slots = make([]int32, 2*len(v.slots))
	mask := len(v.slots) - 1
	for id, hash := range v.hashes {
		slot := int(hash) & mask
		for v.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		v.slots[slot] = int32(id) + 1
	}
}
