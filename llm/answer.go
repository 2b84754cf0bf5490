package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Finish reasons that change the meaning of an answer.
const (
	FinishLength        = "length"         // the token limit cut it
	FinishContentFilter = "content_filter" // it was withheld, entirely or in part
	// FinishNotUnicode is not part of the protocol: the text is invalid UTF-8 or has half
	// of a surrogate pair. The Text is then the received JSON, in which bytes that are not
	// UTF-8 are written as escapes such as \xff.
	FinishNotUnicode = "not_unicode"
	// FinishReasoning is not part of the protocol either: the server ended the answer, and put
	// all of it into its field for reasoning.
	FinishReasoning = "reasoning"
)

// finishWords maps the names that Anthropic, Gemini, Mistral, z.ai and DeepSeek use, in lower case, to
// OpenAI's reasons. An answer that would go on is cut. finishError is the protocol's reason for a server that broke off.
var finishWords = map[string]string{
	"end_turn": "stop", "stop_sequence": "stop", "refusal": FinishContentFilter, "tool_use": FinishLength, "pause_turn": FinishLength,
	"max_tokens": FinishLength, "model_length": FinishLength, "model_context_window_exceeded": FinishLength,
	"safety": FinishContentFilter, "recitation": FinishContentFilter, "blocklist": FinishContentFilter,
	"prohibited_content": FinishContentFilter, "spii": FinishContentFilter, "sensitive": FinishContentFilter,
	"insufficient_system_resource": finishError, "network_error": finishError,
}

const finishError = "error"

func finishReason(said string) string { return cmp.Or(finishWords[strings.ToLower(said)], said) }

// answerHead is what answers of all endpoints have, in any form. Object, or Anthropic's Type, and Error
// tell an error.
type answerHead struct {
	Object json.RawMessage `json:"object"`
	Type   json.RawMessage `json:"type"`
	Model  json.RawMessage `json:"model"`
	Error  json.RawMessage `json:"error"`
	Usage  usage           `json:"usage"`
}

// answerShape is the JSON of an answer of either endpoint. It tells a text that is null.
type answerShape struct {
	answerHead
	Choices []choice `json:"choices"`
}

type choice struct {
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"`
	Text         content         `json:"text"`
	Message      struct {
		Content content `json:"content"`
		// The model's reasoning, under the names that servers use for it. It is never
		// the answer.
		ReasoningContent json.RawMessage `json:"reasoning_content"`
		Reasoning        json.RawMessage `json:"reasoning"`
		Refusal          json.RawMessage `json:"refusal"` // OpenAI's reason for withholding an answer
	} `json:"message"`
	Logprobs json.RawMessage `json:"logprobs"`
}

// usage holds the server's token counts, 0 if it gives no credible number.
type usage struct {
	PromptTokens, CompletionTokens int
}

// UnmarshalJSON never fails, so that no good answer is lost because of its counts. Some servers
// write 7.0 or "7".
func (u *usage) UnmarshalJSON(b []byte) error {
	var given map[string]json.RawMessage
	if json.Unmarshal(b, &given) == nil {
		count := func(name string) int { return tokenCount(given[name]) }
		// Anthropic's parts of a prompt add up.
		var details map[string]json.RawMessage
		_ = json.Unmarshal(given["prompt_tokens_details"], &details)
		u.PromptTokens = cmp.Or(count("prompt_tokens"), count("input_tokens")+count("cache_creation_input_tokens")+count("cache_read_input_tokens"))
		if cached := tokenCount(details["cached_tokens"]); cached > u.PromptTokens { // left out of the sum
			u.PromptTokens += cached
		}
		u.CompletionTokens = cmp.Or(count("completion_tokens"), count("output_tokens"))
	}
	return nil
}

func tokenCount(raw json.RawMessage) int {
	n, err := strconv.ParseFloat(jsonText(raw), 64)
	if err != nil || n < 0 || n > math.MaxInt32 || n != math.Trunc(n) {
		return 0
	}
	return int(n)
}

// content is the text of an answer.
type content struct {
	text *string
	// raw is the JSON, escaped for storing, of a text that is not valid Unicode; otherwise "".
	raw string
}

// UnmarshalJSON reads a string, null, or the list of parts into which some servers divide the
// content. Only text parts count.
func (c *content) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"', 'n':
		if err := json.Unmarshal(b, &c.text); err != nil {
			return err
		}
	case '[':
		var parts []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if err := json.Unmarshal(b, &parts); err != nil {
			return err
		}
		for _, p := range parts {
			isText := strings.HasSuffix(p.Type, "text")
			if c.text == nil && (isText || strings.HasSuffix(p.Type, "thinking") || p.Type == "reasoning") {
				c.text = new(string)
			}
			if isText {
				*c.text += p.Text
			}
		}
	default:
		return &json.UnmarshalTypeError{Value: "a content that is no text", Type: reflect.TypeFor[string]()}
	}
	// encoding/json has replaced invalid Unicode.
	if c.text != nil && strings.ContainsRune(*c.text, utf8.RuneError) && !jsontext.Value(b).IsValid() {
		c.raw = escape(string(b))
	}
	return nil
}

// repeats returns a failure if an answer contains the credential that was sent, or much of it, because answers
// are stored and passed on. A model that was asked for is no echo.
func (s *server) repeats(model string, texts ...string) *Error {
	for _, text := range texts {
		if text != model && s.credentials.In(text) {
			return s.fail(ErrBadAnswer, http.StatusOK, noRetry, "repeats the API key in its answer; it is not stored", "",
				"the server, or a proxy before it, sends back what it is sent")
		}
	}
	return nil
}

// into puts the text into an answer, and reports whether there is one.
func (c *content) into(resp *Response) bool {
	switch {
	case c.raw != "":
		resp.Text, resp.HasText, resp.FinishReason = c.raw, true, FinishNotUnicode
	case c.text != nil:
		resp.Text, resp.HasText = *c.text, true
	}
	return resp.HasText
}

func (o openAI) read(s *server, r *Request, body []byte) (resp Response, e *Error) {
	var a answerShape
	if e := s.decode(r.Model, body, &a, &a.answerHead); e != nil {
		return resp, e
	}
	if len(a.Choices) == 0 {
		e := s.badShape(body, "gave an answer without choices")
		if a.Usage.PromptTokens > 0 { // happens with proxies of Gemini if the model's reasoning used up its limit
			e.Hint = "the model may have thought until its limit: allow more tokens for the answer (--max-tokens, max-tokens= of a judge)"
		}
		return resp, e
	}
	choice := a.Choices[0]
	choice.FinishReason = finishReason(choice.FinishReason)
	if stated(choice.Error) {
		inner, _ := json.Marshal(map[string]json.RawMessage{"error": choice.Error})
		return resp, s.errorInside(r.Model, inner)
	}
	if choice.FinishReason == finishError {
		return resp, s.errorInside(r.Model, body)
	}
	said := choice.Message.Content
	if !o.chat {
		said = choice.Text
	}
	resp = Response{
		Model: jsonText(a.Model), FinishReason: choice.FinishReason,
		PromptTokens: a.Usage.PromptTokens, CompletionTokens: a.Usage.CompletionTokens,
	}
	switch {
	case choice.FinishReason == FinishContentFilter:
	case r.PromptLogprobs:
		return resp, s.readTokens(r.Prompt, &resp, &choice, &a.Usage, body)
	case said.into(&resp) && resp.Text != "":
	case stated(choice.Message.Refusal):
		resp.HasText, resp.FinishReason = false, FinishContentFilter
	default: // null is an empty answer, too
		resp.HasText = true
		if reasoned := stated(choice.Message.ReasoningContent) || stated(choice.Message.Reasoning); reasoned && choice.FinishReason != FinishLength {
			resp.FinishReason = FinishReasoning
		}
	}
	return resp, nil
}

// decode parses a body into v, which has the head. It returns a failure if the body cannot be parsed or
// is an error.
func (s *server) decode(model string, body []byte, v any, head *answerHead) *Error {
	err := json.Unmarshal(body, v)
	switch {
	case errors.As(err, new(*json.SyntaxError)):
		return s.notJSON(http.StatusOK, bytes.TrimSpace(body))
	case cmp.Or(string(head.Object), string(head.Type)) == `"error"` || stated(head.Error) && parseAPIError(body) != nil: // some servers add an error with empty fields to an answer
		return s.errorInside(model, body)
	case err != nil:
		return s.badShape(body, "gave an answer of an unexpected shape")
	}
	return nil
}

// stated reports whether a field is present and not empty.
func stated(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", `""`, "{}", "[]":
		return false
	}
	return true
}
