package llmtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Request is what a client sent, as the server reads it.
type Request struct {
	*http.Request        // its Body is read; see Raw
	Raw           []byte // the body as it came
	Chat          bool   // else a legacy completion or embeddings
	Model         string
	Prompt        string    // of a chat, the content of its last message; of embeddings, the first text
	Messages      []Message // of a chat
	Echo          bool      // of a legacy completion
	Texts         []string  // of embeddings
	MaxTokens     int
	Temperature   *float64 // nil where it was not sent
	TopP          *float64
	Stop          []string
	Seed          *int
	Schema        bool // response_format was sent
	// Sample tells the answers to equal prompts apart: the seed where one was
	// sent, else 0, or the number of earlier such answers if the Handler has
	// CountSamples.
	Sample int

	base64     bool // of embeddings
	dimensions int
}

// Handler answers POST /v1/chat/completions, /v1/completions and
// /v1/embeddings, GET /v1/models and /health. The zero Handler is ready; its
// fields are set before the first request. It is safe for concurrent use.
type Handler struct {
	// Key is the bearer token that every request must carry; "" asks for none.
	Key string
	// Answer makes the text of an answer, such as a recorded one, of the
	// request's Prompt or Messages; nil means the function Answer.
	Answer func(*Request) string
	// Decide gives a fault for a request, or nil for a good answer. Queued
	// faults go before it. It may be called concurrently.
	Decide func(*Request) Fault
	// CountSamples numbers the answers to equal prompts without a seed. The
	// count is lost with the Handler, and concurrent calls share it.
	CountSamples bool
	// Models are the models that are listed, and the only ones that answer;
	// none means that any does, and that none is listed.
	Models []string
	// BOS has a legacy completion with echo, which asks for the log-probabilities of
	// the prompt's tokens, begin with a token for the beginning of the sequence.
	BOS bool
	// JSON puts the text of a chat's answer into the object {"text": …} where a
	// schema is asked for; else response_format is ignored.
	JSON bool
	// Dimensions is the length of vectors; 0 means 64.
	Dimensions int
	// Forget keeps no list of requests, for long runs.
	Forget bool
	// Batch is the server's Batch API.
	Batch Batches

	health   atomic.Int32
	mu       sync.Mutex
	calls    int
	byPrompt map[string]int
	answered map[string]int
	faults   []Fault
	perText  map[string][]Fault
	log      []*Request
}

// Fail queues faults for the next requests, one each.
func (h *Handler) Fail(faults ...Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults = append(h.faults, faults...)
}

// FailPrompt queues faults for the next requests with this prompt.
func (h *Handler) FailPrompt(prompt string, faults ...Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.perText == nil {
		h.perText = map[string][]Fault{}
	}
	h.perText[prompt] = append(h.perText[prompt], faults...)
}

// Calls is the number of requests for an answer, faults included.
func (h *Handler) Calls() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls
}

// CallsFor is the number of requests with this prompt, faults included.
func (h *Handler) CallsFor(prompt string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.byPrompt[prompt]
}

// Requests returns all requests for an answer in the order of their arrival.
func (h *Handler) Requests() []*Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.log)
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	path := strings.TrimSuffix(hr.URL.Path, "/")
	if strings.HasPrefix(path, "/v1/files") || strings.HasPrefix(path, "/v1/batches") {
		h.Batch.serve(h, w, hr)
		return
	}
	r := &Request{Request: hr}
	switch path {
	case "/v1/chat/completions":
		r.Chat = true
	case "/v1/completions", "/v1/embeddings":
	case "/health":
		h.serveHealth(w)
		return
	case "/v1/models":
		h.serveModels(w, hr)
		return
	default:
		writeJSON(w, http.StatusNotFound, map[string]any{"detail": "Not Found"})
		return
	}
	// Only a body that was read lets the server notice a client that left.
	raw, err := io.ReadAll(hr.Body)
	if err != nil {
		return
	}
	r.Raw = raw
	problem := r.parse(path == "/v1/embeddings")
	fault := h.take(r)
	switch {
	case fault != nil:
		fault(w, r)
	case hr.Method != http.MethodPost:
		invalid(w, http.StatusMethodNotAllowed, "only POST is answered here")
	case !h.authorized(w, hr):
	case problem != "":
		invalid(w, http.StatusBadRequest, problem)
	case !h.serves(r.Model):
		writeError(w, http.StatusNotFound, "NotFoundError", "model_not_found", fmt.Sprintf("The model `%s` does not exist.", r.Model))
	case r.Texts != nil:
		h.writeVectors(w, r)
	default:
		h.number(r)
		text := Answer(r.Model, r.Prompt, r.Sample)
		if h.Answer != nil {
			text = h.Answer(r)
		}
		if h.JSON && r.Chat && r.Schema {
			text = wrapped(text)
		}
		text, finish := limit(text, r)
		if r.Echo {
			h.writeEcho(w, r, text, finish)
			return
		}
		writeAnswer(w, r, &text, finish)
	}
}

// authorized refuses a request without the key.
func (h *Handler) authorized(w http.ResponseWriter, r *http.Request) bool {
	ok := h.Key == "" || r.Header.Get("Authorization") == "Bearer "+h.Key
	if !ok {
		writeError(w, http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "no valid key was given")
	}
	return ok
}

// parse reads the body; it returns what is wrong with it, or "".
func (r *Request) parse(embed bool) string {
	var body struct {
		Model               string          `json:"model"`
		Prompt              string          `json:"prompt"`
		Messages            []Message       `json:"messages"`
		Input               []string        `json:"input"`
		Format              string          `json:"encoding_format"`
		Dimensions          int             `json:"dimensions"`
		Echo                bool            `json:"echo"`
		MaxTokens           int             `json:"max_tokens"`
		MaxCompletionTokens int             `json:"max_completion_tokens"`
		Temperature         *float64        `json:"temperature"`
		TopP                *float64        `json:"top_p"`
		Stop                []string        `json:"stop"`
		Seed                *int            `json:"seed"`
		ResponseFormat      json.RawMessage `json:"response_format"`
	}
	if err := json.Unmarshal(r.Raw, &body); err != nil {
		return "the body cannot be read: " + err.Error()
	}
	r.Model, r.Prompt, r.Messages, r.Echo = body.Model, body.Prompt, body.Messages, body.Echo && !r.Chat
	if n := len(body.Messages); r.Chat && n > 0 {
		r.Prompt = body.Messages[n-1].Content
	}
	if embed && len(body.Input) > 0 {
		r.Texts, r.Prompt, r.base64, r.dimensions = body.Input, body.Input[0], body.Format == "base64", body.Dimensions
	}
	r.MaxTokens = max(body.MaxTokens, body.MaxCompletionTokens)
	r.Temperature, r.TopP, r.Stop, r.Seed = body.Temperature, body.TopP, body.Stop, body.Seed
	r.Schema = len(body.ResponseFormat) > 0
	if r.Model == "" || r.Prompt == "" && len(body.Messages) == 0 && !embed || embed && r.Texts == nil {
		return "model and prompt, messages or input are required"
	}
	return ""
}

// take counts the request and gives its fault, or nil.
func (h *Handler) take(r *Request) Fault {
	h.mu.Lock()
	h.calls++
	if h.byPrompt == nil {
		h.byPrompt = map[string]int{}
	}
	h.byPrompt[r.Prompt]++
	if !h.Forget {
		h.log = append(h.log, r)
	}
	var fault Fault
	if q := h.perText[r.Prompt]; len(q) > 0 {
		fault, h.perText[r.Prompt] = q[0], q[1:]
	} else if len(h.faults) > 0 {
		fault, h.faults = h.faults[0], h.faults[1:]
	}
	h.mu.Unlock()
	if fault == nil && h.Decide != nil {
		fault = h.Decide(r)
	}
	return fault
}

func (h *Handler) number(r *Request) {
	if r.Seed != nil {
		r.Sample = *r.Seed
		return
	}
	if !h.CountSamples {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.answered == nil {
		h.answered = map[string]int{}
	}
	key := r.Model + "\x00" + r.Prompt
	r.Sample = h.answered[key]
	h.answered[key]++
}

// Answer is the server's answer: a sentence of words that are drawn by the
// model, the prompt and the sample index. Other arguments give another one.
func Answer(model, prompt string, sample int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d", model, prompt, sample))
	rng := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])))
	pick := func(words []string) string { return words[rng.IntN(len(words))] }
	return fmt.Sprintf("The %s %s %s a %s %s (%x).",
		pick(adjectives), pick(nouns), pick(verbs), pick(adjectives), pick(nouns), sum[:4])
}

var (
	adjectives = []string{"quiet", "green", "early", "narrow", "bright", "old", "patient", "northern"}
	nouns      = []string{"river", "teacher", "market", "engine", "garden", "letter", "city", "winter"}
	verbs      = []string{"follows", "describes", "needs", "remembers", "opens", "crosses"}
)

func wrapped(text string) string {
	b, _ := json.Marshal(map[string]string{"text": text})
	return string(b)
}

// limit cuts a text at its first stop string and after MaxTokens words.
func limit(text string, r *Request) (cut, finish string) {
	for _, s := range r.Stop {
		text, _, _ = strings.Cut(text, s)
	}
	words := strings.Fields(text)
	if r.MaxTokens > 0 && len(words) > r.MaxTokens {
		return strings.Join(words[:r.MaxTokens], " "), "length"
	}
	return text, "stop"
}

// writeAnswer writes a good answer; a nil text is written as null. A token is
// a word.
func writeAnswer(w http.ResponseWriter, r *Request, text *string, finish string) {
	writeReasoned(w, r, text, finish, nil)
}

// writeReasoned is writeAnswer with further fields of a chat's message.
func writeReasoned(w http.ResponseWriter, r *Request, text *string, finish string, apart map[string]any) {
	choice := map[string]any{"index": 0, "finish_reason": finish, "logprobs": nil}
	object := "text_completion"
	if r.Chat {
		object = "chat.completion"
		message := map[string]any{"role": "assistant", "content": text}
		maps.Copy(message, apart)
		choice["message"] = message
	} else {
		choice["text"] = text
	}
	out := 0
	if text != nil {
		out = len(strings.Fields(*text))
	}
	in := len(strings.Fields(r.Prompt))
	writeJSON(w, http.StatusOK, map[string]any{
		"id": "test-1", "object": object, "created": 1, "model": r.Model,
		"choices": []any{choice},
		"usage":   map[string]int{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out},
	})
}

func invalid(w http.ResponseWriter, status int, message string) {
	writeError(w, status, "invalid_request_error", "", message)
}

func writeError(w http.ResponseWriter, status int, kind, code, message string) {
	e := map[string]any{"message": message, "type": kind, "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	writeJSON(w, status, map[string]any{"error": e})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that went away is the only error there is.
	_ = json.NewEncoder(w).Encode(v)
}

// SetHealth sets the status of GET /health, which is 200 at first; a server
// without that address has 404.
func (h *Handler) SetHealth(status int) { h.health.Store(int32(status)) }

func (h *Handler) serveHealth(w http.ResponseWriter) {
	w.WriteHeader(cmp.Or(int(h.health.Load()), http.StatusOK))
}

func (h *Handler) serveModels(w http.ResponseWriter, r *http.Request) {
	if !h.authorized(w, r) {
		return
	}
	data := []map[string]any{}
	for _, m := range h.Models {
		data = append(data, map[string]any{"id": m, "object": "model", "created": 1, "owned_by": "test"})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": data})
}

func (h *Handler) serves(model string) bool {
	return len(h.Models) == 0 || slices.Contains(h.Models, model)
}

// Message is a message of a chat.
type Message struct{ Role, Content string }

// Text is what the server's model is given: a legacy completion's prompt, or
// the messages of a chat, each with its role.
func (r *Request) Text() string {
	if !r.Chat {
		return r.Prompt
	}
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Role + ": " + m.Content + "\n")
	}
	return b.String()
}
