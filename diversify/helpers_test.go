package diversify_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
)

const model = "test-model"

// withoutOrigin compares variants except for their Origin.
var withoutOrigin = cmpopts.IgnoreFields(refract.Variant{}, "Origin")

// segments is a Dataset in memory.
type segments = refract.InMemory

// numbered returns n segments with two references each, all different.
func numbered(n int) segments {
	ds := make(segments, n)
	for i := range ds {
		ds[i] = &refract.Segment{
			ID:  fmt.Sprintf("s%d", i+1),
			Pos: refract.Position{File: "set.jsonl", Line: i + 1},
			References: []refract.Text{
				refract.NewText(fmt.Sprintf("The first reference of segment %d.", i)),
				refract.NewText(fmt.Sprintf("Segment %d has a second one.", i)),
			},
		}
	}
	return ds
}

// config returns a valid configuration with an empty store.
func config(client ask.Completer) diversify.Config {
	return diversify.Config{
		Prompts:     diversify.Ten(),
		Model:       model,
		Temperature: diversify.PaperTemperature,
		TopP:        diversify.PaperTopP,
		Config:      ask.Config{Store: cache.NewMemory(), Client: client},
	}
}

// client returns a client of a test server, without retries.
func client(tb testing.TB, s *llmtest.Server, change ...func(*llm.Config)) *llm.Client {
	tb.Helper()
	cfg := llm.Config{BaseURL: s.BaseURL, APIKey: "k", MaxRetries: -1}
	for _, c := range change {
		c(&cfg)
	}
	c, err := llm.New(cfg)
	require.NoError(tb, err)
	return c
}

func newExpander(tb testing.TB, cfg diversify.Config) *diversify.Expander {
	tb.Helper()
	x, err := diversify.New(cfg)
	require.NoError(tb, err)
	return x
}

// run expands a dataset and returns the yielded segments.
func run(ctx context.Context, x *diversify.Expander, ds refract.Dataset) ([]*refract.Segment, diversify.Summary, error) {
	var out []*refract.Segment
	s, err := x.Expand(ctx, ds, func(seg *refract.Segment) error {
		out = append(out, seg)
		return nil
	})
	return out, s, err
}

func mustRun(tb testing.TB, x *diversify.Expander, ds refract.Dataset) ([]*refract.Segment, diversify.Summary) {
	tb.Helper()
	out, s, err := run(tb.Context(), x, ds)
	require.NoError(tb, err)
	return out, s
}

func openSQLite(tb testing.TB, file string) *cache.Database {
	tb.Helper()
	s, err := cache.Open(tb.Context(), file)
	require.NoError(tb, err)
	tb.Cleanup(func() {
		assert.NoError(tb, s.Close())
	})
	return s
}

func cacheFile(tb testing.TB) string { return filepath.Join(tb.TempDir(), "answers.db") }

// completer makes a function a Completer.
type completer func(ctx context.Context, r llm.Request) (llm.Response, error)

func (c completer) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	return c(ctx, r)
}

// echo answers every prompt immediately.
func echo(_ context.Context, r llm.Request) (llm.Response, error) {
	return llm.Response{
		Text: llmtest.Answer(r.Model, r.Prompt, 0), HasText: true, FinishReason: "stop",
		Model: r.Model, PromptTokens: 10, CompletionTokens: 5,
	}, nil
}

// expandOne expands one segment.
func expandOne(ctx context.Context, x *diversify.Expander, seg *refract.Segment) (out *refract.Segment, sum diversify.Summary, err error) {
	sum, err = x.Expand(ctx, segments{seg}, func(s *refract.Segment) error {
		out = s
		return nil
	})
	return out, sum, err
}
