package diversify_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/llm"
)

// moody answers in many ways, chosen by the prompt, and counts calls.
type moody struct {
	mu    sync.Mutex
	calls map[string]int
}

func (m *moody) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	m.mu.Lock()
	m.calls[r.Prompt]++
	n := m.calls[r.Prompt]
	m.mu.Unlock()
	h := fnv.New32a()
	h.Write([]byte(r.Prompt))
	mood := h.Sum32()
	for range mood % 5 {
		runtime.Gosched()
	}
	resp := llm.Response{HasText: true, Text: fmt.Sprintf(" answer %d to %s\n", n, r.Prompt), FinishReason: "stop", PromptTokens: 3, CompletionTokens: 2}
	switch mood % 7 {
	case 0:
		resp.FinishReason = "length"
	case 1:
		resp.HasText, resp.Text, resp.FinishReason = false, "", "content_filter"
	case 2:
		resp.Text = " \t"
	case 3:
		resp.HasText, resp.Text = false, ""
	}
	return resp, nil
}

// plainly expands a dataset whose answers are all stored, with one loop that does not use the
// package.
func plainly(t *rapid.T, ds segments, prompts []diversify.Prompt, samples int, s cache.Store) []*refract.Segment {
	params, err := cache.NewParams(map[string]any{"temperature": 1.0, "top_p": 0.9, "max_tokens": 50})
	require.NoError(t, err)
	var out []*refract.Segment
	for _, seg := range ds {
		c := *seg
		c.Variants = append([]refract.Variant(nil), seg.Variants...)
		for r, ref := range seg.References {
			if !ref.Valid || strings.TrimSpace(ref.Value) == "" {
				continue
			}
			for _, p := range prompts {
				for sample := range samples {
					q := cache.Request{Kind: "chat", Model: model, Prompt: p.Text + " " + ref.Value, Params: params, Sample: sample}
					answers, found, err := cache.NewAnswers(s).Get(context.Background(), []cache.Key{q.Key()})
					require.True(t, err == nil && found[0], "no answer to %+v: %v", q, err)
					e := answers[0]
					v := refract.Variant{Reference: r, Prompt: p.Name, Sample: sample, Model: model, Finish: e.FinishReason}
					v.Origin = &refract.Origin{
						ServedModel: e.ServedModel, Sampling: string(params), Created: e.Created,
						PromptTokens: e.PromptTokens, CompletionTokens: e.CompletionTokens,
					}
					if e.HasText {
						v.Origin.Raw = refract.NewText(e.Text)
					}
					if text := strings.TrimSpace(e.Text); e.HasText && text != "" {
						v.Text = refract.NewText(text)
					}
					c.Variants = append(c.Variants, v)
				}
			}
		}
		out = append(out, &c)
	}
	return out
}

func drawDataset(t *rapid.T) segments {
	ref := rapid.OneOf(
		rapid.Just(refract.Text{}),
		rapid.Map(rapid.SampledFrom([]string{"", " ", "one", "two", " two", "one\ntwo", "three…", "four"}), refract.NewText),
	)
	ds := make(segments, rapid.IntRange(0, 12).Draw(t, "segments"))
	for i := range ds {
		ds[i] = &refract.Segment{ID: fmt.Sprint(i), References: rapid.SliceOfN(ref, 0, 4).Draw(t, "references")}
		if rapid.Bool().Draw(t, "expanded before") {
			ds[i].Variants = append(make([]refract.Variant, 0, 50), refract.Variant{Prompt: "old", Text: refract.NewText("one")})
		}
	}
	return ds
}

// With any dataset, concurrency and stored answers, the output equals that of one loop over the
// store, and no call is made twice.
func TestExpandProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := drawDataset(t)
		before := segments{}
		for _, seg := range ds {
			if rapid.Bool().Draw(t, "stored") {
				before = append(before, seg)
			}
		}
		m := &moody{calls: map[string]int{}}
		st := cache.NewMemory()
		cfg := config(m)
		cfg.Store, cfg.MaxTokens = st, 50
		cfg.Prompts = rapid.Permutation(diversify.Ten()).Draw(t, "prompts")[:rapid.IntRange(1, 4).Draw(t, "count")]
		cfg.Samples = rapid.IntRange(1, 3).Draw(t, "samples")
		expand := func(ds segments) ([]*refract.Segment, diversify.Summary) {
			cfg.Concurrency = rapid.IntRange(1, 9).Draw(t, "concurrency")
			x, err := diversify.New(cfg)
			require.NoError(t, err)
			out, s, err := run(context.Background(), x, ds)
			require.NoError(t, err)
			return out, s
		}
		_, first := expand(before)
		got, s := expand(ds)

		want := plainly(t, ds, cfg.Prompts, cfg.Samples, st)
		require.Empty(t, cmp.Diff(want, got), "output (-one loop +got)")
		sum := diversify.Summary{Segments: len(ds), Calls: s.Calls, PromptTokens: 3 * s.Calls, CompletionTokens: 2 * s.Calls}
		for i, seg := range got {
			for _, ref := range seg.References {
				if strings.TrimSpace(ref.Value) == "" {
					sum.Textless++
				} else {
					sum.References++
				}
			}
			old := ds[i].Variants
			if spare := old[:cap(old)][len(old):]; len(spare) > 0 && !cmp.Equal(spare[0], refract.Variant{}) {
				t.Fatal("the input was changed")
			}
			for _, v := range seg.Variants[len(old):] {
				raw := v.Origin.Raw.Value
				require.False(t, v.Text.Valid && raw != " "+v.Text.Value+"\n", "%q of %q", v.Text.Value, raw)
				sum.Variants++
				switch {
				case v.Text.Valid && v.Finish == "length":
					sum.Cut++
				case !v.Text.Valid:
					sum.NoText++
				}
			}
		}
		sum.Cached = sum.Variants - s.Calls
		require.True(t, s == sum, "summary %+v, want %+v", s, sum)
		calls := 0
		for prompt, n := range m.calls {
			calls += n
			require.Equal(t, cfg.Samples, n, "%d calls with %q, want %d", n, prompt, cfg.Samples)
		}
		if calls != first.Calls+s.Calls {
			t.Fatalf("%d calls, but %d and %d were counted", calls, first.Calls, s.Calls)
		}
	})
}
