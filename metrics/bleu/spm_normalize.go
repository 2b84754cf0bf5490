package bleu

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf8"
)

// normalizer rewrites texts by a model's own rules.
type normalizer struct {
	// units is a double array (Darts) of the texts that are rewritten. The value of a text is
	// the position of its replacement in replacements, which ends with a zero byte.
	units        []uint32
	replacements string
	users        []string // never rewritten; longest first

	dummyPrefix bool // a space before each text
	suffix      bool // or after it
	removeExtra bool // no spaces at the ends, and only one in a row
	escape      bool // write spaces as U+2581
}

// escaped represents a space within pieces.
const escaped = "\u2581"

func (n *normalizer) read(b []byte) error {
	return fields(b, func(tag uint64, v []byte, number uint64) error {
		switch tag {
		case normalizerCharsMap:
			return n.readCharsMap(v)
		case normalizerDummyPrefix:
			n.dummyPrefix = number != 0
		case normalizerRemoveExtra:
			n.removeExtra = number != 0
		case normalizerEscape:
			n.escape = number != 0
		}
		return nil
	})
}

var errCharsMap = errors.New("its normalization rules are damaged")

// readCharsMap reads the size of a double array, the array, and the replacements. It checks
// that no unit points outside of them.
func (n *normalizer) readCharsMap(b []byte) error {
	n.units, n.replacements = nil, ""
	if len(b) == 0 {
		return nil
	}
	if len(b) < 4 {
		return errCharsMap
	}
	size := binary.LittleEndian.Uint32(b)
	b = b[4:]
	if uint64(size) >= uint64(len(b)) || size%4 != 0 || size == 0 || b[len(b)-1] != 0 {
		return errCharsMap
	}
	n.units, n.replacements = make([]uint32, size/4), string(b[size:])
	for i := range n.units {
		n.units[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	if isValue(n.units[0]) {
		return errCharsMap
	}
	for i, u := range n.units {
		if isValue(u) {
			continue
		}
		base := uint32(i) ^ offset(u)
		if int64(base|0xff) >= int64(len(n.units)) || hasValue(u) && int(value(n.units[base])) >= len(n.replacements) {
			return errCharsMap
		}
	}
	return nil
}

// A unit has a label in its lowest byte; then a bit that says whether it has a value, a bit
// that says whether its offset counts in 256s, and the offset. The highest bit marks a unit
// that is itself a value.
func isValue(unit uint32) bool  { return unit>>31 != 0 }
func hasValue(unit uint32) bool { return unit>>8&1 != 0 }
func value(unit uint32) uint32  { return unit &^ (1 << 31) }
func offset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
func label(unit uint32) uint32  { return unit & (1<<31 | 0xff) }

// user returns the length of the user-defined piece at the start of a text, or 0.
func (n *normalizer) user(s string) int {
	for _, u := range n.users {
		if strings.HasPrefix(s, u) {
			return len(u)
		}
	}
	return 0
}

// first returns the replacement of the beginning of a non-empty text, and the length of
// that beginning in bytes.
func (n *normalizer) first(s string) (to string, size int) {
	if size = n.user(s); size > 0 {
		return s[:size], size
	}
	if len(n.units) > 0 {
		at := uint32(0) ^ offset(n.units[0])
		found := uint32(0)
		for i := range len(s) {
			at ^= uint32(s[i])
			u := n.units[at]
			if label(u) != uint32(s[i]) {
				break
			}
			if at ^= offset(u); hasValue(u) {
				size, found = i+1, value(n.units[at])
			}
		}
		if size > 0 {
			to, _, _ = strings.Cut(n.replacements[found:], "\x00")
			return to, size
		}
	}
	if r, size := utf8.DecodeRuneInString(s); r != utf8.RuneError || size == 3 {
		return s[:size], size
	}
	return "\ufffd", 1
}

// normalize writes the normalized text over dst.
func (n *normalizer) normalize(dst []byte, s string) []byte {
	dst = dst[:0]
	for n.removeExtra && s != "" {
		to, size := n.first(s)
		if to != " " {
			break
		}
		s = s[size:]
	}
	if s == "" {
		return dst
	}
	space := " "
	if n.escape {
		space = escaped
	}
	if n.dummyPrefix && !n.suffix {
		dst = append(dst, space...)
	}
	drops := n.removeExtra // drop spaces that follow a space
	for s != "" {
		to, size := n.first(s)
		s = s[size:]
		if drops {
			to = strings.TrimLeft(to, " ")
		}
		for i := range len(to) {
			if to[i] == ' ' {
				dst = append(dst, space...)
			} else {
				dst = append(dst, to[i])
			}
		}
		if to != "" {
			drops = n.removeExtra && to[len(to)-1] == ' '
		}
	}
	for n.removeExtra && bytes.HasSuffix(dst, []byte(space)) {
		dst = dst[:len(dst)-len(space)]
	}
	if n.dummyPrefix && n.suffix {
		dst = append(dst, space...)
	}
	return dst
}
