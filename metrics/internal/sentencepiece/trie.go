package sentencepiece

import "errors"

// trie finds the texts that begin another one. Its edges are the slots of one
// hash table, so that pieces take some 20 bytes for each of theirs that they share
// with no other.
type trie struct {
	slots  []edge // a power of two, at most half of them taken
	shift  uint
	values []int32 // by node, -1 for none; node 0 is the root
}

// edge leads from a node by a byte to another node, 0 in a free slot.
type edge struct{ from, to uint32 }

const mostNodes = 1 << 24 // a node and a byte fit 32 bits

func newTrie() *trie {
	return &trie{slots: make([]edge, 1<<10), shift: 32 - 10, values: []int32{-1}}
}

func (t *trie) add(text string, value int32) error {
	at := uint32(0)
	for i := range len(text) {
		next := t.next(at, text[i])
		if next == 0 {
			if next = uint32(len(t.values)); next == mostNodes {
				return errors.New("the pieces are too many, or too long")
			}
			t.values = append(t.values, -1)
			if 2*len(t.values) > len(t.slots) {
				t.grow()
			}
			t.insert(edge{at<<8 | uint32(text[i]), next})
		}
		at = next
	}
	t.values[at] = value
	return nil
}

func (t *trie) slot(from uint32) uint32 { return from * 0x9e3779b1 >> t.shift }

func (t *trie) insert(e edge) {
	mask := uint32(len(t.slots) - 1)
	i := t.slot(e.from)
	for t.slots[i].to != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = e
}

func (t *trie) grow() {
	old := t.slots
	t.slots = make([]edge, 2*len(old))
	t.shift--
	for _, e := range old {
		if e.to != 0 {
			t.insert(e)
		}
	}
}

// next is the node that a byte leads to, or 0.
func (t *trie) next(at uint32, b byte) uint32 {
	from, mask := at<<8|uint32(b), uint32(len(t.slots)-1)
	for i := t.slot(from); ; i = (i + 1) & mask {
		if e := t.slots[i]; e.from == from || e.to == 0 {
			return e.to
		}
	}
}

// longest is the length of the longest text that begins s, or 0. A nil trie has
// no text.
func longest[T string | []byte](t *trie, s T) int {
	if t == nil {
		return 0
	}
	found, at := 0, uint32(0)
	for i := range len(s) {
		if at = t.next(at, s[i]); at == 0 {
			break
		}
		if t.values[at] >= 0 {
			found = i + 1
		}
	}
	return found
}
