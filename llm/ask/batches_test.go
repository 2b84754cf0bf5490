package ask

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

const (
	testURL = "http://127.0.0.1:8000/v1"
	testKey = "sk-a-key-that-must-not-be-seen"
)

// newClient returns a client of h without a network; change may be nil.
func newClient(t testing.TB, h *llmtest.Handler, change func(*llm.Config)) *llm.Client {
	t.Helper()
	h.Key = testKey
	cfg := llm.Config{BaseURL: testURL, APIKey: testKey, Transport: h.Transport(), MaxRetryWait: time.Millisecond, MaxRetries: 2}
	if change != nil {
		change(&cfg)
	}
	c, err := llm.New(cfg)
	require.NoError(t, err)
	return c
}

// newBatches returns Batches that check without long pauses.
func newBatches(t testing.TB, h *llmtest.Handler) *Batches {
	t.Helper()
	return &Batches{
		Client: newClient(t, h, nil), Store: cache.NewMemory(), Interval: time.Millisecond,
		Models: []string{"test-model"}, Journal: filepath.Join(t.TempDir(), "journal"),
	}
}

func promptOf(i int) string { return fmt.Sprintf("Say otherwise: sentence %d is <short> & old.", i) }

func prompts(n int) (all []string) {
	for i := range n {
		all = append(all, promptOf(i))
	}
	return all
}

func rowOf(prompt string) Question {
	r := cache.Request{Kind: "chat", Model: "test-model", Prompt: prompt}
	return Question{Request: r, Key: r.Key(), Wire: llm.Request{Model: "test-model", Prompt: prompt, TopP: 0.9, MaxTokens: 64}}
}

func idOf(prompt string) string { return rowOf(prompt).Key.String() }

// fill asks for the missing answers to prompts.
func fill(ctx context.Context, b *Batches, prompts []string) error {
	b.progress = BatchProgress{}
	b.Plan = func(ctx context.Context, need func(Question) error) error {
		for _, p := range prompts {
			q := rowOf(p)
			_, found, err := cache.NewAnswers(b.Store).Get(ctx, []cache.Key{q.Key})
			if err == nil && !found[0] {
				err = need(q)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	_, err := b.Fill(ctx)
	return err
}

func mustFill(t testing.TB, b *Batches, prompts []string) {
	t.Helper()
	require.NoError(t, fill(context.Background(), b, prompts))
}

// result returns the stored answer to a prompt, or its error.
func result(t testing.TB, b *Batches, prompt string) (cache.Answer, error) {
	t.Helper()
	q := rowOf(prompt)
	all, found, err := cache.NewAnswers(b.Store).Get(context.Background(), []cache.Key{q.Key})
	require.NoError(t, err)
	if found[0] {
		return all[0], nil
	}
	_, err = b.failed.Complete(context.Background(), q.Wire)
	return cache.Answer{}, err
}

// wantAnswers checks that the first n prompts have good answers.
func wantAnswers(t testing.TB, b *Batches, n int) {
	t.Helper()
	for _, p := range prompts(n) {
		if a, err := result(t, b, p); err != nil || !a.HasText || a.Text != llmtest.Answer("test-model", p, 0) {
			t.Errorf("%s: %+v, %v", p, a, err)
		}
	}
}

// wantSubmitted checks how often the model was asked for each of n prompts: once, except for those
// in others.
func wantSubmitted(t testing.TB, h *llmtest.Handler, n int, others map[int]int) {
	t.Helper()
	got := h.Batch.Submitted()
	for i, p := range prompts(n) {
		want, ok := others[i]
		if !ok {
			want = 1
		}
		assert.Equal(t, want, got[idOf(p)], "prompt %d was submitted", i)
	}
}

// plans applies these plans to the batches in turn; later batches succeed.
func plans(all ...llmtest.BatchPlan) func(int) llmtest.BatchPlan {
	return func(n int) llmtest.BatchPlan {
		if n < len(all) {
			return all[n]
		}
		return llmtest.BatchPlan{}
	}
}

// Requests and answers are the same as those of Complete, byte for byte.
func TestSameAsComplete(t *testing.T) {
	faults := map[string]llmtest.Fault{
		"good": nil, "length": llmtest.Finish("length", "cut"), "empty": llmtest.Finish("stop", ""),
		"null": llmtest.Apart(nil, "stop", nil), "filtered": llmtest.Finish("content_filter", ""), "blocked": llmtest.PromptBlocked(),
		"overflow": llmtest.ContextLength(), "no choices": llmtest.NoChoices(), "no credit": llmtest.Quota(),
		"invalid": llmtest.Status(422, "no such thing"), "no model": llmtest.Status(404, "which?"),
		"busy": llmtest.Status(429, "slow down"), "down": llmtest.Status(503, "later"), "web page": llmtest.HTML(502),
		"error": llmtest.ErrorBody(400, "not so"), "error 500": llmtest.ErrorBody(500, "not now"),
	}
	for _, endpoint := range []llm.Endpoint{llm.Chat, llm.Completions} {
		h := &llmtest.Handler{Decide: func(r *llmtest.Request) llmtest.Fault { return faults[r.Prompt] }}
		b := newBatches(t, h)
		b.Client = newClient(t, h, func(cfg *llm.Config) { cfg.Endpoint, cfg.MaxRetries = endpoint, -1 })
		b.attempts = 1
		var names []string
		for name := range faults {
			names = append(names, name)
		}
		mustFill(t, b, names)
		batched := h.Requests()
		for i, name := range names {
			want, wantErr := b.Client.Complete(t.Context(), rowOf(name).Wire)
			got, err := result(t, b, name)
			if (wantErr == nil) != (err == nil) || got.Text != want.Text || got.HasText != want.HasText || got.FinishReason != want.FinishReason {
				t.Errorf("%s, %s: %+v, %v; Complete gives %+v, %v", endpoint, name, got, err, want, wantErr)
			}
			var e, g *llm.Error
			if errors.As(wantErr, &e) && (!errors.As(err, &g) || e.Kind != g.Kind || e.Status != g.Status || e.Message != g.Message) {
				t.Errorf("%s, %s: error %v, Complete gives %v", endpoint, name, err, wantErr)
			}
			sent := h.Requests()[len(batched)+i]
			j := slices.IndexFunc(batched, func(b *llmtest.Request) bool { return b.Prompt == name })
			if b := batched[j]; !bytes.Equal(b.Raw, sent.Raw) || b.Chat != sent.Chat {
				t.Errorf("%s: sent\n%s, Complete sends\n%s", name, b.Raw, sent.Raw)
			}
		}
	}
}

// A model that wants the token limit under its newer name gets it under that name.
func TestTokenLimitByAnotherName(t *testing.T) {
	h := &llmtest.Handler{Decide: func(r *llmtest.Request) llmtest.Fault {
		if bytes.Contains(r.Raw, []byte(`"max_tokens"`)) {
			return llmtest.Body(400, "application/json", `{"error":{"message":"Use 'max_completion_tokens' instead.","param":"max_tokens"}}`)
		}
		return nil
	}}
	b := newBatches(t, h)
	mustFill(t, b, prompts(4))
	if wantAnswers(t, b, 4); len(h.Batch.Created()) != 2 {
		t.Errorf("%d batches", len(h.Batch.Created()))
	}
}

// A server with limits accepts all files and gets all rows in order. A request that cannot be sent
// fails without being sent.
func TestFilesWithinLimits(t *testing.T) {
	for seed := range 4 {
		rng := rand.New(rand.NewPCG(0, uint64(seed)))
		h := &llmtest.Handler{}
		b := newBatches(t, h)
		b.maxRows, b.maxBytes = 2+rng.IntN(8), 800+rng.IntN(2000)
		all := []string{strings.Repeat("too long ", 400), ""}
		for i := range 8 {
			all = append(all, fmt.Sprintf("%d %s", i, strings.Repeat("é", rng.IntN(100))))
		}
		mustFill(t, b, all)
		next := 2
		for _, there := range h.Batch.Created() {
			if there.Status != "completed" || len(there.Rows) > b.maxRows || there.Bytes > b.maxBytes {
				t.Fatalf("batch %+v", there)
			}
			for _, id := range there.Rows {
				require.Equal(t, id, idOf(all[next]), "row %s stands where %q is due", id, all[next])
				next++
			}
		}
		for i, p := range all {
			if a, err := result(t, b, p); i < 2 && !errors.Is(err, llm.ErrInvalidRequest) || i >= 2 && (err != nil || a.Text != llmtest.Answer("test-model", p, 0)) {
				t.Fatalf("%q: %+v, %v", p, a, err)
			}
		}
	}
}

func TestBatchesThatGoWrong(t *testing.T) {
	const n = 7
	// edit changes the lines of the output file or the error file.
	type edit = func(lines []string) []string
	plan := func(output, errs edit) llmtest.BatchPlan { return llmtest.BatchPlan{Output: output, Errors: errs} }
	none := func([]string) []string { return nil }
	drop := func(n int) edit { return func(lines []string) []string { return lines[min(n, len(lines)):] } }
	put := func(i int, line string) edit {
		return func(lines []string) []string {
			lines[i] = strings.ReplaceAll(line, "ID", idOf(promptOf(i)))
			return lines
		}
	}
	all := map[int]int{0: 2, 1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2}
	for name, c := range map[string]struct {
		plans []llmtest.BatchPlan
		again map[int]int // how often rows are submitted, if not once
		says  string      // warning
	}{
		"slow":           {plans: []llmtest.BatchPlan{{Gets: 5}}},
		"no output file": {plans: []llmtest.BatchPlan{plan(none, nil)}, again: all},
		"missing twice":  {plans: []llmtest.BatchPlan{plan(drop(2), nil), plan(drop(1), nil)}, again: map[int]int{0: 3, 1: 2}},
		"doubled":        {plans: []llmtest.BatchPlan{plan(func(l []string) []string { return slices.Concat(l, l) }, nil)}},
		"another order": {plans: []llmtest.BatchPlan{plan(func(l []string) []string {
			slices.Reverse(l)
			return l
		}, nil)}},
		"expired":                      {plans: []llmtest.BatchPlan{{Status: "expired", Unanswered: 3}}},
		"expired, and nothing says so": {plans: []llmtest.BatchPlan{{Status: "expired", Unanswered: 3, Errors: none}}},
		"expired twice":                {plans: []llmtest.BatchPlan{{Status: "expired", Unanswered: n}, {Status: "expired", Unanswered: 2}}},
		"error in a body": {plans: []llmtest.BatchPlan{plan(put(2, `{"custom_id":"ID","response":{"status_code":200,"body":{"error":{"message":"it broke"}}}}`), nil)},
			again: map[int]int{2: 2}},
		"a rate limit in a body": {plans: []llmtest.BatchPlan{plan(put(2, `{"custom_id":"ID","response":{"status_code":200,"body":{"error":{"message":"too fast","code":429}}}}`), nil)},
			again: map[int]int{2: 2}},
		"broken lines": {plans: []llmtest.BatchPlan{plan(func(l []string) []string {
			l[1], l[3] = `{"custom_id":"`, "\x00\xff"
			return append([]string{"null", "[]", `{"response":{}}`, "", " \r", `{"custom_id":"who","response":{"status_code":200,"body":{}}}`}, l...)
		}, nil)}, again: map[int]int{1: 2, 3: 2}, says: `have nothing for 2 rows, but lines that are no answers to it: 5 that cannot be read, 1 about other rows, the first in file "`},
		"a byte order mark": {plans: []llmtest.BatchPlan{plan(func(l []string) []string {
			l[0] = "\ufeff" + l[0]
			return l
		}, nil)}},
		"the status as a text": {plans: []llmtest.BatchPlan{plan(func(l []string) []string {
			l[0] = strings.Replace(l[0], `"status_code":200`, `"status_code":"200"`, 1)
			l[1] = strings.Replace(l[1], `"status_code":200`, `"status_code":null`, 1)
			return l
		}, nil)}},
		"nothing in it": {plans: []llmtest.BatchPlan{plan(put(0, `{"custom_id":"ID"}`), nil)}, again: map[int]int{0: 2}},
		"error first": {plans: []llmtest.BatchPlan{plan(func(l []string) []string {
			return append([]string{`{"custom_id":"` + idOf(promptOf(0)) + `","error":{"code":"x","message":"m"}}`}, l...)
		}, nil)}},
		"error elsewhere": {plans: []llmtest.BatchPlan{plan(put(0, `{"custom_id":"ID","response":{"status_code":503,"body":null},"error":{"error":{"message":"no","code":503}}}`), nil)},
			again: map[int]int{0: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			h := &llmtest.Handler{Batch: llmtest.Batches{Plan: plans(c.plans...)}}
			b := newBatches(t, h)
			said := ""
			b.Warn = func(m string) { said += m }
			mustFill(t, b, prompts(n))
			wantAnswers(t, b, n)
			wantSubmitted(t, h, n, c.again)
			assert.True(t, strings.Contains(said, c.says) && (said == "") == (c.says == ""), said)
			again := 0
			for _, k := range c.again {
				again += k - 1
			}
			for _, p := range c.plans {
				again += p.Unanswered
			}
			assert.Equal(t, (BatchProgress{Rows: n, Done: n, Batches: len(h.Batch.Created()), Again: again}), b.progress)
		})
	}
}

// Rows fail for good, or after three batches. Servers write them into one file or two.
func TestRowsThatFail(t *testing.T) {
	h := &llmtest.Handler{}
	for prompt, faults := range map[string][]llmtest.Fault{
		promptOf(0): llmtest.Repeat(2, llmtest.Status(500, "out of order")),
		promptOf(1): llmtest.Repeat(9, llmtest.Status(429, "too many")),
		promptOf(2): {llmtest.ContextLength()},
		promptOf(3): {llmtest.PromptBlocked()},
		promptOf(4): {llmtest.Finish("content_filter", "")},
		promptOf(5): llmtest.Repeat(9, llmtest.Reset()),
		promptOf(6): {llmtest.Reset()},
		promptOf(7): {llmtest.Status(400, "nonsense \x1b[2J"+testKey)},
	} {
		h.FailPrompt(prompt, faults...)
	}
	b := newBatches(t, h)
	mustFill(t, b, prompts(9))
	for i, want := range []error{nil, llm.ErrRateLimited, llm.ErrContextLength, nil, nil, llm.ErrUnavailable, nil, llm.ErrInvalidRequest, nil} {
		a, err := result(t, b, promptOf(i))
		if !errors.Is(err, want) || err == nil && a.HasText == (i == 3 || i == 4) {
			t.Errorf("prompt %d: %+v, %v, want %v", i, a, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), testKey) || strings.ContainsRune(err.Error(), 0x1b)) {
			t.Errorf("error %q", err)
		}
	}
	if _, err := result(t, b, promptOf(1)); !strings.Contains(err.Error(), "after 3 batches") || !strings.Contains(err.Error(), "too many") {
		t.Errorf("error %v", err)
	}
	wantSubmitted(t, h, 9, map[int]int{0: 3, 1: 3, 5: 3, 6: 2})
	assert.True(t, b.progress.Done == 5 && b.progress.Failed == 4, "progress ends with %+v", b.progress)
	// Another run asks for the failed rows again.
	mustFill(t, b, prompts(9))
	wantSubmitted(t, h, 9, map[int]int{0: 3, 1: 6, 2: 2, 5: 6, 6: 2, 7: 2})
}

// If all rows have answers, the error file is not needed; some servers name one that does not exist.
func TestFileOfErrorsThatIsNotNeeded(t *testing.T) {
	h := &llmtest.Handler{}
	h.Batch.Plan = func(int) llmtest.BatchPlan {
		return llmtest.BatchPlan{Errors: func([]string) []string { return []string{"{}"} }}
	}
	b := newBatches(t, h)
	mustFill(t, b, prompts(3))
	n := h.Batch.Steps(llmtest.BatchContent)
	assert.True(t, n == 1 && b.progress.Done == 3, "%d files were read, progress %+v", n, b.progress)
}

// Every kind of request can fail for a while, in every way.
func TestRequestsThatFail(t *testing.T) {
	for name, fault := range map[string]llmtest.Fault{
		"rate limit": llmtest.Status(429, "slow down"), "server error": llmtest.Status(500, "oh"), "malformed": llmtest.Malformed(),
		"wrong types": llmtest.Body(200, "application/json", `{"id":[],"status":7,"data":"x"}`), "other JSON": llmtest.Body(200, "application/json", `{"hello":1}`),
	} {
		for _, step := range []llmtest.BatchStep{llmtest.BatchUpload, llmtest.BatchCreate, llmtest.BatchGet, llmtest.BatchContent, llmtest.BatchList} {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/%v", name, step, after), func(t *testing.T) {
					h := &llmtest.Handler{}
					if step == llmtest.BatchList {
						h.Batch.FailAfter(llmtest.BatchCreate, llmtest.Reset())
					}
					fail := h.Batch.Fail
					if after {
						fail = h.Batch.FailAfter
					}
					fail(step, llmtest.Repeat(5, fault)...) // more than the client's own retries
					b := newBatches(t, h)
					b.maxRows, b.attempts = 3, 9
					mustFill(t, b, prompts(5))
					wantAnswers(t, b, 5)
					// Except for a file without the rows, and a refusal that is not one.
					if (step != llmtest.BatchContent || !strings.Contains("malformed wrong types other JSON", name)) &&
						(step != llmtest.BatchCreate || !after || name != "rate limit") {
						wantSubmitted(t, h, 5, nil)
					}
				})
			}
		}
	}
}

// A server that stays down, refuses the key or has forgotten a batch ends the run. Nothing is lost
// or paid for twice.
func TestServerThatEndsTheRun(t *testing.T) {
	for _, c := range []struct {
		status int
		kind   error
		says   string
		steps  []llmtest.BatchStep
	}{
		{503, llm.ErrUnavailable, "given up", []llmtest.BatchStep{llmtest.BatchUpload, llmtest.BatchCreate, llmtest.BatchGet, llmtest.BatchContent}},
		{401, llm.ErrAuth, "", []llmtest.BatchStep{llmtest.BatchUpload, llmtest.BatchCreate, llmtest.BatchGet, llmtest.BatchContent}},
		{404, llm.ErrNotFound, "JOURNAL", []llmtest.BatchStep{llmtest.BatchGet, llmtest.BatchContent}},
		{404, llm.ErrNotFound, `"file-1"`, []llmtest.BatchStep{llmtest.BatchList}}, // the server cannot tell whether a batch exists
		{200, llm.ErrBadAnswer, "is no file of the Batch API, and begins `<html>closed</html>`; nothing is sent again", []llmtest.BatchStep{llmtest.BatchContent}},
		{201, nil, `has none of its 5 rows, but others, such as "who"; the model has probably answered, so nothing is sent again: remove journal JOURNAL`, []llmtest.BatchStep{llmtest.BatchContent}},
		{202, llm.ErrBadAnswer, `the server says that it answered 5 rows of batch "batch_1", but gives none; nothing is sent again`, []llmtest.BatchStep{llmtest.BatchContent}},
	} {
		for _, step := range c.steps {
			h := &llmtest.Handler{}
			fault := llmtest.Status(c.status, "closed")
			switch c.status {
			case 200:
				fault = llmtest.Body(200, "text/html", "<html>closed</html>")
			case 201:
				fault = llmtest.Body(200, "application/json", `{"custom_id":"who","response":{"status_code":200,"body":{}}}`+"\n")
			case 202:
				fault = llmtest.Body(200, "application/json", "")
			}
			h.Batch.Fail(step, llmtest.Repeat(99, fault)...)
			if step == llmtest.BatchList {
				h.Batch.FailAfter(llmtest.BatchCreate, llmtest.Reset())
			}
			b := newBatches(t, h)
			err := fill(t.Context(), b, prompts(5))
			if c.kind != nil && !errors.Is(err, c.kind) || err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(c.says, "JOURNAL", b.Journal)) {
				t.Errorf("%s: error %v", step, err)
			}
			n := h.Batch.Steps(step)
			assert.False(t, c.status%100 == 1 && n != 1 || c.status == 404 && n != 1, "%s: %d requests", step, n)
			h.Batch.Mend()
			mustFill(t, b, prompts(5))
			wantAnswers(t, b, 5)
			wantSubmitted(t, h, 5, nil)
		}
	}
}

func TestValidationFails(t *testing.T) {
	h := &llmtest.Handler{}
	h.Batch.Plan = plans(llmtest.BatchPlan{Problems: []llmtest.BatchProblem{
		{Line: 2, Code: "invalid_request", Message: "no such field: \x1b[31mseed " + testKey}, {Code: "too_bad", Message: "the file is odd"},
	}})
	b := newBatches(t, h)
	err := fill(t.Context(), b, prompts(3))
	require.ErrorIs(t, err, llm.ErrInvalidRequest)
	for _, want := range []string{"line 2", idOf(promptOf(1)), "no such field", "invalid_request", "the file is odd", `"batch_1"`} {
		assert.ErrorContains(t, err, want)
	}
	s := err.Error()
	assert.True(t, !strings.Contains(s, testKey) && !strings.ContainsRune(s, 0x1b), "error %q", s)
	mustFill(t, b, prompts(3))
	wantAnswers(t, b, 3)
	wantSubmitted(t, h, 3, nil)
}

// Rows that the server names as invalid fail, and the others are sent again.
func TestValidationNamesRows(t *testing.T) {
	h := &llmtest.Handler{}
	h.Batch.Plan = plans(llmtest.BatchPlan{Problems: []llmtest.BatchProblem{{Line: 5, Code: "bad", Message: "no"}, {Line: 4, Code: "bad", Message: "no"}}})
	b := newBatches(t, h)
	mustFill(t, b, prompts(5))
	wantAnswers(t, b, 3)
	if _, err := result(t, b, promptOf(4)); !errors.Is(err, llm.ErrInvalidRequest) || !strings.Contains(err.Error(), "the server refused the row: no (bad)") {
		t.Errorf("error %v", err)
	}
	h = &llmtest.Handler{} // which names the first row every time
	h.Batch.Plan = func(int) llmtest.BatchPlan {
		return llmtest.BatchPlan{Problems: []llmtest.BatchProblem{{Line: 1, Code: "model_not_found"}}}
	}
	if err := fill(t.Context(), newBatches(t, h), prompts(9)); !errors.Is(err, llm.ErrInvalidRequest) || h.Batch.Steps(llmtest.BatchCreate) != 3 {
		t.Errorf("error %v after %d batches", err, h.Batch.Steps(llmtest.BatchCreate))
	}
}

// A server whose queue is full gets the remaining rows when there is room again.
func TestQueueFull(t *testing.T) {
	full := llmtest.BatchPlan{Problems: []llmtest.BatchProblem{{Code: "token_limit_exceeded", Message: "enqueued token limit reached"}}}
	h := &llmtest.Handler{}
	h.Batch.Plan = plans(llmtest.BatchPlan{Gets: 4}, full, full)
	b := newBatches(t, h)
	b.maxRows = 2
	mustFill(t, b, prompts(6))
	wantAnswers(t, b, 6)
	wantSubmitted(t, h, 6, nil)
	// One that is too small for all rows gets parts, one after the other.
	h = &llmtest.Handler{}
	h.Batch.Plan = plans(full, full, llmtest.BatchPlan{Gets: 3}, full, llmtest.BatchPlan{Gets: 2})
	b = newBatches(t, h)
	mustFill(t, b, prompts(9))
	wantAnswers(t, b, 9)
	wantSubmitted(t, h, 9, nil)
	h = &llmtest.Handler{}
	h.Batch.Plan = func(int) llmtest.BatchPlan { return full }
	err := fill(t.Context(), newBatches(t, h), prompts(2))
	assert.ErrorContains(t, err, "enqueued token limit", "error")
}

// If a batch is cancelled on the server, its unanswered rows are left to another run.
func TestCancelledAtTheServer(t *testing.T) {
	h := &llmtest.Handler{}
	h.Batch.Plan = plans(llmtest.BatchPlan{Status: "cancelled", Unanswered: 2})
	b := newBatches(t, h)
	mustFill(t, b, prompts(5))
	wantAnswers(t, b, 3)
	_, err := result(t, b, promptOf(4))
	assert.ErrorContains(t, err, "cancelled at the server")
	mustFill(t, b, prompts(5))
	wantAnswers(t, b, 5)
	wantSubmitted(t, h, 5, nil)
}

// Servers take one model a batch, so the questions of two models, in any order, go into their own.
func TestBatchesOfTwoModels(t *testing.T) {
	h := &llmtest.Handler{}
	b := newBatches(t, h)
	b.Models, b.maxRows = []string{"test-model", "other"}, 3
	models := map[string]string{}
	b.Plan = func(ctx context.Context, need func(Question) error) error {
		for i, p := range prompts(10) {
			q := rowOf(p)
			q.Wire.Model = b.Models[i%2]
			if models[q.Key.String()] = q.Wire.Model; h.Batch.Steps(llmtest.BatchContent) == 0 {
				require.NoError(t, need(q))
			}
		}
		return nil
	}
	_, err := b.Fill(t.Context())
	require.NoError(t, err)
	wantSubmitted(t, h, 10, nil)
	for _, there := range h.Batch.Created() {
		for _, id := range there.Rows {
			assert.Equal(t, models[there.Rows[0]], models[id])
		}
	}
	assert.Len(t, h.Batch.Created(), 4)
}

// An answer that repeats the key is paid for once, and a status that nobody knows is said once.
func TestEchoAndUnknownStatus(t *testing.T) {
	echo := func(lines []string) []string {
		lines[1] = `{"custom_id":"` + idOf(promptOf(1)) + `","response":{"status_code":200,"body":{"choices":[{"message":{"content":"` + testKey + `"}}]}}}`
		return lines
	}
	h := &llmtest.Handler{Batch: llmtest.Batches{Plan: plans(llmtest.BatchPlan{Output: echo, Gets: 3, Running: "resting"})}}
	b := newBatches(t, h)
	said := ""
	b.Warn = func(m string) { said += m }
	mustFill(t, b, prompts(3))
	wantSubmitted(t, h, 3, nil)
	_, err := result(t, b, promptOf(1))
	assert.ErrorContains(t, err, "repeats the API key")
	assert.Equal(t, 1, strings.Count(said, `has the status "resting"`), said)
}
