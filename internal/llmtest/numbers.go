package llmtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
)

// Vector returns the server's vector for a text: a sum of random directions, one for each run of
// three runes, scaled to norm 1. Texts that share parts are close, and equal texts have equal
// vectors.
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

func (h *Handler) writeVectors(w http.ResponseWriter, r *Request) {
	size := cmp.Or(r.Dimensions, h.Dimensions, 64)
	words := 0
	data := make([]map[string]any, len(r.Texts))
	for i, t := range r.Texts {
		words += len(strings.Fields(t))
		v := Vector(t, size)
		data[i] = map[string]any{"object": "embedding", "index": i, "embedding": v}
		if r.EncodingFormat == "base64" {
			raw, _ := binary.Append(nil, binary.LittleEndian, v)
			data[i]["embedding"] = raw // JSON encodes it as base64
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"object": "list", "model": r.Model, "data": data,
		"usage": map[string]int{"prompt_tokens": words, "total_tokens": words},
	})
}

// Tokens returns the tokens of a text for this package's servers. A token is a run of letters and
// digits, with the space before it if there is one, or any other character.
func Tokens(text string) []string { return tokens.FindAllString(text, -1) }

var tokens = regexp.MustCompile(` ?[\pL\p{Nd}]+|(?s:.)`)

// Logprob returns the log-probability, below 0, of a token after a text. Different arguments
// give different values.
func Logprob(model, before, token string) float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", model, before, token))
	u := (float64(binary.LittleEndian.Uint32(sum[:])) + 1) / (1 << 33)
	return math.Round(math.Log(u)*1e4) / 1e4
}

// writeEcho answers a request for the log-probabilities of its prompt.
func (h *Handler) writeEcho(w http.ResponseWriter, r *Request, text, finish string) {
	tokens := Tokens(r.Prompt)
	values := make([]any, len(tokens)) // the first one stays null
	before := ""
	for i, token := range tokens {
		if i > 0 || h.BOS {
			values[i] = Logprob(r.Model, before, token)
		}
		before += token
	}
	if h.BOS {
		tokens, values = append([]string{"<s>"}, tokens...), append([]any{nil}, values...)
	}
	choice := map[string]any{"index": 0, "finish_reason": finish, "text": r.Prompt + text, "logprobs": map[string]any{
		"tokens": append(tokens, text), "token_logprobs": append(values, -0.5), "top_logprobs": nil,
	}}
	writeChoice(w, r, "text_completion", choice, len(tokens), 1)
}
