package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Messages serves Anthropic's POST /v1/messages and checks requests as that server does. It says what
// Answer, or else Say, makes of the last message, and after a thought.
type Messages struct {
	Key string
	// Old models take temperature or top_p under the older version of the protocol. Schemas says that
	// they follow a schema.
	Old, Schemas bool
	Say          func(prompt string) (text, stopReason string) // nil for Answer
	// Fail may answer a request with a status other than 200, after setting headers.
	Fail func(h http.Header, prompt string) (status int, kind, message string)
}

// messagesRequest is the body of a request.
type messagesRequest struct {
	Model, System  string
	MaxTokens      int `json:"max_tokens"`
	Messages       []Message
	Temperature    *float64
	TopP           *float64                         `json:"top_p"`
	OutputConfig   struct{ Format json.RawMessage } `json:"output_config"`
	Stop           []string                         `json:"stop_sequences"`
	StopElsewhere  any                              `json:"stop"`
	Stream         bool
	ResponseFormat any `json:"response_format"`
}

// invalid says why the server refuses a request, or returns "".
func (m *Messages) invalid(q *messagesRequest, version string) string {
	switch {
	case !slices.Contains([]string{"2023-06-01", "2026-10-21"}, version):
		return "anthropic-version: header is required"
	case q.StopElsewhere != nil || q.ResponseFormat != nil:
		return "stop: Extra inputs are not permitted"
	case q.Model == "" || q.MaxTokens < 1 || len(q.Messages) == 0:
		return "max_tokens: Field required"
	case q.Messages[len(q.Messages)-1].Role != "user" || slices.ContainsFunc(q.Messages, func(m Message) bool { return m.Role == "system" }):
		return "messages: the roles are user and assistant, and the last is a user's"
	case q.Temperature != nil && (!m.Old || version != "2023-06-01"):
		return "`temperature` is deprecated for this model."
	case q.TopP != nil && (!m.Old || version != "2023-06-01"):
		return "`top_p` is deprecated for this model."
	case q.Temperature != nil && q.TopP != nil:
		return "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
	case q.OutputConfig.Format != nil && (!m.Schemas || !strings.Contains(string(q.OutputConfig.Format), `"schema":{`)):
		return "output_config.format: this model does not support structured outputs."
	}
	return ""
}

func (m *Messages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q messagesRequest
	refuse := func(status int, kind, message string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kind, message)
	}
	w.Header().Set("Content-Type", "application/json")
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	version, invalid := r.Header.Get("Anthropic-Version"), ""
	switch err := d.Decode(&q); {
	case r.Header.Get("X-Api-Key") != m.Key || r.Header.Get("Authorization") != "":
		refuse(http.StatusUnauthorized, "authentication_error", "invalid x-api-key")
		return
	case r.Method != http.MethodPost || r.URL.Path != "/v1/messages":
		refuse(http.StatusNotFound, "not_found_error", "Not found")
		return
	case err != nil:
		invalid = err.Error() + ": Extra inputs are not permitted"
	default:
		invalid = m.invalid(&q, version)
	}
	if invalid != "" {
		refuse(http.StatusBadRequest, "invalid_request_error", invalid)
		return
	}
	prompt := q.Messages[len(q.Messages)-1].Content
	if m.Fail != nil {
		if status, kind, message := m.Fail(w.Header(), prompt); status != 0 {
			refuse(status, kind, message)
			return
		}
	}
	text, stop := Answer(q.Model, prompt, 0), "end_turn"
	if m.Say != nil {
		text, stop = m.Say(prompt)
	}
	if q.OutputConfig.Format != nil && strings.Contains(string(q.OutputConfig.Format), `"text":`) {
		object, _ := json.Marshal(map[string]string{"text": text})
		text = string(object)
	}
	blocks := []map[string]string{{"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"}}
	for i := 0; i < len(text); i += 40 { // a text may come in several blocks, here of ASCII
		end := min(len(text), i+40)
		blocks = append(blocks, map[string]string{"type": "text", "text": text[i:end]})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": q.Model, "content": blocks, "stop_reason": stop, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": 3, "cache_creation_input_tokens": 4, "cache_read_input_tokens": 5, "output_tokens": 6,
			"output_tokens_details": map[string]int{"thinking_tokens": 2}},
	})
}
