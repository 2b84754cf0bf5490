package refract

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
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
	i.segments++
	i.buf = binary.AppendUvarint(i.buf[:0], uint64(s.NumReferences()))
	begin, first := len(i.buf), 0 // the first reference ends where it has one
	add := func(t Text) {
		if i.buf = appendText(i.buf, t); first == 0 {
			first = len(i.buf)
		}
	}
	for _, t := range s.References {
		add(t)
	}
	for k := range s.Variants {
		add(s.Variants[k].Text)
	}
	i.h.Write(i.buf)
	if first == 0 {
		i.first.Write([]byte{0})
		return
	}
	i.first.Write([]byte{1})
	i.first.Write(i.buf[begin:first])
}

func appendText(b []byte, t Text) []byte {
	if !t.Valid {
		return append(b, 0)
	}
	b = append(b, 1)
	b = binary.AppendUvarint(b, uint64(len(t.Value)))
	return append(b, t.Value...)
}

// identityState is an Identity as JSON: the states of its hashes.
type identityState struct {
	References []byte `json:"references"`
	First      []byte `json:"first"`
	Segments   int    `json:"segments"`
}

// MarshalJSON writes the state, for another process that then knows the same set.
func (i *Identity) MarshalJSON() ([]byte, error) {
	all, err := i.h.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return nil, err
	}
	first, err := i.first.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return nil, err
	}
	return json.Marshal(identityState{all, first, i.segments})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (i *Identity) UnmarshalJSON(b []byte) error {
	var state identityState
	if err := json.Unmarshal(b, &state); err != nil {
		return err
	}
	*i = *NewIdentity()
	i.segments = state.Segments
	return errors.Join(i.h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state.References), i.first.(encoding.BinaryUnmarshaler).UnmarshalBinary(state.First))
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
