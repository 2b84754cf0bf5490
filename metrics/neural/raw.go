package neural

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// appendRaw appends the values of a tensor as bytes: texts with their length before
// them, numbers as they are, little-endian.
func appendRaw(b []byte, t *tensor) []byte {
	for _, text := range t.texts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	for _, v := range t.ints {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// raw reads such bytes.
func (t *received) raw(b []byte) error {
	for len(b) > 0 {
		if len(b) < 4 {
			return fmt.Errorf("gave %q with %d bytes too many", t.name, len(b))
		}
		word := binary.LittleEndian.Uint32(b)
		b = b[4:]
		switch t.datatype {
		case int32Type:
			t.numbers = append(t.numbers, float64(int32(word)))
		case fp32Type:
			t.numbers = append(t.numbers, float64(math.Float32frombits(word)))
		case bytesType:
			if uint64(word) > uint64(len(b)) {
				return fmt.Errorf("gave a text of %q that is cut", t.name)
			}
			if err := t.text(string(b[:word])); err != nil {
				return err
			}
			b = b[word:]
		default:
			return fmt.Errorf("gave %q as %.20q, which no output is", t.name, t.datatype)
		}
	}
	return nil
}

// text takes in a text.
func (t *received) text(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("gave a text that is not valid UTF-8")
	}
	t.texts = append(t.texts, s)
	return nil
}
