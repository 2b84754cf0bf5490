package ngram

import "encoding/binary"

// Interner gives every distinct token of a segment a dense id, from 0.
type Interner struct {
	table []entry
	gen   uint32
	arena []byte // bytes of the tokens that are too long for an entry
	n     uint32
}

// entry holds a token of up to eight bytes in word. For a longer one, word is its hash and
// the bytes are in the arena.
type entry struct {
	word   uint64
	offset uint32
	length uint32
	gen    uint32
	id     uint32
}

// NewInterner returns an empty interner.
func NewInterner() *Interner {
	return &Interner{table: make([]entry, 1<<9), gen: 1}
}

// Reset forgets all tokens and keeps the memory.
func (in *Interner) Reset() {
	in.n = 0
	in.arena = in.arena[:0]
	if in.gen++; in.gen == 0 {
		clear(in.table)
		in.gen = 1
	}
}

// Len is the number of distinct tokens.
func (in *Interner) Len() int { return int(in.n) }

// ID returns the id of a token.
func (in *Interner) ID(token []byte) uint32 {
	word := load(token)
	mask := uint64(len(in.table) - 1)
	i := hash(word^uint64(len(token))<<56) >> 32
	for ; ; i++ {
		e := &in.table[i&mask]
		if e.gen != in.gen {
			break
		}
		if e.word == word && int(e.length) == len(token) &&
			(len(token) <= 8 || string(in.arena[e.offset:e.offset+e.length]) == string(token)) {
			return e.id
		}
	}
	e := entry{word: word, length: uint32(len(token)), gen: in.gen, id: in.n}
	if len(token) > 8 {
		e.offset = uint32(len(in.arena))
		in.arena = append(in.arena, token...)
	}
	in.n++
	in.table[i&mask] = e
	if 2*int(in.n) > len(in.table) {
		in.grow()
	}
	return e.id
}

func (in *Interner) grow() {
	old := in.table
	in.table = make([]entry, 2*len(old))
	mask := uint64(len(in.table) - 1)
	for _, e := range old {
		if e.gen != in.gen {
			continue
		}
		i := hash(e.word^uint64(e.length)<<56) >> 32
		for in.table[i&mask].gen == in.gen {
			i++
		}
		in.table[i&mask] = e
	}
}

// load reads a token of up to eight bytes as a number, and hashes a longer one.
func load(b []byte) uint64 {
	if len(b) <= 8 {
		if cap(b) >= 8 {
			// The bytes after the token in its buffer are read and masked away.
			return binary.LittleEndian.Uint64(b[:8]) & masks[len(b)]
		}
		var w uint64
		for i, c := range b {
			w |= uint64(c) << (8 * i)
		}
		return w
	}
	var w uint64
	rest := b
	for ; len(rest) >= 8; rest = rest[8:] {
		w = (w ^ binary.LittleEndian.Uint64(rest)) * 0xff51afd7ed558ccd
		w ^= w >> 29
	}
	return w ^ load(rest)
}

// masks[n] keeps the first n bytes of a word.
var masks = [9]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, 1<<64 - 1}
