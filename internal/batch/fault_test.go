package batch

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

func TestBatchesThatGoWrong(t *testing.T) {
	const n = 7
	row := func(i int) string { return idOf(promptOf(i)) }
	for name, c := range map[string]struct {
		plans []llmtest.BatchPlan
		again map[int]int // how often rows are submitted, if not once
		lines int         // unusable
	}{
		"slow":           {plans: []llmtest.BatchPlan{{Gets: 5}}},
		"no output file": {plans: []llmtest.BatchPlan{{Edits: []llmtest.BatchEdit{noOutputFile()}}}, again: map[int]int{0: 2, 1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2}},
		"rows missing":   {plans: []llmtest.BatchPlan{{Edits: []llmtest.BatchEdit{dropRows(2)}}}, again: map[int]int{0: 2, 1: 2}},
		"missing twice":  {plans: []llmtest.BatchPlan{{Edits: []llmtest.BatchEdit{dropRows(2)}}, {Edits: []llmtest.BatchEdit{dropRows(1)}}}, again: map[int]int{0: 3, 1: 2}},
		"rows doubled":   {plans: []llmtest.BatchPlan{{Edits: []llmtest.BatchEdit{doubleRows()}}}, lines: n},
		"another order":  {plans: []llmtest.BatchPlan{{Edits: []llmtest.BatchEdit{shuffleRows(1)}}}},
		"expired":        {plans: []llmtest.BatchPlan{{Status: "expired", Unanswered: 3}}},
		"expired, and nothing says so": {plans: []llmtest.BatchPlan{
			{Status: "expired", Unanswered: 3, Edits: []llmtest.BatchEdit{noErrorFile()}},
		}},
		"expired twice":   {plans: []llmtest.BatchPlan{{Status: "expired", Unanswered: n}, {Status: "expired", Unanswered: 2}}},
		"error in a body": {plans: []llmtest.BatchPlan{{Edits: []llmtest.BatchEdit{errorInRow(2, nil, "it broke")}}}, again: map[int]int{2: 2}},
		"a rate limit in a body": {plans: []llmtest.BatchPlan{{Edits: []llmtest.BatchEdit{errorInRow(2, 429, "too fast")}}},
			again: map[int]int{2: 2}},
		"broken lines": {plans: []llmtest.BatchPlan{{Edits: []llmtest.BatchEdit{
			replaceRow(1, `{"custom_id":"`), replaceRow(3, "\x00\xff"), addRow("null"), addRow("[]"), addRow(`{"response":{}}`),
		}}}, again: map[int]int{1: 2, 3: 2}, lines: 5},
		"empty lines":     {plans: []llmtest.BatchPlan{{Edits: []llmtest.BatchEdit{addRow(""), addRow(" \r")}}}},
		"unknown rows":    {plans: []llmtest.BatchPlan{{Edits: []llmtest.BatchEdit{addRow(`{"custom_id":"who","response":{"status_code":200,"body":{}}}`)}}}, lines: 1},
		"nothing in it":   {plans: []llmtest.BatchPlan{{Edits: []llmtest.BatchEdit{replaceRow(0, `{"custom_id":"`+row(0)+`"}`)}}}, again: map[int]int{0: 2}},
		"error first":     {plans: []llmtest.BatchPlan{{Edits: []llmtest.BatchEdit{addRow(`{"custom_id":"` + row(0) + `","error":{"code":"x","message":"m"}}`)}}}, lines: 1},
		"error elsewhere": {plans: []llmtest.BatchPlan{{Edits: []llmtest.BatchEdit{replaceRow(0, `{"custom_id":"`+row(0)+`","response":{"status_code":503,"body":null},"error":{"error":{"message":"no","code":503}}}`)}}}, again: map[int]int{0: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			h := &llmtest.Handler{Batch: llmtest.Batches{Plan: plans(c.plans...)}}
			r := newRunner(t, h)
			var last Progress
			r.Observe = func(p Progress) { last = p }
			wantAnswers(t, mustRun(t, r, items(n)), n)
			wantSubmitted(t, h, n, c.again)
			again := 0
			for _, k := range c.again {
				again += k - 1
			}
			for _, p := range c.plans {
				again += p.Unanswered
			}
			want := Progress{Done: n, Batches: len(h.Batch.Created()), Again: again, Unusable: c.lines}
			if last != want {
				t.Errorf("progress ends with %+v, want %+v", last, want)
			}
		})
	}
}

// Servers write failed rows into one file or two.
func TestRowsThatFail(t *testing.T) {
	for name, edits := range map[string][]llmtest.BatchEdit{"error file": nil, "one file": {oneFile()}} {
		t.Run(name, func(t *testing.T) {
			h := &llmtest.Handler{}
			h.Batch.Plan = func(int) llmtest.BatchPlan { return llmtest.BatchPlan{Edits: edits} }
			for prompt, faults := range map[string][]llmtest.Fault{
				promptOf(0): llmtest.Repeat(2, llmtest.Status(500, "out of order")),
				promptOf(1): llmtest.Repeat(9, llmtest.Status(429, "too many")),
				promptOf(2): {llmtest.ContextLength()},
				promptOf(3): {llmtest.PromptBlocked()},
				promptOf(4): {llmtest.ContentFilter()},
				promptOf(5): llmtest.Repeat(9, llmtest.Reset()),
				promptOf(6): {llmtest.Reset()},
				promptOf(7): {llmtest.Status(400, "nonsense \x1b[2J"+testKey)},
			} {
				h.FailPrompt(prompt, faults...)
			}
			r := newRunner(t, h)
			var last Progress
			r.Observe = func(p Progress) { last = p }
			rs := mustRun(t, r, items(9))
			for i, want := range map[int]error{
				0: nil, 1: llm.ErrRateLimited, 2: llm.ErrContextLength, 3: nil, 4: nil, 5: llm.ErrUnavailable, 6: nil, 7: llm.ErrInvalidRequest, 8: nil,
			} {
				got := rs[idOf(promptOf(i))]
				if want == nil && got.Err != nil || !errors.Is(got.Err, want) {
					t.Errorf("prompt %d: error %v, want %v", i, got.Err, want)
				}
				if got.Err == nil && got.Response.HasText == (i == 3 || i == 4) {
					t.Errorf("prompt %d: response %+v", i, got.Response)
				}
			}
			for _, i := range []int{1, 5} {
				if err := rs[idOf(promptOf(i))].Err; err == nil || !strings.Contains(err.Error(), "after 3 batches") {
					t.Errorf("prompt %d: error %v does not tell the attempts", i, err)
				}
			}
			if err := rs[idOf(promptOf(1))].Err; !strings.Contains(err.Error(), "too many") {
				t.Errorf("error %v does not tell what the server said", err)
			}
			if err := rs[idOf(promptOf(7))].Err.Error(); strings.Contains(err, testKey) || strings.ContainsRune(err, 0x1b) {
				t.Errorf("error %q", err)
			}
			wantSubmitted(t, h, 9, map[int]int{0: 3, 1: 3, 5: 3, 6: 2})
			if last.Done != 5 || last.Failed != 4 {
				t.Errorf("progress ends with %+v", last)
			}
		})
	}
}

// Every request can fail for a while, in every way.
func TestRequestsThatFail(t *testing.T) {
	for name, fault := range map[string]llmtest.Fault{
		"rate limit": llmtest.Status(429, "slow down"), "server error": llmtest.Status(500, "oh"), "reset": llmtest.Reset(),
		"cut": llmtest.Truncated(), "web page": llmtest.HTML(503), "malformed": llmtest.Malformed(), "empty": llmtest.Body(200, "application/json", ""),
		"wrong types": llmtest.Body(200, "application/json", `{"id":[],"status":7,"data":"x"}`), "other JSON": llmtest.Body(200, "application/json", `{"hello":1}`),
	} {
		for _, step := range []llmtest.BatchStep{llmtest.BatchUpload, llmtest.BatchCreate, llmtest.BatchGet, llmtest.BatchContent, llmtest.BatchList} {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/%v", name, step, after), func(t *testing.T) {
					h := &llmtest.Handler{}
					fail := h.Batch.Fail
					if after {
						fail = h.Batch.FailAfter
					}
					if step == llmtest.BatchList {
						h.Batch.FailAfter(llmtest.BatchCreate, llmtest.Reset())
					}
					// More than the client's own retries cure.
					fail(step, llmtest.Repeat(5, fault)...)
					r := newRunner(t, h)
					r.maxRows = 3
					r.attempts = 9
					wantAnswers(t, mustRun(t, r, items(5)), 5)
					if (step != llmtest.BatchContent || !strings.Contains("malformed empty wrong types other JSON", name)) &&
						(step != llmtest.BatchCreate || !after || name != "rate limit") {
						// But for a file without the rows, and a refusal that
						// is none.
						wantSubmitted(t, h, 5, nil)
					}
				})
			}
		}
	}
}

// A server that stays down ends the run, and nothing is lost.
func TestServerStaysDown(t *testing.T) {
	for _, step := range []llmtest.BatchStep{llmtest.BatchUpload, llmtest.BatchCreate, llmtest.BatchGet, llmtest.BatchContent} {
		down := true
		h := &llmtest.Handler{}
		h.Batch.Decide = func(s llmtest.BatchStep, _ *llmtest.Request) llmtest.Fault {
			if down && s == step {
				return llmtest.Status(503, "closed")
			}
			return nil
		}
		r := newRunner(t, h)
		err := r.Run(t.Context(), items(5), results{}.keep(t))
		if !errors.Is(err, llm.ErrUnavailable) || !strings.Contains(err.Error(), "given up") {
			t.Errorf("%s: error %v", step, err)
		}
		down = false
		wantAnswers(t, mustRun(t, r, items(5)), 5)
		wantSubmitted(t, h, 5, nil)
	}
}

func TestRefusedAtOnce(t *testing.T) {
	for _, step := range []llmtest.BatchStep{llmtest.BatchUpload, llmtest.BatchCreate, llmtest.BatchGet, llmtest.BatchContent} {
		h := &llmtest.Handler{}
		h.Batch.Fail(step, llmtest.Status(401, "who?"))
		r := newRunner(t, h)
		if err := r.Run(t.Context(), items(5), results{}.keep(t)); !errors.Is(err, llm.ErrAuth) {
			t.Errorf("%s: error %v", step, err)
		}
		if h.Batch.Steps(step) != 1 {
			t.Errorf("%s: %d requests", step, h.Batch.Steps(step))
		}
		wantAnswers(t, mustRun(t, r, items(5)), 5)
		wantSubmitted(t, h, 5, nil)
	}
}

func TestValidationFails(t *testing.T) {
	h := &llmtest.Handler{}
	h.Batch.Plan = plans(llmtest.BatchPlan{Problems: []llmtest.BatchProblem{
		{Line: 2, Code: "invalid_request", Message: "no such field: \x1b[31mseed " + testKey}, {Code: "too_bad", Message: "the file is odd"},
	}})
	r := newRunner(t, h)
	err := r.Run(t.Context(), items(3), results{}.keep(t))
	var refused *RefusedError
	if !errors.As(err, &refused) || !errors.Is(err, llm.ErrInvalidRequest) {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{"line 2", idOf(promptOf(1)), "no such field", "invalid_request", "the file is odd", `"batch_1"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not have %q", err, want)
		}
	}
	if s := err.Error(); strings.Contains(s, testKey) || strings.ContainsRune(s, 0x1b) {
		t.Errorf("error %q", s)
	}
	wantAnswers(t, mustRun(t, r, items(3)), 3)
	wantSubmitted(t, h, 3, nil)
}

// A server whose queue is full gets the rest when it has done something.
func TestQueueFull(t *testing.T) {
	full := llmtest.BatchPlan{Problems: []llmtest.BatchProblem{{Code: "token_limit_exceeded", Message: "enqueued token limit reached"}}}
	h := &llmtest.Handler{}
	h.Batch.Plan = plans(llmtest.BatchPlan{Gets: 4}, full, full)
	r := newRunner(t, h)
	r.maxRows = 2
	wantAnswers(t, mustRun(t, r, items(6)), 6)
	wantSubmitted(t, h, 6, nil)
	if n := len(h.Batch.Created()); n != 5 {
		t.Errorf("%d batches, want 5", n)
	}

	h = &llmtest.Handler{}
	h.Batch.Plan = plans(full)
	r = newRunner(t, h)
	if err := r.Run(t.Context(), items(2), results{}.keep(t)); err == nil || !strings.Contains(err.Error(), "enqueued token limit") {
		t.Errorf("error %v", err)
	}
}

func TestCancelledAtTheServer(t *testing.T) {
	h := &llmtest.Handler{}
	h.Batch.Plan = plans(llmtest.BatchPlan{Status: "cancelled", Unanswered: 2})
	r := newRunner(t, h)
	rs := results{}
	if err := r.Run(t.Context(), items(5), rs.keep(t)); err == nil || !strings.Contains(err.Error(), "cancelled") {
		t.Errorf("error %v", err)
	}
	wantAnswers(t, rs, 3)
	wantAnswers(t, mustRun(t, r, items(5)), 5)
	wantSubmitted(t, h, 5, nil)
}

// A file that came damaged is read once more before anything is paid again.
func TestFileDamagedOnce(t *testing.T) {
	h := &llmtest.Handler{}
	h.Batch.Fail(llmtest.BatchContent, llmtest.Body(200, "application/octet-stream", `{"custom_id":"`))
	r := newRunner(t, h)
	var last Progress
	r.Observe = func(p Progress) { last = p }
	wantAnswers(t, mustRun(t, r, items(3)), 3)
	wantSubmitted(t, h, 3, nil)
	if last.Unusable != 0 {
		t.Errorf("progress %+v", last)
	}
}

// A batch that was created twice after all is followed once.
func TestCreatedTwice(t *testing.T) {
	h := &llmtest.Handler{}
	h.Batch.Plan = func(int) llmtest.BatchPlan { return llmtest.BatchPlan{Gets: 1} }
	r := newRunner(t, h)
	// The first attempt takes effect when the list was already read.
	late := true
	r.written = func(line []byte, done bool) {
		if done && late && strings.Contains(string(line), eventUploaded) {
			late = false
			if _, err := r.Client.CreateBatch(t.Context(), "file-1", nil); err != nil {
				t.Error(err)
			}
		}
	}
	h.Batch.FailAfter(llmtest.BatchCreate, nil, llmtest.Reset())
	wantAnswers(t, mustRun(t, r, items(2)), 2)
	all := h.Batch.Created()
	if len(all) != 2 || all[0].Status != "completed" || all[1].Status != "cancelled" {
		t.Errorf("batches %+v", all)
	}
}
