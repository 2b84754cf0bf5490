package neural

import (
	"encoding/binary"
	"fmt"
	"math"
)

// appendRaw appends the values of a tensor as bytes.
func appendRaw(b []byte, t *tensor) []byte {
	b = appendTexts(b, t.texts)
	for _, v := range t.ints {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// raw reads such bytes.
func (t *received) raw(b []byte) error {
	if t.datatype == bytesType {
		texts, err := readTexts(b)
		if err != nil {
			return fmt.Errorf("gave %q, of which %w", t.name, err)
		}
		t.texts = append(t.texts, texts...)
		return nil
	}
	for ; len(b) > 0; b = b[4:] {
		if len(b) < 4 {
			return fmt.Errorf("gave %q with %d bytes too many", t.name, len(b))
		}
		word := binary.LittleEndian.Uint32(b)
		switch t.datatype {
		case int32Type:
			t.numbers = append(t.numbers, float64(int32(word)))
		case fp32Type:
			t.numbers = append(t.numbers, float64(math.Float32frombits(word)))
		default:
			return fmt.Errorf("gave %q as %.20q, which no output is", t.name, t.datatype)
		}
	}
	return nil
}
