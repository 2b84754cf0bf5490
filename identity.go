package refract

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"github.com/refract-eval/refract/aggregate"
)

// identityVersion begins what is hashed. It changes when the rules do.
const identityVersion = "refract references 1\n"

// Identity computes the content hash of a set of references: SHA-256 over all
// segments in order, and of each over the number and the texts of its
// references, the originals and then the variants. A missing text is not an
// empty one. Ids, sources, systems, judgements, rejected variants and the
// origin of variants do not count, so that every format that keeps the
// references keeps the hash, and two sets with the same hash give the same
// scores.
//
// The hashed bytes are the line "refract references 1" with its end; for each
// segment the number of its references as a varint of encoding/binary; and for
// each reference a byte 0 where it is missing, or a byte 1, the length of its
// UTF-8 in bytes as a varint, and these bytes.
type Identity struct {
	h        hash.Hash
	first    hash.Hash // of the first references alone
	buf      []byte
	segments int
}

// NewIdentity returns the Identity of a set without a segment so far.
func NewIdentity() *Identity {
	i := &Identity{h: sha256.New(), first: sha256.New()}
	i.h.Write([]byte(identityVersion))
	i.first.Write([]byte(identityVersion))
	return i
}

// Add takes in the next segment.
func (i *Identity) Add(s *Segment) {
	i.segments++
	i.add(i.h, s, s.NumReferences())
	i.add(i.first, s, min(1, s.NumReferences()))
}

// add hashes the first n references of a segment.
func (i *Identity) add(h hash.Hash, s *Segment, n int) {
	i.buf = binary.AppendUvarint(i.buf[:0], uint64(n))
	for k := range n {
		if k < len(s.References) {
			i.text(s.References[k])
		} else {
			i.text(s.Variants[k-len(s.References)].Text)
		}
	}
	h.Write(i.buf)
}

func (i *Identity) text(t Text) {
	if !t.Valid {
		i.buf = append(i.buf, 0)
		return
	}
	i.buf = append(i.buf, 1)
	i.buf = binary.AppendUvarint(i.buf, uint64(len(t.Value)))
	i.buf = append(i.buf, t.Value...)
}

// Segments is how many segments were added.
func (i *Identity) Segments() int { return i.segments }

// Hash returns the content hash of what was added: 64 hexadecimal digits.
func (i *Identity) Hash() string { return hex.EncodeToString(i.h.Sum(nil)) }

// Name returns the first twelve digits of the Hash: what the signature of a
// score calls the set.
func (i *Identity) Name() string { return SetName(i.Hash()) }

// Of returns the name of the references that an aggregator uses: that of the
// whole set or, where it is single, of the set that the first references alone
// make. It is "" of a nil Identity.
func (i *Identity) Of(a aggregate.Aggregator) string {
	switch {
	case i == nil:
		return ""
	case a.Single():
		return SetName(hex.EncodeToString(i.first.Sum(nil)))
	}
	return i.Name()
}

// SetName shortens a content hash to what signatures state.
func SetName(hash string) string { return hash[:min(12, len(hash))] }
