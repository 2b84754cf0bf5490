package neural

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/refract-eval/refract/llm"
)

// rpc speaks the protocol's gRPC form, which is one HTTP/2 request a call: package
// llm carries it as any other. Field numbers are those of
// open_inference_grpc.proto.
type rpc struct{ model, version string }

// rpcTransport speaks HTTP/2, also where there is no TLS.
func rpcTransport() http.RoundTripper {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, Protocols: new(http.Protocols), DisableCompression: true}
	t.Protocols.SetHTTP2(true)
	t.Protocols.SetUnencryptedHTTP2(true)
	return t
}

var rpcHeader = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}}

// call makes a call of a method; read takes its answer.
func (w *rpc) call(method string, message []byte, read func(server string, message []byte) error) llm.Call {
	content := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	return llm.Call{
		Method: http.MethodPost, Path: "/inference.GRPCInferenceService/" + method, Model: w.model, Most: 1 << 20,
		Header: rpcHeader, Content: append(content, message...),
		Read: func(server string, resp *http.Response, body []byte) error {
			if err := rpcStatus(resp); err != nil {
				return err
			}
			if len(body) < 5 || body[0] != 0 || int64(binary.BigEndian.Uint32(body[1:])) != int64(len(body)-5) {
				return errors.New("gave an answer that is not one message of gRPC")
			}
			return read(server, body[5:])
		},
	}
}

// rpcStatus is the status behind an answer, or before it where there is none.
func rpcStatus(resp *http.Response) error {
	header := resp.Trailer
	if header.Get("Grpc-Status") == "" {
		header = resp.Header
	}
	code, err := strconv.Atoi(header.Get("Grpc-Status"))
	if err != nil {
		return errors.New("gave an answer that is not one of gRPC")
	}
	if code == 0 {
		return nil
	}
	said := header.Get("Grpc-Message")
	if plain, err := url.PathUnescape(said); err == nil {
		said = plain
	}
	status, ok := map[int]int{
		3: http.StatusBadRequest, 4: http.StatusGatewayTimeout, 5: http.StatusNotFound, 7: http.StatusForbidden,
		8: http.StatusTooManyRequests, 9: http.StatusBadRequest, 11: http.StatusBadRequest, 12: http.StatusNotFound,
		14: http.StatusServiceUnavailable, 16: http.StatusUnauthorized,
	}[code]
	switch {
	case !ok:
		status = http.StatusInternalServerError
	case code == 8 && strings.Contains(said, "larger than max"):
		status = http.StatusRequestEntityTooLarge
	}
	return &llm.Refusal{Status: status, Message: said}
}

func (w *rpc) ready() llm.Call {
	return w.call("ServerReady", nil, func(_ string, message []byte) error {
		ready := false
		err := fields(message, func(f field) error {
			ready = ready || f.number == 1 && f.integer == 1
			return nil
		})
		if err == nil && !ready {
			err = &llm.Refusal{Status: http.StatusServiceUnavailable, Message: "it is not ready"}
		}
		return err
	})
}

// named is the beginning of a request about the model.
func (w *rpc) named() []byte { return appendText(appendText(nil, 1, w.model), 2, w.version) }

func (w *rpc) metadata(into *description) llm.Call {
	return w.call("ModelMetadata", w.named(), func(_ string, message []byte) error {
		return fields(message, func(f field) error {
			var err error
			switch f.number {
			case 1:
				into.Name = string(f.bytes)
			case 2:
				into.Versions = append(into.Versions, string(f.bytes))
			case 3:
				into.Platform = string(f.bytes)
			case 4:
				into.Inputs, err = declared(into.Inputs, f.bytes)
			case 5:
				into.Outputs, err = declared(into.Outputs, f.bytes)
			}
			return err
		})
	})
}

func declared(all []declaration, message []byte) ([]declaration, error) {
	var t received
	err := t.head(message)
	return append(all, declaration{t.name, t.datatype, t.shape}), err
}

func (w *rpc) config(into *modelConfig) llm.Call {
	return w.call("ModelConfig", w.named(), func(_ string, message []byte) error {
		return fields(message, func(f field) error {
			if f.number != 1 {
				return nil
			}
			return fields(f.bytes, func(f field) error {
				if f.number == 4 {
					into.MaxBatchSize = int(f.integer)
				}
				return nil
			})
		})
	})
}

func (w *rpc) infer(id string, inputs []tensor, outputs []string, read func(server string, a *answer) error) (llm.Call, error) {
	message := appendText(w.named(), 3, id)
	for _, t := range inputs {
		var shape, contents, ints []byte
		for _, d := range t.shape {
			shape = protowire.AppendVarint(shape, uint64(d))
		}
		for _, text := range t.texts {
			contents = appendBytes(contents, 8, []byte(text))
		}
		for _, v := range t.ints {
			ints = protowire.AppendVarint(ints, uint64(v))
		}
		if ints != nil {
			contents = appendBytes(contents, 2, ints)
		}
		sent := appendText(appendText(nil, 1, t.name), 2, t.datatype)
		message = appendBytes(message, 5, appendBytes(appendBytes(sent, 3, shape), 5, contents))
	}
	for _, name := range outputs {
		message = appendBytes(message, 6, appendText(nil, 1, name))
	}
	return w.call("ModelInfer", message, func(server string, message []byte) error {
		a, err := readRPC(message)
		if err != nil {
			return err
		}
		return read(server, a)
	}), nil
}

// readRPC reads an answer, whose values are in its tensors (KServe), or raw behind
// them (Triton). An error says what the server did wrong.
func readRPC(message []byte) (*answer, error) {
	a := &answer{}
	raw := 0
	err := fields(message, func(f field) error {
		switch f.number {
		case 1:
			a.model = string(f.bytes)
		case 2:
			a.version = string(f.bytes)
		case 3:
			a.id = string(f.bytes)
		case 5:
			var t received
			a.tensors = append(a.tensors, t)
			return a.tensors[len(a.tensors)-1].head(f.bytes)
		case 6:
			if raw++; raw > len(a.tensors) {
				return errors.New("gave values of more outputs than it names")
			}
			return a.tensors[raw-1].raw(f.bytes)
		}
		return nil
	})
	if err == nil && raw > 0 && raw < len(a.tensors) {
		err = fmt.Errorf("gave values of %d outputs, where it names %d", raw, len(a.tensors))
	}
	return a, err
}

// head reads a tensor, or the metadata of one, which begins alike.
func (t *received) head(message []byte) error {
	return fields(message, func(f field) error {
		switch f.number {
		case 1:
			t.name = string(f.bytes)
		case 2:
			t.datatype = string(f.bytes)
		case 3:
			return f.packed(protowire.VarintType, func(v uint64) { t.shape = append(t.shape, int(int64(v))) })
		case 5:
			return fields(f.bytes, t.content)
		}
		return nil
	})
}

// content reads values of a tensor.
func (t *received) content(f field) error {
	switch {
	case f.number == 6 && t.datatype == fp32Type:
		return f.packed(protowire.Fixed32Type, func(v uint64) {
			t.numbers = append(t.numbers, float64(math.Float32frombits(uint32(v))))
		})
	case f.number == 2 && t.datatype == int32Type:
		return f.packed(protowire.VarintType, func(v uint64) { t.numbers = append(t.numbers, float64(int32(v))) })
	case f.number == 8 && t.datatype == bytesType:
		if !utf8.Valid(f.bytes) {
			return errors.New("gave a text that is not valid UTF-8")
		}
		t.texts = append(t.texts, string(f.bytes))
		return nil
	}
	return fmt.Errorf("gave values of %.60q that are not %.20q", t.name, t.datatype)
}

// field is one field of a message.
type field struct {
	number  protowire.Number
	kind    protowire.Type
	integer uint64
	bytes   []byte
}

// fields calls back with the fields of a message.
func fields(message []byte, with func(field) error) error {
	for len(message) > 0 {
		var f field
		var n int
		f.number, f.kind, n = protowire.ConsumeTag(message)
		if n < 0 {
			return errBroken
		}
		message = message[n:]
		switch f.kind {
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(message)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(message)
			f.integer = uint64(v)
		case protowire.VarintType:
			f.integer, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(f.number, f.kind, message)
		}
		if n < 0 {
			return errBroken
		}
		message = message[n:]
		if err := with(f); err != nil {
			return err
		}
	}
	return nil
}

var errBroken = errors.New("gave an answer that is not one of this protocol")

// packed calls back with the numbers of a repeated field, packed or one by one.
func (f field) packed(kind protowire.Type, with func(uint64)) error {
	if f.kind == kind {
		with(f.integer)
		return nil
	}
	if f.kind != protowire.BytesType {
		return errBroken
	}
	for b := f.bytes; len(b) > 0; {
		v, n := uint64(0), 0
		if kind == protowire.Fixed32Type {
			var word uint32
			word, n = protowire.ConsumeFixed32(b)
			v = uint64(word)
		} else {
			v, n = protowire.ConsumeVarint(b)
		}
		if n < 0 {
			return errBroken
		}
		with(v)
		b = b[n:]
	}
	return nil
}

func appendBytes(b []byte, number protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), v)
}

// appendText appends a text; an empty one is none.
func appendText(b []byte, number protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return appendBytes(b, number, []byte(s))
}
