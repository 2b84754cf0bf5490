// Package llmtest is an OpenAI-compatible model server for tests. It serves chat, legacy
// completions, embeddings and a list of models. Answers depend only on the request, or come
// from the test. It returns log-probabilities of prompts in the forms of several servers,
// records and counts calls, and injects faults. It also has [OIP], a server of the Open
// Inference Protocol, and can answer the prompts of refract build.
//
// [NewServer] listens on a local port. [Handler] is the server without a port, for a
// separate program or a test's own setup; its Transport serves without any network, so that
// a test in a synctest bubble controls the time.
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

// Request is a client's request as the server parsed it.
type Request struct {
	*http.Request `json:"-"` // its Body is read; see Raw
	Raw           []byte     `json:"-"` // the unchanged body
	Chat          bool       `json:"-"` // otherwise a legacy completion or embeddings
	messages      bool       // a chat in Anthropic's form
	handler       *Handler   // of a request to the Batch API
	// Sample distinguishes answers to equal prompts: it is the seed if one was sent,
	// otherwise 0, or the number of earlier such answers if the Handler has CountSamples.
	Sample int `json:"-"`

	Model               string          `json:"model"`
	Prompt              string          `json:"prompt"`   // of a chat, the content of its last message; of embeddings, the first text
	Messages            []Message       `json:"messages"` // of a chat
	Echo                bool            `json:"echo"`     // of a legacy completion
	Texts               []string        `json:"input"`    // of embeddings
	MaxTokens           int             `json:"max_tokens"`
	MaxCompletionTokens int             `json:"max_completion_tokens"`
	Temperature         *float64        `json:"temperature"` // nil if it was not sent
	TopP                *float64        `json:"top_p"`
	Stop                []string        `json:"stop"`
	Seed                *int            `json:"seed"`
	ResponseFormat      json.RawMessage `json:"response_format"`
	EncodingFormat      string          `json:"encoding_format"`
	Dimensions          int             `json:"dimensions"`
}

// Message is a message of a chat.
type Message struct{ Role, Content string }

// Text returns the input of the server's model: the prompt of a legacy completion, or the
// messages of a chat, each with its role.
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

// Handler answers POST /v1/chat/completions, /v1/completions, /v1/embeddings and Anthropic's
// /v1/messages, and GET /v1/models. The zero Handler is ready for use; its fields must be set before the
// first request. It is safe for concurrent use.
type Handler struct {
	// Key is the bearer token that every request must have; "" requires none.
	Key string
	// Answer returns the text of an answer to a request, such as a recorded one; nil means
	// the function Answer.
	Answer func(*Request) string
	// Decide returns a fault for a request, or nil for a good answer. Queued faults take
	// precedence. It may be called concurrently.
	Decide func(*Request) Fault
	// CountSamples numbers the answers to equal prompts without a seed. The count belongs to
	// the Handler, and concurrent calls share it.
	CountSamples bool
	// Models are the models that are listed, and the only ones that answer. If it is empty,
	// none is listed and any model answers.
	Models []string
	// BOS adds a beginning-of-sequence token before the prompt's tokens in answers to a
	// legacy completion with echo, which returns their log-probabilities.
	BOS bool
	// Old makes /v1/messages take temperature or top_p, as older models do.
	Old bool
	// JSON wraps the text of a chat's answer in the object {"text": …} if the request has a
	// schema; otherwise response_format is ignored.
	JSON bool
	// Dimensions is the number of dimensions of vectors; 0 means 64.
	Dimensions int
	// Forget disables the list of requests and the counts by prompt, for long runs.
	Forget bool
	// Batch is the server's Batch API.
	Batch Batches

	mu       sync.Mutex
	calls    int
	answered map[string]int
	faults   map[string][]Fault // by prompt; "" for any
	log      []*Request
}

// Fail queues faults for the next requests, one each.
func (h *Handler) Fail(faults ...Fault) { h.FailPrompt("", faults...) }

// FailPrompt queues faults for the next requests with this prompt.
func (h *Handler) FailPrompt(prompt string, faults ...Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.faults == nil {
		h.faults = map[string][]Fault{}
	}
	h.faults[prompt] = append(h.faults[prompt], faults...)
}

// Calls returns the number of requests for an answer, faults included.
func (h *Handler) Calls() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls
}

// CallsFor returns the number of requests with this prompt, faults included.
func (h *Handler) CallsFor(prompt string) (n int) {
	for _, r := range h.Requests() {
		if r.Prompt == prompt {
			n++
		}
	}
	return n
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
	case "/v1/messages":
		r.Chat, r.messages = true, true
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
	// The server notices that a client disconnected only after reading the body.
	raw, err := io.ReadAll(hr.Body)
	if err != nil {
		return
	}
	r.Raw = raw
	problem := r.parse(path == "/v1/embeddings")
	if r.messages {
		problem = r.refusedMessages(h.Old, h.JSON)
	}
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

// authorized reports whether a request has the key, and answers 401 if not.
func (h *Handler) authorized(w http.ResponseWriter, r *http.Request) bool {
	name, value := "Authorization", "Bearer "+h.Key
	if r.URL.Path == "/v1/messages" {
		name, value = "X-Api-Key", h.Key
	}
	ok := h.Key == "" || r.Header.Get(name) == value
	if !ok {
		writeError(w, http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "no valid key was given")
	}
	return ok
}

// parse parses the body. It returns what is wrong with it, or "".
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

// take counts the request and returns its fault, or nil.
func (h *Handler) take(r *Request) Fault {
	h.mu.Lock()
	h.calls++
	if !h.Forget {
		h.log = append(h.log, r)
	}
	var fault Fault
	for _, prompt := range []string{r.Prompt, ""} {
		if q := h.faults[prompt]; fault == nil && len(q) > 0 {
			fault, h.faults[prompt] = q[0], q[1:]
		}
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

// Answer returns the server's answer: a sentence of words drawn by the model, the prompt and
// the sample index. Different arguments give different answers.
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

// limit cuts a text at the first stop string, and after MaxTokens words.
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

// writeAnswer writes a good answer, with further fields of a chat's message if apart is not
// empty. A nil text is written as null. Each word counts as a token.
func writeAnswer(w http.ResponseWriter, r *Request, text *string, finish string, apart map[string]any) {
	if r.messages {
		writeMessage(w, r, *text, finish)
		return
	}
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
	// The only possible error is that the client disconnected.
	_ = json.NewEncoder(w).Encode(v)
}

func (h *Handler) writeModels(w http.ResponseWriter) {
	data := []map[string]any{}
	for _, m := range h.Models {
		data = append(data, map[string]any{"id": m, "object": "model", "created": 1, "owned_by": "test"})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": data})
}
