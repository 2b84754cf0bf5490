package diversify_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// script answers each prompt with the next line of a list; "…" at the end of a line marks an
// answer that the token limit cut.
type script struct {
	mu    sync.Mutex
	lines map[string][]string // by the name of the prompt; the judge's under "judge"
	asked []llm.Request
}

func (s *script) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
	name := "judge"
	for _, p := range diversify.Ten() {
		if strings.HasPrefix(r.Prompt, p.Text) {
			name = p.Name
		}
	}
	if len(s.lines[name]) == 0 {
		return llm.Response{}, fmt.Errorf("no line is left for %s", name)
	}
	line := s.lines[name][0]
	s.lines[name] = s.lines[name][1:]
	if said, asked := llmtest.Verdicts(r.Prompt, func(_, _ string) (changed, words string) { return line, "" }); asked {
		line = said
	}
	text, cut := strings.CutSuffix(line, "…")
	resp := llm.Response{Text: text, HasText: true, FinishReason: "stop", PromptTokens: 10, CompletionTokens: 5}
	if cut {
		resp.FinishReason = "length"
	}
	return resp, nil
}

func checker(tb rapid.TB, checks ...string) *check.Checker {
	tb.Helper()
	c, err := check.New(check.Config{Checks: checks})
	require.NoError(tb, err)
	return c
}

// ten returns the prompts with these names.
func ten(tb testing.TB, names string) []diversify.Prompt {
	tb.Helper()
	prompts, err := diversify.ParsePrompts(names)
	require.NoError(tb, err)
	return prompts
}

const reference = "The train to Lindenau leaves at eight in the morning."

// oneReference is a dataset of one segment.
func oneReference() segments {
	return segments{{ID: "a", References: []refract.Text{refract.NewText(reference)}}}
}

// shown formats the parts of variants that the tests compare.
func shown(vs []refract.Variant) []string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = fmt.Sprintf("%s/%d %s: %s", v.Prompt, v.Sample, v.Verdict, v.Text.Value)
	}
	return out
}

func TestRounds(t *testing.T) {
	const (
		a = "At eight in the morning, the train to Lindenau leaves."
		b = "The Lindenau train departs in the morning, at eight."
		c = "In the morning at eight the train leaves for Lindenau."
	)
	for _, tc := range []struct {
		name               string
		lines              map[string][]string
		change             func(*diversify.Config)
		variants, rejected []string
		want               diversify.Summary
	}{
		{
			"duplicates are asked for again, copies too",
			map[string][]string{"order": {a}, "voice": {a, reference, b}},
			nil,
			[]string{"order/0 accepted: " + a, "voice/2 accepted: " + b},
			[]string{"voice/0 duplicate: " + a, "voice/1 copy: " + reference},
			diversify.Summary{Variants: 2, Rejected: 2, Calls: 4, Resampled: 2},
		},
		{
			"in vain",
			map[string][]string{"order": {a}, "voice": {a, a, a}},
			nil,
			[]string{"order/0 accepted: " + a},
			[]string{"voice/0 duplicate: " + a, "voice/1 duplicate: " + a, "voice/2 duplicate: " + a},
			diversify.Summary{Variants: 1, Rejected: 3, Lacking: 1, Calls: 4, Resampled: 2},
		},
		{
			"greedy decoding would give the same again",
			map[string][]string{"order": {a}, "voice": {a}},
			func(c *diversify.Config) { c.Temperature = 0 },
			[]string{"order/0 accepted: " + a},
			[]string{"voice/0 duplicate: " + a},
			diversify.Summary{Variants: 1, Rejected: 1, Lacking: 1, Calls: 2},
		},
		{
			"a cut answer gets more room, then another sample",
			map[string][]string{"order": {"At eight in the…", a}, "voice": {"The Lindenau…", "The Lindenau train…", b}},
			nil,
			[]string{"order/0 accepted: " + a, "voice/1 accepted: " + b},
			[]string{"order/0 cut: At eight in the", "voice/0 cut: The Lindenau", "voice/0 cut: The Lindenau train"},
			diversify.Summary{Variants: 2, Rejected: 3, Calls: 5, Enlarged: 2, Resampled: 1, Cut: 3},
		},
		{
			"the judge has a say",
			map[string][]string{"order": {a, b}, "voice": {c, b}, "judge": {"negation", "same"}},
			func(c *diversify.Config) {
				c.Equivalence = &diversify.Equivalence{Model: "judge"}
				c.Prompts = c.Prompts[:1]
				c.Samples = 1
			},
			[]string{"order/1 accepted: " + b},
			[]string{"order/0 not-equivalent: " + a},
			diversify.Summary{Variants: 1, Rejected: 1, Calls: 4, Resampled: 1, Judged: 2},
		},
		{
			"a judge that says nothing",
			map[string][]string{"order": {a}, "judge": {"Perhaps", "Perhaps"}},
			func(c *diversify.Config) {
				c.Equivalence = &diversify.Equivalence{Model: "judge"}
				c.Prompts, c.Resample = c.Prompts[:1], 0
			},
			nil,
			[]string{"order/0 unjudged: " + a},
			diversify.Summary{Rejected: 1, Lacking: 1, Calls: 3, Judged: 2},
		},
		{
			"without checks only what is cut is asked for again",
			map[string][]string{"order": {a}, "voice": {"The…", a}},
			func(c *diversify.Config) { c.Check = nil },
			[]string{"order/0 : " + a, "voice/0 : " + a},
			[]string{"voice/0 cut: The"},
			diversify.Summary{Variants: 2, Rejected: 1, Calls: 3, Enlarged: 1, Cut: 1},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &script{lines: tc.lines}
			cfg := config(s)
			cfg.Prompts = ten(t, "order,voice")
			cfg.Check = checker(t, check.ReasonCut, check.ReasonCopy, check.ReasonDuplicate)
			cfg.Resample, cfg.Enlarge, cfg.MaxTokens, cfg.Concurrency = 2, 1, 100, 1
			if tc.change != nil {
				tc.change(&cfg)
			}
			out, sum := mustRun(t, newExpander(t, cfg), oneReference())
			assert.Empty(t, cmp.Diff(append([]string{}, tc.variants...), shown(out[0].Variants)), "variants (-want +got)")
			assert.Empty(t, cmp.Diff(tc.rejected, shown(out[0].Rejected)), "rejected (-want +got)")
			want := tc.want
			want.Segments, want.References = 1, 1
			want.PromptTokens, want.CompletionTokens = 10*want.Calls, 5*want.Calls
			assert.True(t, sum == want, "summary %+v, want %+v", sum, want)
			for _, r := range s.asked {
				if r.Model == "judge" && (r.Temperature != 0 || !strings.Contains(r.Prompt, `{"reference":"`+reference+"\"}\n1. ")) {
					t.Errorf("the judge was asked %+v", r)
				}
			}

			// The stored answers give the same output without a call.
			cfg.Client = nil
			again, sum := mustRun(t, newExpander(t, cfg), oneReference())
			if diff := cmp.Diff(out, again); diff != "" || sum.Calls != 0 || sum.Cached != want.Calls {
				t.Errorf("the second run differs, with %d calls:\n%s", sum.Calls, diff)
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	now := time.Now().UTC()
	cfg := config(completer(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{
			Text: "1. \"At eight in the morning the train to Lindenau leaves.\"\n", HasText: true, FinishReason: "stop", Model: "served",
			PromptTokens: 7, CompletionTokens: 9,
		}, nil
	}))
	cfg.Prompts, cfg.Revision, cfg.Extra = ten(t, "order"), "r1", map[string]any{"seed": 3}
	cfg.Check = checker(t)
	out, _ := mustRun(t, newExpander(t, cfg), oneReference())
	v := out[0].Variants[0]
	if v.Origin.Created.Before(now) || v.Origin.Created.After(time.Now()) || v.Origin.Created.Location() != time.UTC {
		t.Errorf("created %v", v.Origin.Created)
	}
	v.Origin.Created = time.Time{}
	want := refract.Variant{
		Prompt: "order", Model: model, Text: refract.NewText("At eight in the morning the train to Lindenau leaves."), Finish: "stop", Verdict: refract.Accepted,
		Origin: &refract.Origin{
			Revision: "r1", ServedModel: "served", Sampling: `{"max_tokens":1024,"seed":3,"temperature":1,"top_p":0.9}`,
			Raw: refract.NewText("1. \"At eight in the morning the train to Lindenau leaves.\"\n"), Cleaned: v.Origin.Cleaned, PromptTokens: 7, CompletionTokens: 9,
		},
	}
	diff := cmp.Diff(want, v)
	assert.True(t, diff == "" && len(v.Origin.Cleaned) != 0, "(-want +got):\n%s", diff)
}

func TestExpandedBefore(t *testing.T) {
	ds := oneReference()
	ds[0].Pos = refract.Position{File: "f.jsonl", Line: 3}
	cfg := config(completer(echo))
	cfg.Prompts = ten(t, "order")
	x := newExpander(t, cfg)
	out, _ := mustRun(t, x, ds)
	_, _, err := run(t.Context(), x, segments(out))
	const want = `f.jsonl:3: segment "a", reference 1: it has been expanded before with model "test-model" and prompt "order"; expand the original dataset, name other prompts, or have its segments completed (--complete)`
	assert.True(t, err != nil && err.Error() == want, "error %v", err)
	cfg.Prompts = ten(t, "voice")
	if out, _ := mustRun(t, newExpander(t, cfg), segments(out)); len(out[0].Variants) != 2 {
		t.Errorf("%d variants", len(out[0].Variants))
	}
}

// A request that fails because of its content becomes a rejected variant, whatever came before
// it. The failure is not stored.
func TestTolerate(t *testing.T) {
	tooLong := &llm.Error{Kind: llm.ErrContextLength, Message: "too long"}
	answers := func(ctx context.Context, r llm.Request) (llm.Response, error) {
		if strings.HasPrefix(r.Prompt, ten(t, "voice")[0].Text) {
			return llm.Response{}, tooLong
		}
		return echo(ctx, r)
	}
	cfg := config(completer(answers))
	cfg.Prompts, cfg.Tolerate, cfg.Concurrency = ten(t, "order,voice"), 1, 1
	out, sum := mustRun(t, newExpander(t, cfg), oneReference())
	n := len(out[0].Variants)
	assert.True(t, n == 1 && sum.Rejected == 1 && sum.Lacking == 1, "%d variants, %+v", n, sum)
	v := out[0].Rejected[0]
	assert.True(t, v.Verdict == diversify.Failed && !v.Text.Valid && v.Detail == tooLong.Error(), "rejected %+v", v)
}

// An answer that is not valid Unicode is rejected and asked for again; the invalid answer is
// stored.
func TestNotUnicode(t *testing.T) {
	for _, c := range []*check.Checker{nil, checker(t, check.ReasonCut)} {
		server := llmtest.NewServer(t, nil)
		server.Fail(llmtest.Body(200, "application/json", `{"choices":[{"message":{"content":"The train \ud83d"},"finish_reason":"stop"}]}`))
		cfg := config(client(t, server))
		cfg.Prompts, cfg.Check, cfg.Resample = ten(t, "order"), c, 1
		out, _ := mustRun(t, newExpander(t, cfg), oneReference())
		require.Len(t, out[0].Rejected, 1, "rejected")
		v := out[0].Rejected[0]
		if v.Verdict != diversify.NotUnicode || v.Text.Valid || v.Detail == "" || v.Origin.Raw != refract.NewText(`"The train \ud83d"`) {
			t.Errorf("rejected %+v", v)
		}
	}
}
