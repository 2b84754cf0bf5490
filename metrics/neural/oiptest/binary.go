package oiptest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// jsonLength is the header of REST's binary tensors.
const jsonLength = "Inference-Header-Content-Length"

// decode reads a request, of which tensors may be binary.
func (s *Server) decode(r *http.Request, q *Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	length := r.Header.Get(jsonLength)
	if s.Binary != (length != "") {
		return fmt.Errorf("the header %s is %q", jsonLength, length)
	}
	var raw []byte
	if s.Binary {
		n, err := strconv.Atoi(length)
		if err != nil || n > len(body) {
			return fmt.Errorf("the header %s is %q for %d bytes", jsonLength, length, len(body))
		}
		body, raw = body[:n], body[n:]
	}
	if err := json.Unmarshal(body, q); err != nil {
		return err
	}
	for i := range q.Inputs {
		t := &q.Inputs[i]
		size, ok := t.Parameters["binary_data_size"].(float64)
		if !ok {
			continue
		}
		if int(size) > len(raw) {
			return errors.New("too few bytes")
		}
		if t.Data, err = values(t.Datatype, raw[:int(size)]); err != nil {
			return err
		}
		raw = raw[int(size):]
	}
	if len(raw) > 0 {
		return errors.New("too many bytes")
	}
	return nil
}

// values reads raw contents, as JSON has them.
func values(datatype string, raw []byte) (out []any, err error) {
	for len(raw) >= 4 {
		word := binary.LittleEndian.Uint32(raw)
		raw = raw[4:]
		if datatype == "INT32" {
			out = append(out, float64(int32(word)))
			continue
		}
		if int(word) > len(raw) {
			break
		}
		out, raw = append(out, string(raw[:word])), raw[word:]
	}
	if len(raw) > 0 {
		return nil, errors.New("the bytes of a tensor are cut")
	}
	return out, nil
}

// rawOf writes raw contents.
func rawOf(t Tensor) []byte {
	var b bytes.Buffer
	switch data := t.Data.(type) {
	case []int32:
		_ = binary.Write(&b, binary.LittleEndian, data)
	case []float32:
		_ = binary.Write(&b, binary.LittleEndian, data)
	case []string:
		for _, text := range data {
			_ = binary.Write(&b, binary.LittleEndian, uint32(len(text)))
			b.WriteString(text)
		}
	}
	return b.Bytes()
}

// send writes an answer by REST.
func (s *Server) send(w http.ResponseWriter, a *Answer) {
	if !s.Binary {
		write(w, a)
		return
	}
	var raw []byte
	for i := range a.Outputs {
		t := &a.Outputs[i]
		data := rawOf(*t)
		t.Parameters, t.Data = map[string]any{"binary_data_size": len(data)}, nil
		raw = append(raw, data...)
	}
	head, _ := json.Marshal(a)
	w.Header().Set(jsonLength, strconv.Itoa(len(head)))
	_, _ = w.Write(append(head, raw...))
}
