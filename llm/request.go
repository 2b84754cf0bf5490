package llm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract/internal/jsonline"
)

// Endpoint is a kind of call. Its name is also the kind of its requests in a store.
type Endpoint string

// The endpoints of Complete. Tuned base models usually have no chat template and answer only
// Completions. A 1 of Temperature or TopP is not sent to Messages, where it is the default.
const (
	Chat        Endpoint = "chat"        // POST {base}/chat/completions, a prompt as one user message
	Completions Endpoint = "completions" // POST {base}/completions
	Messages    Endpoint = "messages"    // Anthropic's: POST {base}/messages
)

// Endpoints are all endpoints.
var Endpoints = []Endpoint{Chat, Completions, Messages}

// Service is the public service of a protocol: its address, and the environment variables for
// another address and for the key.
type Service struct{ URL, Address, Key string }

// Service returns the service of the endpoint's protocol.
func (e Endpoint) Service() Service {
	if e == Messages {
		return Service{"https://api.anthropic.com/v1", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"}
	}
	return Service{DefaultBaseURL, "OPENAI_BASE_URL", "OPENAI_API_KEY"}
}

func (e Endpoint) check() error {
	if slices.Contains(Endpoints, e) {
		return nil
	}
	return fmt.Errorf("unknown endpoint %q; known are %q", e, Endpoints)
}

// Request is a prompt with its sampling parameters, which reach the server unchanged: a
// Temperature of 0 is sent as 0.
type Request struct {
	Model string
	// Exactly one of Prompt and Messages must be set. Texts must be valid UTF-8.
	Prompt   string
	Messages []Message // a conversation, not for Completions
	// Temperature is at least 0; 0 means greedy decoding.
	Temperature float64
	// TopP is in [0, 1]; 1 switches off nucleus sampling. Some servers refuse 0.
	TopP float64
	// MaxTokens bounds the answer in tokens. It must be at least 1.
	MaxTokens int
	Stop      []string
	// Schema, if it is not zero, is what the answer must follow. Completions take none.
	Schema Schema
	// Omit names parameters that are not sent: ParamTemperature, ParamTopP.
	Omit []string
	// Extra holds further fields of the body, such as structured_outputs, which are sent as
	// JSON. They cannot replace the fields above.
	Extra map[string]any
	// PromptLogprobs asks for the log-probabilities of the tokens of Prompt instead of an
	// answer. MaxTokens must then be 1 and the endpoint Completions. It is sent as echo with
	// logprobs, which vLLM, SGLang and llama-cpp-python support. Some servers apply the
	// sampling parameters to the log-probabilities; a Temperature of 0 or 1 with a TopP of 1
	// changes nothing.
	PromptLogprobs bool
}

// Schema is a JSON schema that an answer must follow.
type Schema struct {
	Name string // letters, digits, "_" and "-"
	JSON string // the schema itself
}

// paramSchema is the name of OpenAI's field for a schema.
const paramSchema = "response_format"

// String returns the schema as OpenAI's field response_format, or "" for the zero Schema. The keys
// of stored answers contain it, whatever form a request is sent in.
func (s Schema) String() string {
	if s == (Schema{}) {
		return ""
	}
	return `{"type":"json_schema","json_schema":{"name":"` + s.Name + `","strict":true,"schema":` + s.JSON + `}}`
}

// Fields returns the further fields of the request: Extra, and the Schema under OpenAI's name.
func (req Request) Fields() map[string]any {
	fields := maps.Clone(req.Extra)
	if req.Schema != (Schema{}) {
		if fields == nil {
			fields = map[string]any{}
		}
		fields[paramSchema] = json.RawMessage(req.Schema.String())
	}
	return fields
}

// SchemaField returns the name of the field in extra that asks for a form of the answer, as a Schema
// does; "" if there is none.
func SchemaField(extra map[string]any) string {
	output, _ := extra[paramOutput].(map[string]any)
	switch {
	case extra[paramSchema] != nil:
		return paramSchema
	case output["format"] != nil:
		return paramOutput
	}
	return ""
}

// Message is a message of a conversation. Neither Role nor Content may be empty.
type Message struct {
	Role    string // "system", "user" or "assistant"
	Content string
}

// Response is the server's answer. Like any text of a model it is untrusted.
type Response struct {
	// Text is the answer if HasText is true; with PromptLogprobs it is the prompt's tokens as
	// JSON, which ParseTokens parses. An empty Text with HasText is an empty answer, for
	// example of a model that only reasoned, or null. Without HasText the server blocked the
	// prompt or the answer. Reasoning that the server sends separately is never part of Text.
	Text    string
	HasText bool
	// FinishReason is the server's word for why the answer ended, such as "stop", "length"
	// (the answer is cut) or "content_filter"; "" if it gave none. FinishNotUnicode is set by
	// the client. A prompt refused by a content filter has "content_filter", and a prompt's
	// tokens have "stop".
	FinishReason string
	// PromptTokens and CompletionTokens are the server's counts, 0 if it gave none. If there
	// are fewer prompt tokens than were sent, the server cut the prompt.
	PromptTokens, CompletionTokens int
	// Model is the server's name of the model, "" if it gave none.
	Model string
}

// Parameters that models may refuse; see [Error].
const (
	ParamTemperature = "temperature"
	ParamTopP        = "top_p"
)

// ownFields are the fields that Extra cannot set: those of Request, and those that would ask for a
// kind of answer that Response cannot hold.
var ownFields = map[string]bool{
	"model": true, "prompt": true, "messages": true, "temperature": true, "top_p": true, "max_tokens": true,
	"max_completion_tokens": true, "stop": true, "stop_sequences": true, "system": true, "stream": true, "n": true, "echo": true,
}

// Check returns an error for a request that cannot be sent unchanged to an endpoint: JSON cannot
// contain invalid UTF-8, and an empty chat message would be omitted.
func (req Request) Check(endpoint Endpoint) error {
	if err := cmp.Or(endpoint.check(), checkPrompt(req, endpoint)); err != nil {
		return err
	}
	switch {
	case endpoint == Messages && req.Temperature > 1:
		return fmt.Errorf("temperature is %v; the endpoint %q takes at most 1", req.Temperature, endpoint)
	case req.PromptLogprobs && endpoint != Completions:
		return fmt.Errorf("log-probabilities of a prompt can only be asked for at the endpoint %q; the client is set to %q", Completions, endpoint)
	case req.PromptLogprobs && req.MaxTokens != 1:
		return fmt.Errorf("max_tokens is %d; it must be 1 where log-probabilities of the prompt are asked for", req.MaxTokens)
	case req.MaxTokens < 1:
		return fmt.Errorf("max_tokens is %d; it must be at least 1", req.MaxTokens)
	case math.IsNaN(req.Temperature) || math.IsInf(req.Temperature, 0) || req.Temperature < 0:
		return fmt.Errorf("temperature is %v; it must be a number of at least 0", req.Temperature)
	case math.IsNaN(req.TopP) || req.TopP < 0 || req.TopP > 1:
		return fmt.Errorf("top_p is %v; it must be in [0, 1]", req.TopP)
	}
	if err := req.checkSchema(endpoint); err != nil {
		return err
	}
	for i, s := range req.Stop {
		if s == "" || !utf8.ValidString(s) {
			return fmt.Errorf("stop string %d is empty or not valid UTF-8", i+1)
		}
	}
	if _, has := req.Extra["logprobs"]; has && req.PromptLogprobs {
		return extraFieldError("logprobs")
	}
	return CheckExtra(req.Extra)
}

func (req Request) checkSchema(endpoint Endpoint) error {
	name := SchemaField(req.Extra)
	switch {
	case req.Schema == Schema{}:
		return nil
	case endpoint == Completions:
		return fmt.Errorf("the endpoint %q takes no schema for the answer", endpoint)
	case name != "":
		return extraFieldError(name)
	case !json.Valid([]byte(req.Schema.JSON)):
		return fmt.Errorf("the schema %q is not JSON", req.Schema.Name)
	}
	return nil
}

// CheckExtra returns an error if a request cannot have the extra fields, because one of them has no
// name or is set by every request.
func CheckExtra(extra map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		switch {
		case ownFields[name]:
			return extraFieldError(name)
		case name == "" || !utf8.ValidString(name):
			return errors.New("the name of an extra field is empty or not valid UTF-8")
		}
	}
	return nil
}

func extraFieldError(name string) error {
	return fmt.Errorf("the extra field %q cannot be set: every request sets it itself, or must not have it", name)
}

func checkPrompt(req Request, endpoint Endpoint) error {
	switch {
	case req.Prompt != "" && len(req.Messages) > 0:
		return errors.New("the request has both a prompt and messages")
	case endpoint == Completions && len(req.Messages) > 0:
		return fmt.Errorf("the endpoint %q takes a prompt, not messages", endpoint)
	case req.Prompt == "" && len(req.Messages) == 0:
		return errors.New("the prompt is empty")
	case !utf8.ValidString(req.Prompt):
		return errors.New("the prompt is not valid UTF-8, and would reach the server changed")
	}
	for i, m := range req.Messages {
		switch {
		case m.Role == "" || m.Content == "":
			return fmt.Errorf("message %d has no role or no content", i+1)
		case !utf8.ValidString(m.Role) || !utf8.ValidString(m.Content):
			return fmt.Errorf("message %d is not valid UTF-8, and would reach the server changed", i+1)
		}
	}
	return checkModel(req.Model)
}

func checkModel(model string) error {
	switch {
	case model == "":
		return errors.New("the request names no model")
	case !utf8.ValidString(model):
		return errors.New("the model name is not valid UTF-8")
	}
	return nil
}

// EstimateTokens roughly estimates the number of tokens of a text for an unknown model: one per
// four ASCII bytes, and one per other rune.
func EstimateTokens(text string) int {
	ascii, other := 0, 0
	for _, r := range text {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+3)/4 + other
}

// PromptTokens roughly estimates the number of tokens of the prompt; see [EstimateTokens].
func (r Request) PromptTokens() int {
	n := EstimateTokens(r.Prompt)
	for _, m := range r.Messages {
		n += EstimateTokens(m.Content)
	}
	return n
}

// ParseExtra parses a JSON object of fields for Request.Extra. Numbers are kept as written.
func ParseExtra(s string) (map[string]any, error) {
	var fields map[string]jsontext.Value
	if err := jsonline.Unmarshal([]byte(s), &fields, "the value"); err != nil {
		return nil, fmt.Errorf("%w; it is not shown, as it may hold a key", err)
	}
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var out map[string]any
	return out, dec.Decode(&out)
}
