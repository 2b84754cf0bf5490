package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

func ExampleRunner() {
	// A test double; a program has a real server's address here.
	h := &llmtest.Handler{Answer: func(r *llmtest.Request) string { return "Answer to " + r.Prompt }}
	client, err := llm.New(llm.Config{BaseURL: "http://127.0.0.1:8000/v1", Transport: h.Transport()})
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	r := &Runner{Client: client, Journal: filepath.Join(dir, "journal")}
	prompts := func(yield func(Item, error) bool) {
		for _, p := range []string{"one", "two"} {
			it := Item{ID: "id-of-" + p, Request: llm.Request{Model: "m", Prompt: p, TopP: 1, MaxTokens: 20}}
			if !yield(it, nil) {
				return
			}
		}
	}
	err = r.Run(context.Background(), prompts, func(res Result) error {
		fmt.Println(res.ID, res.Response.Text, res.Err)
		return nil
	})
	fmt.Println(err)
	// Output:
	// id-of-one Answer to one <nil>
	// id-of-two Answer to two <nil>
	// <nil>
}

// What is asked, and what comes back, is what Complete would have sent and
// would have returned, byte for byte.
func TestSameAsComplete(t *testing.T) {
	faults := map[string]llmtest.Fault{
		"good": nil, "length": llmtest.Finish("length", "cut"), "empty": llmtest.Finish("stop", ""),
		"null": llmtest.NullText("stop"), "filtered": llmtest.ContentFilter(), "blocked": llmtest.PromptBlocked(),
		"overflow": llmtest.ContextLength(), "no choices": llmtest.NoChoices(), "no credit": llmtest.Quota(),
		"invalid": llmtest.Status(422, "no such thing"), "no model": llmtest.Status(404, "which?"),
		"busy": llmtest.Status(429, "slow down"), "down": llmtest.Status(503, "later"), "web page": llmtest.HTML(502),
		"error": llmtest.ErrorBody(400, "not so"), "error 500": llmtest.ErrorBody(500, "not now"),
	}
	for _, endpoint := range []llm.Endpoint{llm.Chat, llm.Completions} {
		h := &llmtest.Handler{Decide: func(r *llmtest.Request) llmtest.Fault { return faults[r.Prompt] }}
		c := newClient(t, h, func(cfg *llm.Config) { cfg.Endpoint, cfg.MaxRetries = endpoint, -1 })
		var all []Item
		for name := range faults {
			it := item(name)
			it.Request.Stop, it.Request.Extra = []string{"<END>"}, map[string]any{"seed": 3}
			all = append(all, it)
		}
		r := newRunner(t, h)
		r.Client, r.attempts = c, 1
		rs := mustRun(t, r, list(all...))
		batched := h.Requests()
		for i, it := range all {
			want, wantErr := c.Complete(t.Context(), it.Request)
			got := rs[it.ID]
			if got.Response != want {
				t.Errorf("%s, %s: response %+v, Complete gives %+v", endpoint, it.Request.Prompt, got.Response, want)
			}
			var e, g *llm.Error
			if errors.As(wantErr, &e) != errors.As(got.Err, &g) || (wantErr == nil) != (got.Err == nil) {
				t.Errorf("%s, %s: error %v, Complete gives %v", endpoint, it.Request.Prompt, got.Err, wantErr)
			} else if e != nil && (e.Kind != g.Kind || e.Status != g.Status || e.Message != g.Message) {
				t.Errorf("%s, %s: error %v, Complete gives %v", endpoint, it.Request.Prompt, g, e)
			}
			sent := h.Requests()[len(batched)+i]
			if j := slices.IndexFunc(batched, func(b *llmtest.Request) bool { return b.Prompt == it.Request.Prompt }); j < 0 {
				t.Errorf("%s was not in the batch", it.Request.Prompt)
			} else if b := batched[j]; !bytes.Equal(b.Raw, sent.Raw) || b.Chat != sent.Chat {
				t.Errorf("%s: sent\n%s, Complete sends\n%s", it.Request.Prompt, b.Raw, sent.Raw)
			}
		}
	}
}

// A model that wants the token limit under its newer name gets it so.
func TestTokenLimitByAnotherName(t *testing.T) {
	h := &llmtest.Handler{Decide: func(r *llmtest.Request) llmtest.Fault {
		if bytes.Contains(r.Raw, []byte(`"max_tokens"`)) {
			return llmtest.Body(400, "application/json", `{"error":{"message":"Use 'max_completion_tokens' instead.","param":"max_tokens"}}`)
		}
		return nil
	}}
	r := newRunner(t, h)
	wantAnswers(t, mustRun(t, r, items(4)), 4)
	if n := len(h.Batch.Created()); n != 2 {
		t.Errorf("%d batches", n)
	}
}

func TestItems(t *testing.T) {
	broken := errors.New("the input is broken")
	for name, c := range map[string]struct {
		in      iter.Seq2[Item, error]
		want    string // of the run's error
		results int
	}{
		"none":           {in: items(0)},
		"doubles":        {in: list(item("a"), item("b"), item("a"), item("b")), results: 2},
		"another model":  {in: list(item("a"), Item{ID: "x", Request: llm.Request{Model: "other", Prompt: "p", MaxTokens: 1}}), want: `model "other"`},
		"no ID":          {in: list(Item{Request: item("a").Request}), want: "ID"},
		"broken ID":      {in: list(Item{ID: "\xff", Request: item("a").Request}), want: "UTF-8"},
		"an input error": {in: func(yield func(Item, error) bool) { _ = yield(item("a"), nil) && yield(Item{}, broken) }, want: broken.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			h := &llmtest.Handler{}
			r := newRunner(t, h)
			rs := results{}
			err := r.Run(t.Context(), c.in, rs.keep(t))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if len(rs) != c.results || h.Calls() != c.results {
				t.Errorf("%d results of %d calls, want %d", len(rs), h.Calls(), c.results)
			}
		})
	}
}

// A request that cannot be sent has an error for a result, and is not sent.
func TestItemsThatAreNotSent(t *testing.T) {
	h := &llmtest.Handler{}
	r := newRunner(t, h)
	r.maxBytes = 400
	long, empty, nobody := item(strings.Repeat("long ", 80)), item("empty"), item("nobody")
	empty.Request.Prompt = ""
	nobody.Request.Model = ""
	rs := mustRun(t, r, list(nobody, long, empty, item("good")))
	for _, it := range []Item{long, empty, nobody} {
		if err := rs[it.ID].Err; !errors.Is(err, llm.ErrInvalidRequest) {
			t.Errorf("error %v", err)
		}
	}
	if len(rs) != 4 || rs[idOf("good")].Err != nil || h.Calls() != 1 {
		t.Errorf("results %v after %d calls", rs, h.Calls())
	}
}

func TestCallerStops(t *testing.T) {
	h := &llmtest.Handler{}
	r := newRunner(t, h)
	// Also an error of a kind that the run bears with from its server.
	full := fmt.Errorf("disk full: %w", llm.ErrUnavailable)
	n := 0
	err := r.Run(t.Context(), items(5), func(Result) error {
		if n++; n == 3 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || n != 3 {
		t.Errorf("error %v after %d results", err, n)
	}
	wantAnswers(t, mustRun(t, r, items(5)), 5)
	wantSubmitted(t, h, 5, nil)
}

func TestCancel(t *testing.T) {
	h := &llmtest.Handler{}
	h.Batch.Plan = func(int) llmtest.BatchPlan { return llmtest.BatchPlan{Gets: 3} }
	r := newRunner(t, h)
	r.Interval = time.Hour // the pause is what is cancelled
	ctx, cancel := context.WithCancel(t.Context())
	r.Observe = func(p Progress) {
		if p.Open > 0 {
			cancel()
		}
	}
	err := r.Run(ctx, items(5), results{}.keep(t))
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), r.Journal) {
		t.Errorf("error %v", err)
	}
	if h.Batch.Steps(llmtest.BatchCancel) != 0 {
		t.Error("the batch was cancelled")
	}
	r.Observe, r.Interval = nil, time.Millisecond
	wantAnswers(t, mustRun(t, r, items(5)), 5)
	wantSubmitted(t, h, 5, nil)
	if err := r.Run(ctx, items(5), results{}.keep(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// After a run that ended, another pays only for what failed.
func TestRunAgain(t *testing.T) {
	h := &llmtest.Handler{}
	h.FailPrompt(promptOf(1), llmtest.Repeat(3, llmtest.Status(500, "oh"))...)
	h.FailPrompt(promptOf(2), llmtest.Quota())
	r := newRunner(t, h)
	rs := mustRun(t, r, items(4))
	if rs[idOf(promptOf(1))].Err == nil || !errors.Is(rs[idOf(promptOf(2))].Err, llm.ErrQuota) {
		t.Errorf("results %v", rs)
	}
	wantAnswers(t, mustRun(t, r, items(6)), 6)
	wantSubmitted(t, h, 6, map[int]int{1: 4, 2: 2})
	wantAnswers(t, mustRun(t, r, items(3)), 3)
	wantSubmitted(t, h, 6, map[int]int{1: 4, 2: 2})
	if err := Remove(r.Journal); err != nil {
		t.Error(err)
	}
	wantAnswers(t, mustRun(t, r, items(3)), 3)
	wantSubmitted(t, h, 6, map[int]int{0: 2, 1: 5, 2: 3})
}

func TestBadRunners(t *testing.T) {
	h := &llmtest.Handler{}
	for _, change := range []func(*Runner){
		func(r *Runner) { r.Client = nil }, func(r *Runner) { r.Journal = "" }, func(r *Runner) { r.Interval = -1 },
		func(r *Runner) { r.Journal = filepath.Join(r.Journal, "no", "such") },
	} {
		r := newRunner(t, h)
		change(r)
		if err := r.Run(t.Context(), items(1), results{}.keep(t)); err == nil {
			t.Error("no error")
		}
	}
}
