package llm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// scored returns a request for the log-probabilities of a prompt.
func scored(prompt string) llm.Request {
	return llm.Request{Model: "m", Prompt: prompt, TopP: 1, MaxTokens: 1, PromptLogprobs: true}
}

func completions(cfg *llm.Config) { cfg.Endpoint = llm.Completions }

// show lists tokens with their ranges.
func show(tokens []llm.TokenLogprob) string {
	var b strings.Builder
	for _, t := range tokens {
		p := "-"
		if t.Logprob != nil {
			p = fmt.Sprint(*t.Logprob)
		}
		fmt.Fprintf(&b, "%q %d-%d %s; ", t.Text, t.Offset, t.End, p)
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// spoken returns the tokens of the test server, with or without a token before them.
func spoken(prompt string, bos bool) []llm.TokenLogprob {
	var out []llm.TokenLogprob
	if bos {
		out = append(out, llm.TokenLogprob{Text: "<s>"})
	}
	at := 0
	for _, token := range llmtest.Tokens(prompt) {
		p := llmtest.Logprob("m", prompt[:at], token)
		t := llm.TokenLogprob{Text: token, Offset: at, End: at + len(token), Logprob: &p}
		if at == 0 && !bos {
			t.Logprob = nil
		}
		out, at = append(out, t), at+len(token)
	}
	return out
}

func TestPromptLogprobsOnTheWire(t *testing.T) {
	const want = `{"echo":true,"logprobs":1,"max_tokens":1,"model":"m","prompt":"The lake froze.","stream":false,"temperature":0,"top_p":1}`
	assert.Empty(t, cmp.Diff(want, wire(t, llm.Completions, scored("The lake froze."))))
}

func TestPromptLogprobs(t *testing.T) {
	for _, bos := range []bool{false, true} {
		for _, prompt := range []string{"The lake froze.", "Schnee: 雪が, \"x\"\n\n\t🙂 <s> & é", " one two", "two  ", "a b"} {
			c := local(t, &llmtest.Handler{BOS: bos}, completions)
			r, err := c.Complete(t.Context(), scored(prompt))
			require.NoError(t, err)
			want := spoken(prompt, bos)
			got, err := llm.ParseTokens(r.Text)
			if err != nil || show(got) != show(want) {
				t.Errorf("%v: %q:\n%s\n%s\n%v", bos, prompt, show(got), show(want), err)
			}
			if !r.HasText || r.FinishReason != "stop" || r.PromptTokens != len(want) || r.CompletionTokens != 1 || r.Model != "m" {
				t.Errorf("%+v", r)
			}
		}
	}
	// The answer can be stored like any other.
	r, err := local(t, &llmtest.Handler{}, completions).Complete(t.Context(), scored("A <b>"))
	want := `[{"t":"A","o":0,"e":1,"p":null},{"t":" ","o":1,"e":2,"p":` + fmt.Sprint(llmtest.Logprob("m", "A", " ")) +
		`},{"t":"<","o":2,"e":3,"p":` + fmt.Sprint(llmtest.Logprob("m", "A ", "<")) + `},{"t":"b","o":3,"e":4,"p":` +
		fmt.Sprint(llmtest.Logprob("m", "A <", "b")) + `},{"t":">","o":4,"e":5,"p":` + fmt.Sprint(llmtest.Logprob("m", "A <b", ">")) + `}]`
	assert.True(t, err == nil && r.Text == want, "%s, %v", r.Text, err)
}

// Answers in the forms of servers that differ from the test server.
func TestPromptLogprobsAsServersWriteThem(t *testing.T) {
	const prompt = "Hi there 雪"
	for _, tc := range []struct {
		name, choice, usage string
		want                string
	}{
		{
			"no token of the answer's own", `"text":"Hi there 雪","logprobs":{"tokens":["Hi"," there"," 雪"],"token_logprobs":[null,-1,-2]}`, `{"prompt_tokens":3,"completion_tokens":0}`,
			`"Hi" 0-2 -; " there" 2-8 -1; " 雪" 8-12 -2`,
		},
		{
			"no usage", `"text":"Hi there 雪 x","logprobs":{"tokens":["Hi"," there"," 雪"," x"],"token_logprobs":[null,-1,-2,-3]}`, `null`,
			`"Hi" 0-2 -; " there" 2-8 -1; " 雪" 8-12 -2`,
		},
		{
			"an end that is counted and not listed", `"text":"Hi there 雪","logprobs":{"tokens":["Hi"," there"," 雪"],"token_logprobs":[null,-1,-2]}`, `{"prompt_tokens":3,"completion_tokens":1}`,
			`"Hi" 0-2 -; " there" 2-8 -1; " 雪" 8-12 -2`,
		},
		{
			"an answer that repeats the prompt's end", `"text":"Hi there 雪雪","logprobs":{"tokens":["Hi"," there"," ","雪","雪"],"token_logprobs":[null,-1,-2,-3,-0.1]}`, `{"prompt_tokens":4,"completion_tokens":1}`,
			`"Hi" 0-2 -; " there" 2-8 -1; " " 8-9 -2; "雪" 9-12 -3`,
		},
		{
			"another text", `"text":"Hi there 雪","logprobs":{"tokens":["<|begin|>","Hi","▁there","x","y","x"],"token_logprobs":[null,-1,-2,-3,-4,-5]}`, `null`, "",
		},
		{
			"parts of a character", `"text":"Hi there 雪 x","logprobs":{"tokens":["<|begin|>","Hi","▁there"," �","�","x"],"token_logprobs":[null,-9999.0,-2,-3,-4,-5]}`, `{"prompt_tokens":5,"completion_tokens":1}`,
			`"<|begin|>" 0-0 -; "Hi" 0-2 -9999; "▁there" 2-8 -2; " �" 8-12 -3; "�" 9-12 -4`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := &llmtest.Handler{}
			h.Fail(llmtest.Body(200, "application/json", `{"model":"m","choices":[{"index":0,"finish_reason":"length",`+tc.choice+`}],"usage":`+tc.usage+`}`))
			r, err := local(t, h, completions).Complete(t.Context(), scored(prompt))
			if tc.want == "" {
				wantKind(t, err, llm.ErrBadAnswer, "do not spell the prompt: they differ from it at byte 8")
				return
			}
			require.NoError(t, err)
			got, err := llm.ParseTokens(r.Text)
			if err != nil || show(got) != tc.want {
				t.Errorf("got  %s\nwant %s\n%v", show(got), tc.want, err)
			}
		})
	}
}

// A server without log-probabilities is asked only once, and the error says so.
func TestNoPromptLogprobs(t *testing.T) {
	echo := func(choice string) llmtest.Fault {
		return llmtest.Body(200, "application/json", `{"model":"m","choices":[{"index":0,"finish_reason":"length",`+choice+`}]}`)
	}
	for _, tc := range []struct {
		name  string
		fault llmtest.Fault
		says  string
	}{
		{"ignored", llmtest.Finish("length", "x"), "gave no log-probabilities of the prompt's tokens (200)"},
		{"refused", llmtest.Status(400, "Only no echo is supported"), "refuses to give log-probabilities of the prompt's tokens (400): Only no echo is supported"},
		{"refused as its own error", llmtest.Status(500, "Only no echo is supported"), "refuses to give"},
		{"above the server's bound", llmtest.Status(400, "Requested prompt logprobs of 1, which is greater than max allowed: 0"), "refuses to give"},
		{"only of the answer, as llama.cpp", echo(`"text":" x","logprobs":{"content":[{"id":4,"token":" x","logprob":-1.4}]}`), "gave no log-probabilities"},
		{"only of the answer", echo(`"text":" x","logprobs":{"tokens":[" x"],"token_logprobs":[-1.4]}`), "gave no log-probabilities"},
		{"an answer that is the prompt, of another", echo(`"text":"The lake","logprobs":{"tokens":["The lake"],"token_logprobs":[-1.4]}`), "gave no log-probabilities"},
		{"echoed without", echo(`"text":"The lake froze. x","logprobs":null`), "gave no log-probabilities"},
		{"echoed with none", echo(`"text":"The lake froze. x","logprobs":{"tokens":["The"," lake"," froze","."," x"],"token_logprobs":[null,null,null,null,-1]}`), "gave no log-probabilities"},
		{"fewer numbers than tokens", echo(`"text":"The lake froze. x","logprobs":{"tokens":["The"," lake"," froze","."," x"],"token_logprobs":[null,-1]}`), "gave 2 log-probabilities for 5 tokens"},
		{"probabilities", echo(`"text":"The lake froze. x","logprobs":{"tokens":["The"," lake"," froze","."," x"],"token_logprobs":[null,0.3,0.2,0.1,0.5]}`), "gave the log-probability 0.3"},
		{"ids for tokens", echo(`"text":"The lake froze. x","logprobs":{"tokens":["token_id:5","token_id:6","token_id:7"],"token_logprobs":[null,-1,-2]}`), "differ from it at byte 0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := &llmtest.Handler{}
			h.Fail(llmtest.Repeat(9, tc.fault)...)
			_, err := local(t, h, completions).Complete(t.Context(), scored("The lake froze."))
			wantKind(t, err, llm.ErrBadAnswer, tc.says, "needs a server whose completions endpoint answers echo")
			assert.Equal(t, 1, h.Calls())
			t.Logf("%v", err)
		})
	}
	// Other faults are reported as usual.
	h := &llmtest.Handler{}
	h.Fail(llmtest.PromptBlocked(), llmtest.Finish("content_filter", ""), llmtest.ContextLength(), llmtest.Status(500, "no memory"))
	c := local(t, h, func(cfg *llm.Config) { cfg.Endpoint, cfg.MaxRetries = llm.Completions, -1 })
	for range 2 {
		r, err := c.Complete(t.Context(), scored("p"))
		assert.True(t, err == nil && !r.HasText && r.FinishReason == "content_filter", "%+v, %v", r, err)
	}
	for _, kind := range []error{llm.ErrContextLength, llm.ErrUnavailable} {
		_, err := c.Complete(t.Context(), scored("p"))
		wantKind(t, err, kind)
	}
}

func TestParseTokens(t *testing.T) {
	for text, says := range map[string]string{
		"":                                       "EOF",
		`{}`:                                     "cannot unmarshal",
		`[{"t":"a","o":0,"e":1,"p":null,"x":1}]`: "unknown field",
		`[{"t":"a","o":0,"e":1,"p":null}] []`:    "text after the list",
		`[{"t":"a","o":1,"e":2,"p":null}]`:       "token 1 is at 1 to 2",
		`[{"t":"a","o":0,"e":-1,"p":null}]`:      "token 1 is at",
		`[{"t":"a","o":0,"e":1,"p":null},{"t":"a","o":2,"e":3,"p":null}]`: "token 2 is at 2 to 3, after one at 0 to 1",
		`[{"t":"a","o":0,"e":1,"p":0.5}]`:                                 "log-probability 0.5",
	} {
		_, err := llm.ParseTokens(text)
		assert.ErrorContains(t, err, says, "%s", text)
	}
	tokens, err := llm.ParseTokens("[]")
	assert.True(t, err == nil && len(tokens) == 0, "%v, %v", tokens, err)
}

// For any answer of a server, the client returns an error, or tokens that can be parsed and cover
// the prompt.
func FuzzPromptLogprobs(f *testing.F) {
	f.Add("The lake", `{"choices":[{"text":"The lake x","logprobs":{"tokens":["The"," lake"," x"],"token_logprobs":[null,-1,-2]}}]}`)
	f.Fuzz(func(t *testing.T, prompt, body string) {
		h := &llmtest.Handler{}
		h.Fail(llmtest.Body(200, "application/json", body))
		r, err := local(t, h, func(cfg *llm.Config) { cfg.Endpoint, cfg.MaxRetries = llm.Completions, -1 }).Complete(t.Context(), scored(prompt))
		if err != nil || !r.HasText {
			return
		}
		tokens, err := llm.ParseTokens(r.Text)
		require.NoError(t, err, "%s: %v", r.Text, err)
		if len(tokens) == 0 || tokens[len(tokens)-1].End != len(prompt) {
			t.Fatalf("%s does not cover %q", r.Text, prompt)
		}
	})
}
