package llm

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// anthropic is the form of Anthropic's Messages.
type anthropic struct{}

// Versions of the protocol. The newer one refuses temperature and top_p even at their defaults. With
// the older one some models take one of the two, and the newest take neither and say so, which
// [Error.Refuses] passes on.
const (
	anthropicVersion  = "2026-10-21"
	anthropicSampling = "2023-06-01"
)

// paramOutput is the name of the field with a schema.
const paramOutput = "output_config"

func (anthropic) write(r *Request, _ bool) (path string, header http.Header, body []byte, err error) {
	fields := map[string]any{}
	maps.Copy(fields, r.Extra)
	fields["model"], fields[maxTokens] = r.Model, r.MaxTokens
	version := anthropicVersion
	for name, value := range map[string]float64{ParamTemperature: r.Temperature, ParamTopP: r.TopP} {
		if value != 1 && !slices.Contains(r.Omit, name) { // 1 is the default
			fields[name], version = value, anthropicSampling
		}
	}
	if len(r.Stop) > 0 {
		fields["stop_sequences"] = r.Stop
	}
	if r.Schema != (Schema{}) {
		output := map[string]any{}
		if given, ok := r.Extra[paramOutput].(map[string]any); ok { // such as an effort
			maps.Copy(output, given)
		}
		output["format"] = map[string]any{"type": "json_schema", "schema": json.RawMessage(r.Schema.JSON)}
		fields[paramOutput] = output
	}
	var system []string
	var messages []wireMessage
	for _, m := range r.conversation() {
		if m.Role == "system" {
			system = append(system, m.Content)
		} else {
			messages = append(messages, m)
		}
	}
	if fields["messages"] = messages; system != nil {
		fields["system"] = strings.Join(system, "\n\n")
	}
	body, err = json.Marshal(fields)
	return "/messages", http.Header{"Anthropic-Version": {version}}, body, err
}

func (anthropic) read(s *server, r *Request, body []byte) (resp Response, e *Error) {
	var a struct {
		answerHead
		Content    *content `json:"content"`
		StopReason string   `json:"stop_reason"`
	}
	if e := s.decode(r.Model, body, &a, &a.answerHead); e != nil {
		return resp, e
	}
	if a.Content == nil {
		return resp, s.badShape(body, "gave an answer without content")
	}
	resp = Response{
		Model: jsonText(a.Model), FinishReason: finishReason(a.StopReason),
		PromptTokens: a.Usage.PromptTokens, CompletionTokens: a.Usage.CompletionTokens,
	}
	if resp.FinishReason != FinishContentFilter {
		a.Content.into(&resp)
		resp.HasText = true // no block is an empty answer
	}
	return resp, nil
}

// explain finds limits of use, which come with a 400.
func (anthropic) explain(e *Error, _ []byte) {
	if e.Status == http.StatusBadRequest && says(e.Message, "usage limits") {
		e.Kind, e.what, e.Hint = ErrQuota, "has no credit left for this key", "check the account's plan and billing"
	}
	e.Hint = strings.ReplaceAll(e.Hint, Chat.Service().Key, Messages.Service().Key)
}
