package llm

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
)

// wireForm is the form in which one protocol asks for an answer and gives it. The Endpoint is its
// name, also in the store.
type wireForm interface {
	// write returns the path below the base URL, the headers that the protocol adds, and the body
	// of a request that [Request.Check] accepts. renamed gives the token limit its newer name.
	write(r *Request, renamed bool) (path string, header http.Header, body []byte, err error)
	// read returns the answer in the body of a 200, or what is wrong with it.
	read(s *server, r *Request, body []byte) (Response, *Error)
	// explain adds to a failure what the protocol says about it in the body.
	explain(e *Error, body []byte)
}

// forms are the wire forms of the endpoints.
var forms = map[Endpoint]wireForm{
	Chat:        openAI{chat: true},
	Completions: openAI{},
	Messages:    anthropic{},
}

// wireMessage is a Message in a body; a Message is written into keys of stored answers, in another way.
type wireMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// conversation returns the messages of the request; a prompt is one of a user.
func (r *Request) conversation() (out []wireMessage) {
	if r.Prompt != "" {
		return []wireMessage{{"user", r.Prompt}}
	}
	for _, m := range r.Messages {
		out = append(out, wireMessage(m))
	}
	return out
}

// openAI is the form of the endpoints for chats and legacy completions. Bodies and answers are our
// own: go-openai's requests drop a 0 and round numbers to 32 bits, and its answers fail for a count
// that is no integer and cannot tell null from "".
type openAI struct{ chat bool }

// Names of the token limit.
const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
)

func (o openAI) write(r *Request, renamed bool) (path string, header http.Header, body []byte, err error) {
	fields := make(map[string]any, 8+len(r.Extra))
	maps.Copy(fields, r.Fields())
	fields["model"], fields[ParamTemperature], fields[ParamTopP], fields["stream"] = r.Model, r.Temperature, r.TopP, false
	for _, name := range r.Omit {
		delete(fields, name)
	}
	if renamed {
		fields[maxCompletionTokens] = r.MaxTokens
	} else {
		fields[maxTokens] = r.MaxTokens
	}
	if len(r.Stop) > 0 {
		fields["stop"] = r.Stop
	}
	if r.PromptLogprobs {
		// Some servers take logprobs 0 as none, and max_tokens 0 as no limit.
		fields["echo"], fields["logprobs"] = true, 1
	}
	path = "/completions"
	if o.chat {
		path = "/chat/completions"
		fields["messages"] = r.conversation()
	} else {
		fields["prompt"] = r.Prompt
	}
	body, err = json.Marshal(fields)
	return path, nil, body, err
}

func (openAI) explain(*Error, []byte) {}

// compose returns the call that makes a request.
func (c *Client) compose(r *Request, renamed bool) (*Call, error) {
	if err := r.Check(c.cfg.Endpoint); err != nil {
		return nil, c.transport.notCalled(err)
	}
	path, header, body, err := c.form.write(r, renamed)
	if err != nil {
		return nil, c.transport.notCalled(fmt.Errorf("the extra fields cannot be written as JSON: %w", err))
	}
	out := &Call{Method: http.MethodPost, Path: path, Model: r.Model, Header: header, Content: body, logprobs: r.PromptLogprobs}
	if !r.PromptLogprobs {
		out.Most = minAnswerBytes + bytesPerToken*int64(r.MaxTokens)
	}
	return out, nil
}
