// Package oip has what servers and clients of the Open Inference Protocol share: tensors
// in JSON, and as the bytes behind it.
package oip

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Tensor is one in JSON.
type Tensor struct {
	Name       string          `json:"name"`
	Datatype   string          `json:"datatype,omitempty"`
	Shape      []int           `json:"shape,omitempty"`
	Parameters Parameters      `json:"parameters,omitzero"`
	Data       json.RawMessage `json:"data,omitempty"`
}

// Parameters are those of a tensor, or of a request.
type Parameters struct {
	Size   *int  `json:"binary_data_size,omitempty"`   // of the bytes that are its values; nil where JSON has them
	Binary *bool `json:"binary_data,omitempty"`        // whether an output is to be bytes; nil as of all
	All    bool  `json:"binary_data_output,omitempty"` // whether outputs are
}

// JSONLength is the header that says how long the JSON before binary data is.
const JSONLength = "Inference-Header-Content-Length"

// Split parts a body by that header, "" where all is JSON.
func Split(length string, body []byte) (text, raw []byte, err error) {
	if length == "" {
		return body, nil, nil
	}
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > len(body) {
		return nil, nil, fmt.Errorf("the header %s is %.20q for a body of %d bytes", JSONLength, length, len(body))
	}
	return body[:n], body[n:], nil
}

// AppendTexts appends texts as bytes: each with its length before it, in four bytes,
// little-endian.
func AppendTexts(b []byte, texts []string) []byte {
	for _, text := range texts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	return b
}

// Texts reads such bytes. Texts have to be valid UTF-8.
func Texts(b []byte) (texts []string, err error) {
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
