package diversify_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// Changing anything that determines an answer makes a new request.
func TestChangedSettingsAskAgain(t *testing.T) {
	for name, change := range map[string]func(*diversify.Config){
		"model":       func(c *diversify.Config) { c.Model = "other" },
		"temperature": func(c *diversify.Config) { c.Temperature = 0.5 },
		"top_p":       func(c *diversify.Config) { c.TopP = 0.5 },
		"max_tokens":  func(c *diversify.Config) { c.MaxTokens = 7 },
		"endpoint":    func(c *diversify.Config) { c.Endpoint = llm.Completions },
		"text":        func(c *diversify.Config) { c.Prompts[0].Text = "Another:" },
	} {
		cfg := config(completer(echo))
		cfg.Prompts = cfg.Prompts[:1]
		mustRun(t, newExpander(t, cfg), numbered(1))
		change(&cfg)
		_, s := mustRun(t, newExpander(t, cfg), numbered(1))
		assert.Equal(t, 2, s.Calls, "another %s", name)
	}
	cfg := config(completer(echo))
	mustRun(t, newExpander(t, cfg), numbered(1))
	cfg.Concurrency, cfg.Samples = 3, 2
	_, s := mustRun(t, newExpander(t, cfg), numbered(1))
	assert.True(t, s.Calls == 20 && s.Cached == 20, "one more sample: %+v", s)
}

// A server failure ends the run, and the next run continues.
func TestResume(t *testing.T) {
	const good, total = 90, 400
	var served atomic.Int64
	h := &llmtest.Handler{Decide: func(*llmtest.Request) llmtest.Fault {
		if n := served.Add(1); n > good && n <= good+50 {
			return llmtest.Status(400, "no more")
		}
		return nil
	}}
	server := llmtest.NewServer(t, h)
	cfg := config(client(t, server))
	var last diversify.Progress
	cfg.Observe = func(p diversify.Progress) { last = p }
	x := newExpander(t, cfg)
	ds := numbered(20)
	out, s, err := run(t.Context(), x, ds)
	var e *diversify.Error
	require.True(t, errors.As(err, &e) && errors.Is(err, llm.ErrInvalidRequest), "error %v", err)
	if s.Segments != len(out) || s.Calls > good || last.Failed == 0 || last.Summary != s {
		t.Errorf("summary %+v of %d segments, progress %+v", s, len(out), last)
	}

	// Cancelled calls may have reached the server.
	served.Store(good + 50)
	out, again := mustRun(t, x, ds)
	if again.Calls+s.Calls != total || again.Cached != s.Calls || len(out) != 20 {
		t.Errorf("first %+v, then %+v", s, again)
	}
	for i, seg := range out {
		if seg.ID != ds[i].ID || len(seg.Variants) != 20 {
			t.Errorf("segment %d: %s with %d variants", i, seg.ID, len(seg.Variants))
		}
	}
}

func TestOffline(t *testing.T) {
	cfg := config(completer(echo))
	ds := numbered(30)
	mustRun(t, newExpander(t, cfg), ds[:20])
	cfg.Client = nil
	_, _, err := run(t.Context(), newExpander(t, cfg), ds)
	const want = `set.jsonl:21: segment "s21", reference 1, prompt "order": ` +
		`the answer is not stored, and no client is set to ask for it ` +
		`(model "test-model" at the chat endpoint, {"max_tokens":1024,"temperature":1,"top_p":0.9})`
	assert.True(t, errors.Is(err, diversify.ErrNotStored) && err.Error() == want, "error %q\nwant  %q", err, want)
	cfg.Samples = 2
	_, _, err = run(t.Context(), newExpander(t, cfg), ds)
	if want := `set.jsonl:1: segment "s1", reference 1, prompt "order", sample 2: `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v", err)
	}
}

// failing is a dataset that ends with an error.
type failing struct {
	segments
	err error
}

func (f failing) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		for s := range f.segments.Segments(ctx) {
			if !yield(s, nil) {
				return
			}
		}
		yield(nil, f.err)
	}
}

func TestErrorsOfDatasetAndYield(t *testing.T) {
	broken := errors.New("set.jsonl:4: broken")
	x := newExpander(t, config(completer(echo)))
	_, _, err := run(t.Context(), x, failing{numbered(3), broken})
	assert.True(t, err == broken, "dataset: %v", err)
	n := 0
	s, err := x.Expand(t.Context(), numbered(100), func(*refract.Segment) error {
		if n++; n == 3 {
			return broken
		}
		return nil
	})
	assert.True(t, err == broken && n == 3 && s.Segments == 2, "yield: %v after %d segments, %+v", err, n, s)
	ds := segments{{ID: "a", References: []refract.Text{refract.NewText("ok"), refract.NewText("a\xff")}}}
	_, _, err = run(t.Context(), x, ds)
	want := `segment "a", reference 2: it is not valid UTF-8`
	assert.True(t, err != nil && strings.HasPrefix(err.Error(), want), "UTF-8: %v", err)
	if out, s := mustRun(t, x, segments{}); len(out) != 0 || s != (diversify.Summary{}) {
		t.Errorf("no segments: %d, %+v", len(out), s)
	}
}

// store is called before another one stores.
type store struct {
	cache.Store
	before func([]cache.Record) error
}

func (s store) Put(ctx context.Context, records ...cache.Record) ([][]byte, error) {
	if err := s.before(records); err != nil {
		return nil, err
	}
	return s.Store.Put(ctx, records...)
}

// The answer that another process stored first is used.
func TestStore(t *testing.T) {
	cfg := config(completer(echo))
	below := cfg.Store
	other := cache.NewMemory()
	e := cache.Entry{Request: cache.Request{Kind: "k", Model: "m"}, Answer: cache.Answer{Text: "The other's.", HasText: true}}
	_, err := cache.NewAnswers(other).Put(t.Context(), e)
	require.NoError(t, err)
	values, err := other.Get(t.Context(), []cache.Key{e.Request.Key()})
	require.NoError(t, err)
	cfg.Store = store{below, func(records []cache.Record) error {
		for _, r := range records {
			r.Value = values[0]
			if _, err := below.Put(context.Background(), r); err != nil {
				return err
			}
		}
		return nil
	}}
	out, _ := mustRun(t, newExpander(t, cfg), numbered(1))
	for _, v := range out[0].Variants {
		require.Equal(t, refract.NewText("The other's."), v.Text, "variant %+v", v)
	}
}

// Calls of Observe never overlap; the counts increase and end with the summary.
func TestObserve(t *testing.T) {
	cfg := config(completer(echo))
	var busy atomic.Bool
	var last diversify.Progress
	updates := 0
	cfg.Observe = func(p diversify.Progress) {
		assert.True(t, busy.CompareAndSwap(false, true), "called by two goroutines at once")
		defer busy.Store(false)
		if p.Calls < last.Calls || p.Cached < last.Cached || p.Segments < last.Segments {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
		updates++
	}
	_, s := mustRun(t, newExpander(t, cfg), numbered(10))
	if last.Summary != s || last.Failed != 0 || updates < 200 {
		t.Errorf("%d updates, last %+v, summary %+v", updates, last, s)
	}
}

// Claims that a run did not use are released when it ends.
func TestClaimsAreReleased(t *testing.T) {
	file := cacheFile(t)
	first := openSQLite(t, file)
	cfg := config(completer(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{}, &llm.Error{Kind: llm.ErrAuth}
	}))
	cfg.Store, cfg.Concurrency = first, 2
	_, _, err := run(t.Context(), newExpander(t, cfg), numbered(3))
	require.Error(t, err, "no error")
	// The first store stays open; claims not released would live as long.
	cfg.Store, cfg.Client = openSQLite(t, file), completer(echo)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, s, err := run(ctx, newExpander(t, cfg), numbered(3))
	assert.True(t, err == nil && s.Calls == 60, "%d calls, %v", s.Calls, err)
}
