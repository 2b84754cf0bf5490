package refract

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"

	"github.com/refract-eval/refract/aggregate"
)

// identityVersion begins the hashed bytes. It changes when the rules change.
const identityVersion = "refract references 1\n"

// Identity computes the content hash of a set of references: a SHA-256 over all
// segments in order. It covers the number and the texts of each segment's references,
// originals first, then variants; a missing text differs from an empty one. It does not
// cover ids, sources, systems, judgements, rejected variants and the origin of
// variants. So every file format that preserves the references preserves the hash,
// and two sets with the same hash give the same scores.
//
// The hashed bytes are the line "refract references 1" including its line feed; for
// each segment the number of its references as a varint of encoding/binary; and for each
// reference a byte 0 if it is missing, otherwise a byte 1, the length of its UTF-8 in bytes
// as a varint, and these bytes.
type Identity struct {
	h        hash.Hash
	first    hash.Hash // over the first references only
	buf      []byte
	segments int
}

// NewIdentity returns the Identity of an empty set.
func NewIdentity() *Identity {
	i := &Identity{h: sha256.New(), first: sha256.New()}
	i.h.Write([]byte(identityVersion))
	i.first.Write([]byte(identityVersion))
	return i
}

// Add adds the next segment.
func (i *Identity) Add(s *Segment) {
	i.buf = AppendReferences(i.buf[:0], s)
	i.AddReferences(i.buf) // cannot fail: they are not cut off
}

// AppendReferences appends the hashed bytes of a segment, for AddReferences.
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

// AddReferences adds the next segment, given the bytes that AppendReferences wrote for it.
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

// firstText returns the bytes of the first text, as appendText wrote them.
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

// Segments returns the number of segments added.
func (i *Identity) Segments() int { return i.segments }

// Hash returns the content hash of the added segments: 64 hexadecimal digits.
func (i *Identity) Hash() string { return hex.EncodeToString(i.h.Sum(nil)) }

// Name returns the first twelve digits of the Hash, which name the set in
// signatures.
func (i *Identity) Name() string { return SetName(i.Hash()) }

// Of returns the name of the references that an aggregator uses: the name of the
// whole set or, for single, of the set of first references. It returns "" for a nil
// Identity.
func (i *Identity) Of(a aggregate.Aggregator) string {
	switch {
	case i == nil:
		return ""
	case a.Single():
		return SetName(hex.EncodeToString(i.first.Sum(nil)))
	}
	return i.Name()
}

// SetName shortens a content hash to the name that signatures state.
func SetName(hash string) string { return hash[:min(12, len(hash))] }
