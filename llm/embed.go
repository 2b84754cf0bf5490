package llm

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	openai "github.com/sashabaranov/go-openai"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
)

// EmbedRequest requests the vectors of texts (POST {base}/embeddings).
type EmbedRequest struct {
	Model string
	Texts []string // at least one; none may be empty, all must be valid UTF-8
	// Dimensions is the requested length of vectors, for models that offer a choice; 0 leaves
	// it to the model.
	Dimensions int
}

// EmbedResponse holds one vector for each text, in the order of the texts.
type EmbedResponse struct {
	// Vectors all have the same length, at least 1, and only finite numbers. The vector of a text for
	// which the server gave others is nil; at least one is not.
	Vectors      [][]float32
	PromptTokens int    // the server's count, 0 if it gave none
	Model        string // the server's name of the model, "" if it gave none
}

// Embed requests the vectors of texts. It returns the same errors as Complete.
func (c *Client) Embed(ctx context.Context, req EmbedRequest) (EmbedResponse, error) {
	c.await(ctx, req.Model)
	if err := checkEmbed(req); err != nil {
		return EmbedResponse{}, c.transport.notCalled(err)
	}
	return adapting(&c.unpacked, req.Model, func(e *Error) bool { return e.noBase64 }, func(unpacked bool) (EmbedResponse, error) {
		return c.embed(ctx, &req, unpacked)
	})
}

const (
	encodingFormat = "encoding_format"
	base64Format   = "base64"
)

// embed requests vectors as base64 or, if unpacked is set, in the server's default form.
func (c *Client) embed(ctx context.Context, req *EmbedRequest, unpacked bool) (EmbedResponse, error) {
	asked := openai.EmbeddingRequest{Input: req.Texts, Model: openai.EmbeddingModel(req.Model), Dimensions: req.Dimensions}
	if !unpacked {
		asked.EncodingFormat = base64Format
	}
	content, err := json.Marshal(asked)
	if err != nil {
		return EmbedResponse{}, c.transport.notCalled(err)
	}
	var vectors EmbedResponse
	read := func(s *server, body []byte) (e *Error) {
		vectors, e = s.readVectors(req, body)
		return e
	}
	if err = c.transport.do(ctx, &Call{Method: http.MethodPost, Path: "/embeddings", Model: req.Model, Content: content, read: read}); err != nil {
		if e, ok := errors.AsType[*Error](err); ok && e.Kind == ErrContextLength {
			e.Hint = "shorten the text, or ask a model that takes longer ones" // no answer takes room here
		}
		return EmbedResponse{}, err
	}
	return vectors, nil
}

func checkEmbed(req EmbedRequest) error {
	switch {
	case len(req.Texts) == 0:
		return errors.New("there is no text to embed")
	case req.Dimensions < 0:
		return fmt.Errorf("the number of dimensions is %d; it must not be negative", req.Dimensions)
	}
	for i, t := range req.Texts {
		switch {
		case t == "":
			return fmt.Errorf("text %d of %d is empty", i+1, len(req.Texts))
		case !utf8.ValidString(t):
			return fmt.Errorf("text %d of %d is not valid UTF-8, and would reach the server changed", i+1, len(req.Texts))
		}
	}
	return checkModel(req.Model)
}

// datum is a vector in an answer of the embeddings endpoint.
type datum struct {
	Index     *int   `json:"index"` // some servers omit 0, or all indexes
	Embedding vector `json:"embedding"`
}

// vector is a list of numbers, or the base64 of little-endian 32-bit floats. The client
// requests base64, which is exact and fast to read; servers that do not support it send
// numbers. Null, alone or among them, makes a vector of NaN.
type vector []float32

// UnmarshalJSON parses either form.
func (v *vector) UnmarshalJSON(b []byte) error {
	if b[0] != '"' {
		err := json.Unmarshal(b, (*[]float32)(v))
		var beyond *json.UnmarshalTypeError // a number that no float32 can hold
		if errors.As(err, &beyond) && strings.HasPrefix(beyond.Value, "number ") || bytes.Contains(b, []byte("null")) {
			*v, err = vector{float32(math.NaN())}, nil
		}
		return err
	}
	var raw []byte // encoding/json decodes base64 into bytes
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	if len(raw)%4 != 0 {
		return base64.CorruptInputError(len(raw))
	}
	*v = make(vector, len(raw)/4)
	for i := range *v {
		(*v)[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return nil
}

// readVectors parses the body of a 200, and assigns each vector to its text.
func (s *server) readVectors(req *EmbedRequest, body []byte) (out EmbedResponse, f *Error) {
	var a struct {
		answerHead
		Data []datum `json:"data"`
	}
	body = jsonline.Finite(body)
	if f := s.decode(req.Model, body, &a, &a.answerHead); f != nil {
		return out, f
	}
	out = EmbedResponse{Vectors: make([][]float32, len(req.Texts)), Model: jsonText(a.Model), PromptTokens: a.Usage.PromptTokens}
	if len(a.Data) != len(out.Vectors) {
		return out, s.badShape(body, fmt.Sprintf("gave %s for %s", english.Count(len(a.Data), "vector"), english.Count(len(out.Vectors), "text")))
	}
	size := req.Dimensions
	numbered := false
	for i, d := range a.Data {
		numbered = numbered || d.Index != nil
		if slices.ContainsFunc(d.Embedding, func(v float32) bool { return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) }) {
			a.Data[i].Embedding = nil
		} else if size == 0 {
			size = len(d.Embedding)
		}
	}
	if size == 0 && !slices.ContainsFunc(a.Data, func(d datum) bool { return d.Embedding != nil }) {
		return out, s.badShape(body, "gave no vector of finite numbers")
	}
	given := make([]bool, len(out.Vectors))
	for i, d := range a.Data {
		switch {
		case d.Index != nil:
			i = *d.Index
		case numbered:
			i = 0
		}
		switch {
		case i < 0 || i >= len(out.Vectors) || given[i]:
			return out, s.badShape(body, "gave vectors that do not match the texts one by one")
		case d.Embedding != nil && (len(d.Embedding) == 0 || len(d.Embedding) != size):
			return out, s.badShape(body, fmt.Sprintf("gave a vector of %s instead of %d", english.Count(len(d.Embedding), "number"), max(1, size)))
		}
		out.Vectors[i], given[i] = d.Embedding, true
	}
	return out, s.repeats(req.Model, out.Model)
}
