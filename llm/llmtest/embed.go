package llmtest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
)

// Vector is the server's vector for a text: a sum of random directions, one
// for each of its runs of three runes, of length 1. Texts that share parts are
// close, and equal texts have equal vectors.
func Vector(text string, dimensions int) []float32 {
	runes := []rune("  " + text + "  ")
	sum := make([]float64, dimensions)
	for i := range len(runes) - 2 {
		h := fnv.New64a()
		_, _ = fmt.Fprint(h, string(runes[i:i+3])) // never fails
		rng := rand.New(rand.NewPCG(h.Sum64(), 0))
		for d := range sum {
			sum[d] += rng.NormFloat64()
		}
	}
	norm := 0.0
	for _, v := range sum {
		norm += v * v
	}
	out := make([]float32, dimensions)
	for d, v := range sum {
		out[d] = float32(v / math.Sqrt(norm))
	}
	return out
}

// embedBody is a request for embeddings.
type embedBody struct {
	Model      string          `json:"model"`
	Input      json.RawMessage `json:"input"`
	Format     string          `json:"encoding_format"`
	Dimensions int             `json:"dimensions"`
}

func (r *Request) parseEmbed() string {
	var body embedBody
	if err := json.Unmarshal(r.Raw, &body); err != nil {
		return "the body cannot be read: " + err.Error()
	}
	r.Model = body.Model
	if json.Unmarshal(body.Input, &r.Texts) != nil {
		var one string
		if json.Unmarshal(body.Input, &one) != nil {
			return "input must be a text or a list of texts"
		}
		r.Texts = []string{one}
	}
	switch {
	case r.Model == "":
		return "model is required"
	case len(r.Texts) == 0:
		return "input is required"
	}
	r.Prompt = r.Texts[0]
	return ""
}

func (h *Handler) writeVectors(w http.ResponseWriter, r *Request) {
	var body embedBody
	_ = json.Unmarshal(r.Raw, &body) // parseEmbed has read it
	size := body.Dimensions
	if size == 0 {
		size = h.Dimensions
	}
	if size == 0 {
		size = 64
	}
	words := 0
	data := make([]map[string]any, len(r.Texts))
	for i, t := range r.Texts {
		words += len(strings.Fields(t))
		v := Vector(t, size)
		data[i] = map[string]any{"object": "embedding", "index": i, "embedding": v}
		if body.Format == "base64" {
			raw := make([]byte, 0, 4*size)
			for _, f := range v {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
			}
			data[i]["embedding"] = base64.StdEncoding.EncodeToString(raw)
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"object": "list", "model": r.Model, "data": data,
		"usage": map[string]int{"prompt_tokens": words, "total_tokens": words},
	})
}
