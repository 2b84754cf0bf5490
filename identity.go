package refract

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
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
	i.buf = AppendReferences(i.buf[:0], s)
	i.AddReferences(i.buf) // which are whole
}

// AppendReferences appends what is hashed of a segment, for AddReferences.
func AppendReferences(b []byte, s *Segment) []byte {
	b = binary.AppendUvarint(b, uint64(s.NumReferences()))
	for _, t := range s.References {
		b = appendText(b, t)
	}
	for k := range s.Variants {
		b = appendText(b, s.Variants[k].Text)
	}
	return b
}

func appendText(b []byte, t Text) []byte {
	if !t.Valid {
		return append(b, 0)
	}
	b = append(b, 1)
	b = binary.AppendUvarint(b, uint64(len(t.Value)))
	return append(b, t.Value...)
}

// AddReferences takes in the next segment by what AppendReferences gave of it.
func (i *Identity) AddReferences(b []byte) error {
	n, at := binary.Uvarint(b)
	first, ok := firstText(b[max(0, at):])
	if at <= 0 || n > 0 && !ok {
		return errors.New("the references of a segment are cut off or damaged")
	}
	i.segments++
	i.h.Write(b)
	if n == 0 {
		i.first.Write([]byte{0})
		return nil
	}
	i.first.Write([]byte{1})
	i.first.Write(first)
	return nil
}

// firstText is the first text that appendText appended.
func firstText(b []byte) (text []byte, ok bool) {
	if len(b) == 0 || b[0] == 0 {
		return b[:min(1, len(b))], len(b) > 0
	}
	size, n := binary.Uvarint(b[1:])
	end := 1 + n
	if n <= 0 || size > uint64(len(b)-end) {
		return nil, false
	}
	return b[:end+int(size)], true
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
