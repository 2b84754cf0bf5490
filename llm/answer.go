package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
)

// The finish reasons of the protocol that change what an answer is.
const (
	FinishLength        = "length"         // the limit of tokens has cut it
	FinishContentFilter = "content_filter" // it was withheld, whole or in part
)

// answerShape is an answer of either endpoint: whether it is an error, whether
// its text is null, and what it says.
type answerShape struct {
	Object  string          `json:"object"`
	Model   string          `json:"model"`
	Error   json.RawMessage `json:"error"`
	Choices []choice        `json:"choices"`
	Usage   usage           `json:"usage"`
}

type choice struct {
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"`
	Text         *string         `json:"text"`
	Message      struct {
		Content content `json:"content"`
	} `json:"message"`
	Logprobs       json.RawMessage `json:"logprobs"`
	PromptLogprobs json.RawMessage `json:"prompt_logprobs"` // vLLM's
}

type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// content is a message's text, nil for none.
type content struct{ text *string }

// UnmarshalJSON reads a string, null, or the list of parts into which some
// servers divide a content; only the parts that are text count.
func (c *content) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"', 'n':
		return json.Unmarshal(b, &c.text)
	case '[':
		var parts []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if err := json.Unmarshal(b, &parts); err != nil {
			return err
		}
		for _, p := range parts {
			if p.Type != "text" {
				continue
			}
			if c.text == nil {
				c.text = new(string)
			}
			*c.text += p.Text
		}
		return nil
	}
	return &json.UnmarshalTypeError{Value: "a content that is no text", Type: reflect.TypeFor[string]()}
}

// readAnswer reads the body of a 200 into x. It returns a failure where the
// body is no answer.
func (t *attemptTransport) readAnswer(x *exchange, body []byte) *failure {
	if x.embed != nil {
		return t.readVectors(x, body)
	}
	var a answerShape
	if f := t.decode(x, body, &a, &a.Object, &a.Error); f != nil {
		return f
	}
	if len(a.Choices) == 0 {
		return t.badShape(body, "gave an answer without choices")
	}
	choice := a.Choices[0]
	if stated(choice.Error) {
		inner, _ := json.Marshal(map[string]json.RawMessage{"error": choice.Error})
		return t.errorInside(x, inner)
	}
	if choice.FinishReason == "error" {
		return t.errorInside(x, body)
	}
	text := choice.Message.Content.text
	if x.endpoint == Completions {
		text = choice.Text
	}
	x.response = Response{
		Model: a.Model, FinishReason: choice.FinishReason,
		PromptTokens: a.Usage.PromptTokens, CompletionTokens: a.Usage.CompletionTokens,
	}
	if x.wantsTokens() && choice.FinishReason != FinishContentFilter {
		return t.readTokens(x, &choice, &a.Usage, body)
	}
	if text != nil && choice.FinishReason != FinishContentFilter {
		x.response.Text, x.response.HasText = *text, true
	}
	return nil
}

// decode reads a body into v, of which object and stands are the fields that
// tell an error. It returns a failure where the body cannot be read or is one.
func (t *attemptTransport) decode(x *exchange, body []byte, v any, object *string, stands *json.RawMessage) *failure {
	err := json.Unmarshal(body, v)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return t.notJSON(http.StatusOK, bytes.TrimSpace(body))
	case *object == "error" || stated(*stands):
		return t.errorInside(x, body)
	case err != nil:
		return t.badShape(body, "gave an answer of an unexpected shape")
	}
	return nil
}

// stated reports whether a field is there and says something.
func stated(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", `""`, "{}", "[]":
		return false
	}
	return true
}
