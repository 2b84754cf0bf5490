package batch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

const (
	testURL = "http://127.0.0.1:8000/v1"
	testKey = "sk-a-key-that-must-not-be-seen"
)

// newClient is a client of h without a network; change may be nil.
func newClient(t testing.TB, h *llmtest.Handler, change func(*llm.Config)) *llm.Client {
	t.Helper()
	h.Key = testKey
	cfg := llm.Config{BaseURL: testURL, APIKey: testKey, Transport: h.Transport(), MaxRetryWait: time.Millisecond, MaxRetries: 2}
	if change != nil {
		change(&cfg)
	}
	c, err := llm.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newRunner looks at its batches without long pauses.
func newRunner(t testing.TB, h *llmtest.Handler) *Runner {
	t.Helper()
	return &Runner{
		Client: newClient(t, h, nil), Journal: filepath.Join(t.TempDir(), "journal"), Interval: time.Millisecond,
	}
}

func idOf(prompt string) string {
	sum := sha256.Sum256([]byte(prompt))
	return hex.EncodeToString(sum[:])
}

func promptOf(i int) string { return fmt.Sprintf("Say otherwise: sentence %d is <short> & old.", i) }

func item(prompt string) Item {
	return Item{ID: idOf(prompt), Request: llm.Request{
		Model: "test-model", Prompt: prompt, Temperature: 0, TopP: 0.9, MaxTokens: 64,
	}}
}

// items are n items with the prompts 0 to n-1.
func items(n int) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for i := range n {
			if !yield(item(promptOf(i)), nil) {
				return
			}
		}
	}
}

func list(all ...Item) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for _, it := range all {
			if !yield(it, nil) {
				return
			}
		}
	}
}

// results keeps results and fails the test for a row that has two.
type results map[string]Result

func (rs results) keep(t testing.TB) func(Result) error {
	return func(r Result) error {
		if _, ok := rs[r.ID]; ok {
			t.Errorf("row %s has two results", r.ID)
		}
		rs[r.ID] = r
		return nil
	}
}

// mustRun runs to the end.
func mustRun(t testing.TB, r *Runner, in iter.Seq2[Item, error]) results {
	t.Helper()
	rs := results{}
	if err := r.Run(context.Background(), in, rs.keep(t)); err != nil {
		t.Fatal(err)
	}
	return rs
}

// wantAnswers checks that the first n prompts have their good answers, and
// nothing else has a result.
func wantAnswers(t testing.TB, rs results, n int) {
	t.Helper()
	if len(rs) != n {
		t.Errorf("%d results, want %d", len(rs), n)
	}
	for i := range n {
		r, ok := rs[idOf(promptOf(i))]
		want := llmtest.Answer("test-model", promptOf(i), 0)
		if !ok || r.Err != nil || !r.Response.HasText || r.Response.Text != want {
			t.Errorf("prompt %d: result %+v (there: %v), want %q", i, r, ok, want)
		}
	}
}

// wantSubmitted checks how often the model was asked for each of n prompts:
// once, but for those in others.
func wantSubmitted(t testing.TB, h *llmtest.Handler, n int, others map[int]int) {
	t.Helper()
	got := h.Batch.Submitted()
	for i := range n {
		want, ok := others[i]
		if !ok {
			want = 1
		}
		if got[idOf(promptOf(i))] != want {
			t.Errorf("prompt %d was submitted %d times, want %d", i, got[idOf(promptOf(i))], want)
		}
	}
}

// plans gives the batches these fates in turn, and good ones after them.
func plans(all ...llmtest.BatchPlan) func(int) llmtest.BatchPlan {
	return func(n int) llmtest.BatchPlan {
		if n < len(all) {
			return all[n]
		}
		return llmtest.BatchPlan{}
	}
}

// roundTrip is a function as a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
