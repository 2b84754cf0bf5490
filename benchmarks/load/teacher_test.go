package load_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/build"
	"github.com/refract-eval/refract/internal/buildtest"
	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// reply is what the server said to a request, when it did.
type reply struct {
	Step, Fault, Rule string
	Times             int
}

// tooLong is the fault of a request that the server refuses whenever it comes: no
// answer is stored of it.
const tooLong = "too long"

// teach is the server's answer to a builder.
func (s *modelServer) teach(r *llmtest.Request) llmtest.Fault {
	call := int(s.calls.Add(1) - 1)
	about := asked(r.Prompt, r.Messages, r.Seed)
	if fault := s.note(call, about); fault != nil {
		return fault
	}
	select {
	case <-time.After(s.latency):
	case <-r.Context().Done():
	}
	said, known := buildtest.Answer(r, s.bad)
	if !known {
		return llmtest.Status(http.StatusNotFound, "no builder asks this")
	}
	fault := llmtest.Finish(said.Finish, said.Text)
	if s.bad > 0 && hash("too long", about)%400 == 0 {
		said.Fault, said.Rule, fault = tooLong, build.RuleNoAnswer, llmtest.ContextLength()
	}
	s.mu.Lock()
	s.replies[about] = reply{said.Step, said.Fault, said.Rule, s.replies[about].Times + 1}
	s.mu.Unlock()
	s.answered.Add(1)
	return fault
}

// asked tells a request of a builder from all others, as the server sees it.
func asked(prompt string, messages []llmtest.Message, seed *int) string {
	if len(messages) > 1 {
		all := make([]llm.Message, len(messages))
		for i, m := range messages {
			all[i] = llm.Message{Role: m.Role, Content: m.Content}
		}
		text, err := json.Marshal(all)
		if err != nil {
			panic(err) // strings always have a JSON form
		}
		prompt = string(text)
	}
	if seed != nil {
		prompt = strconv.Itoa(*seed) + " " + prompt
	}
	return prompt
}

// askedBy is the same of what the store knows it by.
func askedBy(r cache.Request) string {
	var sampling struct{ Seed *int }
	if err := json.Unmarshal([]byte(r.Params), &sampling); err != nil {
		panic(err)
	}
	return asked(r.Prompt, nil, sampling.Seed)
}
