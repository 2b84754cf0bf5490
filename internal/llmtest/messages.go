package llmtest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// refusedMessages says why Anthropic's POST /v1/messages refuses a request, or returns "". Only old
// models take temperature or top_p, under the older version of the protocol.
func (r *Request) refusedMessages(old, schemas bool) string {
	var q struct {
		Model, System string
		MaxTokens     int `json:"max_tokens"`
		Messages      []Message
		Temperature   *float64
		TopP          *float64                         `json:"top_p"`
		OutputConfig  struct{ Format json.RawMessage } `json:"output_config"`
		Stop          []string                         `json:"stop_sequences"`
	}
	d := json.NewDecoder(bytes.NewReader(r.Raw))
	d.DisallowUnknownFields()
	err := d.Decode(&q)
	r.ResponseFormat = q.OutputConfig.Format
	version := r.Header.Get("Anthropic-Version")
	sampled := old && version == "2023-06-01"
	switch {
	case err != nil:
		return err.Error() + ": Extra inputs are not permitted"
	case !slices.Contains([]string{"2023-06-01", "2026-10-21"}, version):
		return "anthropic-version: header is required"
	case q.Model == "" || q.MaxTokens < 1 || len(q.Messages) == 0:
		return "max_tokens: Field required"
	case q.Messages[len(q.Messages)-1].Role != "user" || slices.ContainsFunc(q.Messages, func(m Message) bool { return m.Role == "system" }):
		return "messages: the roles are user and assistant, and the last is a user's"
	case q.Temperature != nil && !sampled:
		return "`temperature` is deprecated for this model."
	case q.TopP != nil && !sampled:
		return "`top_p` is deprecated for this model."
	case q.Temperature != nil && q.TopP != nil:
		return "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
	case q.OutputConfig.Format != nil && (!schemas || !strings.Contains(string(q.OutputConfig.Format), `"schema":{`)):
		return "output_config.format: this model does not support structured outputs."
	}
	return ""
}

// writeMessage answers as POST /v1/messages does: after a thought, and in several blocks.
func writeMessage(w http.ResponseWriter, r *Request, text, finish string) {
	if finish == "stop" {
		finish = "end_turn"
	}
	blocks := []map[string]string{{"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"}}
	for part := range slices.Chunk([]rune(text), 40) {
		blocks = append(blocks, map[string]string{"type": "text", "text": string(part)})
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": r.Model, "content": blocks, "stop_reason": finish, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": 3, "cache_creation_input_tokens": 4, "cache_read_input_tokens": 5, "output_tokens": 6,
			"output_tokens_details": map[string]int{"thinking_tokens": 2}},
	})
}
