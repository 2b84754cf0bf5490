package llm

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

const contentFilter = "content_filter"

// answerShape is what go-openai does not tell of an answer: whether it is an
// error, and whether its text is null.
type answerShape struct {
	Object  string          `json:"object"`
	Error   json.RawMessage `json:"error"`
	Choices []struct {
		FinishReason string          `json:"finish_reason"`
		Error        json.RawMessage `json:"error"`
		Text         json.RawMessage `json:"text"`
		Message      struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	} `json:"choices"`
}

// readAnswer looks at the body of a 200. It returns a failure where the body
// is no answer, and whether an answer lacks a text.
func (t *attemptTransport) readAnswer(x *exchange, body []byte) (*failure, bool) {
	if trimmed := bytes.TrimSpace(body); !json.Valid(trimmed) {
		return t.notJSON(http.StatusOK, trimmed), false
	}
	var a answerShape
	if err := json.Unmarshal(body, &a); err != nil {
		return t.badShape(body, "gave an answer of an unexpected shape"), false
	}
	if a.Object == "error" || stated(a.Error) {
		return t.errorInside(x, body), false
	}
	if len(a.Choices) == 0 {
		return t.badShape(body, "gave an answer without choices"), false
	}
	choice := a.Choices[0]
	if stated(choice.Error) {
		inner, _ := json.Marshal(map[string]json.RawMessage{"error": choice.Error})
		return t.errorInside(x, inner), false
	}
	if choice.FinishReason == "error" {
		return t.errorInside(x, body), false
	}
	text := choice.Message.Content
	if x.endpoint == Completions {
		text = choice.Text
	}
	return nil, !stated(text) && string(text) != `""`
}

// stated reports whether a field is there and says something.
func stated(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", `""`, "{}", "[]":
		return false
	}
	return true
}

// serverError is an error as the servers write it, in one shape.
type serverError struct {
	message string
	kind    string // "type"
	code    string
	param   string
	status  int // a numeric code
}

// parseServerError reads {"error": {…}}, {"error": "…"}, the flat object of
// older servers, and {"detail": …}; ok is false for anything else.
func parseServerError(body []byte) (e serverError, ok bool) {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil {
		return e, false
	}
	fields := top
	if raw := top["error"]; stated(raw) {
		fields = nil
		if json.Unmarshal(raw, &fields) != nil {
			return serverError{message: jsonText(raw), kind: jsonText(top["error_type"])}, true
		}
	} else if raw := top["detail"]; stated(raw) {
		return serverError{message: jsonText(raw)}, true
	}
	e = serverError{
		message: jsonText(fields["message"]),
		kind:    jsonText(fields["type"]),
		code:    jsonText(fields["code"]),
		param:   jsonText(fields["param"]),
	}
	if json.Unmarshal(fields["code"], &e.status) != nil {
		e.status = 0
	}
	if e.message == "" && e.kind == "" && e.code == "" {
		return serverError{}, false
	}
	return e, true
}

// jsonText is a JSON string's value, "" for null, and other values as written.
func jsonText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// is reports whether the error's type or code is one of names.
func (e serverError) is(names ...string) bool {
	for _, n := range names {
		if e.kind == n || e.code == n {
			return true
		}
	}
	return false
}

// says reports whether the message has one of the phrases, in lower case.
func (e serverError) says(phrases ...string) bool {
	m := strings.ToLower(e.message)
	for _, p := range phrases {
		if strings.Contains(m, p) {
			return true
		}
	}
	return false
}

// overflow: vLLM says it in words, llama.cpp and OpenAI by type and code.
func (e serverError) overflow() bool {
	return e.is("exceed_context_size_error", "context_length_exceeded") ||
		e.says("maximum context length", "maximum model length", "exceeds the available context size")
}

// noQuota tells an account without credit from a rate limit, which waiting
// cures. Words alone do not count where the server says when to come back.
func (e serverError) noQuota(comeBack bool) bool {
	return e.is("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_credits") ||
		!comeBack && e.says("insufficient_quota", "exceeded your current quota", "credit", "billing")
}
