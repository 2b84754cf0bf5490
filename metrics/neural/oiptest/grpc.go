package oiptest

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Start serves REST and gRPC at one local port. Close it.
func Start(s http.Handler) *httptest.Server {
	h := httptest.NewUnstartedServer(s)
	h.Config.Protocols = new(http.Protocols)
	h.Config.Protocols.SetHTTP1(true)
	h.Config.Protocols.SetUnencryptedHTTP2(true)
	h.Start()
	return h
}

const service = "/inference.GRPCInferenceService/"

// serveRPC answers a call of gRPC.
func (s *Server) serveRPC(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
	body, err := io.ReadAll(r.Body)
	message, code := []byte(nil), 3
	if err == nil && len(body) < 5 {
		err = errors.New("no message")
	}
	if err == nil {
		message, code, err = s.rpc(r, strings.TrimPrefix(r.URL.Path, service), body[5:])
	}
	if err != nil {
		w.Header().Set("Grpc-Status", strconv.Itoa(code))
		w.Header().Set("Grpc-Message", url.PathEscape(err.Error()))
		return
	}
	head := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	_, _ = w.Write(append(head, message...))
	w.Header().Set("Grpc-Status", "0")
}

// rpc answers a message; code is the status of an error.
func (s *Server) rpc(r *http.Request, method string, message []byte) (answer []byte, code int, err error) {
	switch method {
	case "ServerReady":
		return protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1), 0, nil
	case "ModelMetadata":
		if name := string(first(message, 1)); name != s.model() {
			return nil, 5, errors.New("unknown model " + name)
		}
		m := s.metadata()
		answer = field(field(field(nil, 1, s.model()), 2, s.version()), 3, "oiptest")
		for i, key := range []string{"inputs", "outputs"} {
			for _, t := range m[key].([]Tensor) {
				answer = field(answer, protowire.Number(4+i), string(head(t)))
			}
		}
		return answer, 0, nil
	case "ModelConfig":
		if s.MaxBatch == 0 {
			return nil, 12, errors.New("unknown method")
		}
		config := protowire.AppendVarint(protowire.AppendTag(nil, 4, protowire.VarintType), uint64(s.MaxBatch))
		return field(nil, 1, string(config)), 0, nil
	case "ModelInfer":
	default:
		return nil, 12, errors.New("unknown method")
	}
	n := int(s.calls.Add(1))
	q := Request{ID: string(first(message, 3))}
	each(message, 5, func(input []byte) {
		t := Tensor{Name: string(first(input, 1)), Datatype: string(first(input, 2))}
		for shape := first(input, 3); len(shape) > 0; {
			v, n := protowire.ConsumeVarint(shape)
			t.Shape, shape = append(t.Shape, int(v)), shape[n:]
		}
		data := []any{}
		each(first(input, 5), 8, func(text []byte) { data = append(data, string(text)) })
		for ints := first(first(input, 5), 2); len(ints) > 0; {
			v, n := protowire.ConsumeVarint(ints)
			data, ints = append(data, float64(int32(v))), ints[n:]
		}
		t.Data = data
		q.Inputs = append(q.Inputs, t)
	})
	if err := s.take(r.Context(), &q); err != nil {
		return nil, 3, err
	}
	a := s.Answer(&q)
	if s.Change != nil {
		s.Change(n, a)
	}
	answer = field(field(field(nil, 1, a.Model), 2, a.Version), 3, a.ID)
	for _, t := range a.Outputs {
		out := head(t)
		if !s.Raw {
			out = field(out, 5, string(contents(t)))
		}
		answer = field(answer, 5, string(out))
	}
	for _, t := range a.Outputs {
		if s.Raw {
			answer = field(answer, 6, string(rawOf(t)))
		}
	}
	return answer, 0, nil
}

// head is the beginning of a tensor.
func head(t Tensor) []byte {
	var shape []byte
	for _, d := range t.Shape {
		shape = protowire.AppendVarint(shape, uint64(d))
	}
	return field(field(field(nil, 1, t.Name), 2, t.Datatype), 3, string(shape))
}

// contents are typed.
func contents(t Tensor) (out []byte) {
	switch data := t.Data.(type) {
	case []int32:
		var packed []byte
		for _, v := range data {
			packed = protowire.AppendVarint(packed, uint64(v))
		}
		out = field(out, 2, string(packed))
	case []float32:
		var packed []byte
		for _, v := range data {
			packed = protowire.AppendFixed32(packed, math.Float32bits(v))
		}
		out = field(out, 6, string(packed))
	case []string:
		for _, text := range data {
			out = field(out, 8, text)
		}
	}
	return out
}

func field(b []byte, number protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), v)
}

// each calls back with the fields of a number that are bytes.
func each(message []byte, number protowire.Number, with func([]byte)) {
	for len(message) > 0 {
		got, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return
		}
		size := protowire.ConsumeFieldValue(got, kind, message[n:])
		if size < 0 {
			return
		}
		if got == number && kind == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(message[n:])
			with(v)
		}
		message = message[n+size:]
	}
}

// first is the first field of a number.
func first(message []byte, number protowire.Number) (out []byte) {
	each(message, number, func(v []byte) {
		if out == nil {
			out = v
		}
	})
	return out
}
