// Package llmtest is an OpenAI-compatible model server for tests: chat, legacy
// completions and embeddings, answers derived from the request alone or made by
// the test, log-probabilities of prompts in the forms of several servers, calls
// counted per prompt and kept in order, faults to order and a list of models. It also
// has [OIP], a server of the Open Inference Protocol, and answers the
// prompts of refract build.
//
// [NewServer] listens on a local port. [Handler] is the server without a
// port, for a program of its own or for a test's setup; its Transport serves
// without any network, so that a test in a synctest bubble controls the time.
package llmtest

import (
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
)

// Request is what a client sent, as the server reads it.
type Request struct {
	*http.Request `json:"-"` // its Body is read; see Raw
	Raw           []byte     `json:"-"` // the body as it came
	Chat          bool       `json:"-"` // else a legacy completion or embeddings
	// Sample tells the answers to equal prompts apart: the seed where one was
	// sent, else 0, or the number of earlier such answers if the Handler has
	// CountSamples.
	Sample int `json:"-"`

	Model               string          `json:"model"`
	Prompt              string          `json:"prompt"`   // of a chat, the content of its last message; of embeddings, the first text
	Messages            []Message       `json:"messages"` // of a chat
	Echo                bool            `json:"echo"`     // of a legacy completion
	Texts               []string        `json:"input"`    // of embeddings
	MaxTokens           int             `json:"max_tokens"`
	MaxCompletionTokens int             `json:"max_completion_tokens"`
	Temperature         *float64        `json:"temperature"` // nil where it was not sent
	TopP                *float64        `json:"top_p"`
	Stop                []string        `json:"stop"`
	Seed                *int            `json:"seed"`
	ResponseFormat      json.RawMessage `json:"response_format"`
	EncodingFormat      string          `json:"encoding_format"`
	Dimensions          int             `json:"dimensions"`
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
	case "/v1/models":
		if h.authorized(w, hr) {
			h.writeModels(w)
		}
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
	case len(h.Models) > 0 && !slices.Contains(h.Models, r.Model):
		writeError(w, http.StatusNotFound, "NotFoundError", "model_not_found", fmt.Sprintf("The model `%s` does not exist.", r.Model))
	case r.Texts != nil:
		h.writeVectors(w, r)
	default:
		h.number(r)
		text := Answer(r.Model, r.Prompt, r.Sample)
		if h.Answer != nil {
			text = h.Answer(r)
		}
		if h.JSON && r.Chat && strings.Contains(string(r.ResponseFormat), `"text"`) {
			b, _ := json.Marshal(map[string]string{"text": text})
			text = string(b)
		}
		text, finish := limit(text, r)
		if r.Echo {
			h.writeEcho(w, r, text, finish)
			return
		}
		writeAnswer(w, r, &text, finish, nil)
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
	if err := json.Unmarshal(r.Raw, r); err != nil {
		return "the body cannot be read: " + err.Error()
	}
	switch n := len(r.Messages); {
	case embed && len(r.Texts) > 0:
		r.Prompt = r.Texts[0]
	case r.Chat && n > 0:
		r.Prompt = r.Messages[n-1].Content
	case embed || r.Prompt == "":
		return "model and prompt, messages or input are required"
	}
	r.MaxTokens = max(r.MaxTokens, r.MaxCompletionTokens)
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

// writeAnswer writes a good answer, perhaps with further fields of a chat's message; a nil
// text is written as null. A token is a word.
func writeAnswer(w http.ResponseWriter, r *Request, text *string, finish string, apart map[string]any) {
	choice := map[string]any{"index": 0, "finish_reason": finish, "logprobs": nil}
	object, out := "text_completion", 0
	if r.Chat {
		object = "chat.completion"
		message := map[string]any{"role": "assistant", "content": text}
		maps.Copy(message, apart)
		choice["message"] = message
	} else {
		choice["text"] = text
	}
	if text != nil {
		out = len(strings.Fields(*text))
	}
	writeChoice(w, r, object, choice, len(strings.Fields(r.Prompt)), out)
}

func writeChoice(w http.ResponseWriter, r *Request, object string, choice map[string]any, in, out int) {
	writeJSON(w, http.StatusOK, map[string]any{
		"id": "test-1", "object": object, "created": 1, "model": r.Model, "choices": []any{choice},
		"usage": map[string]int{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out},
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

func (h *Handler) writeModels(w http.ResponseWriter) {
	data := []map[string]any{}
	for _, m := range h.Models {
		data = append(data, map[string]any{"id": m, "object": "model", "created": 1, "owned_by": "test"})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": data})
}
