package neural

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// jsonTensor is a tensor in the JSON of a request or an answer.
type jsonTensor struct {
	Name       string          `json:"name"`
	Datatype   string          `json:"datatype,omitempty"`
	Shape      []int           `json:"shape,omitempty"`
	Parameters parameters      `json:"parameters,omitzero"`
	Data       json.RawMessage `json:"data,omitempty"`
}

// parameters are those of a tensor.
type parameters struct {
	Size   *int  `json:"binary_data_size,omitempty"` // of the bytes that are its values; nil where JSON has them
	Binary *bool `json:"binary_data,omitempty"`      // whether an output is to be bytes
}

// jsonLength is the header that says how long the JSON before binary data is.
const jsonLength = "Inference-Header-Content-Length"

// split parts a body by that header, "" where all is JSON.
func split(length string, body []byte) (text, raw []byte, err error) {
	if length == "" {
		return body, nil, nil
	}
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > len(body) {
		return nil, nil, fmt.Errorf("the header %s is %.20q for a body of %d bytes", jsonLength, length, len(body))
	}
	return body[:n], body[n:], nil
}

// appendTexts appends texts as bytes: each with its length before it, in four bytes,
// little-endian.
func appendTexts(b []byte, texts []string) []byte {
	for _, text := range texts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	return b
}

// readTexts reads such bytes. Texts have to be valid UTF-8.
func readTexts(b []byte) (texts []string, err error) {
	for len(b) > 0 {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errors.New("the bytes of a text are cut")
		}
		end := 4 + int(binary.LittleEndian.Uint32(b))
		text := string(b[4:end])
		if !utf8.ValidString(text) {
			return nil, errors.New("a text is not valid UTF-8")
		}
		texts, b = append(texts, text), b[end:]
	}
	return texts, nil
}
