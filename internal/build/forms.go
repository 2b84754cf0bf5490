package build

import (
	"encoding/json"
	"io"
)

// Forms of examples.
const (
	FormMessages   = "messages"   // for a chat: TRL, axolotl, LLaMA-Factory
	FormCompletion = "completion" // "prompt" and "completion", for metrics that complete a prompt
)

// Forms lists the forms of examples.
func Forms() []string { return []string{FormMessages, FormCompletion} }

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func exampleRow(form, prompt, completion string) any {
	if form == FormCompletion {
		return struct {
			Prompt     string `json:"prompt"`
			Completion string `json:"completion"`
		}{prompt, completion}
	}
	return struct {
		Messages []message `json:"messages"`
	}{[]message{{"user", prompt}, {"assistant", completion}}}
}

func writeLines[T any](w io.Writer, values []T) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, v := range values {
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	return nil
}
