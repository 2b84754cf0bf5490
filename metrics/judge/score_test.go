package judge_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/metricstest"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge"
)

// model answers with a function and records what it was asked, in order.
type model struct {
	answer func(r llm.Request) (llm.Response, error)
	mu     sync.Mutex
	asked  []llm.Request
}

func (m *model) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	m.mu.Lock()
	m.asked = append(m.asked, r)
	m.mu.Unlock()
	return m.answer(r)
}

// says is a model that answers with a function of the prompt.
func says(f func(prompt string) string) *model {
	return &model{answer: func(r llm.Request) (llm.Response, error) {
		return llm.Response{Text: f(prompt(r)), HasText: true, FinishReason: "stop"}, nil
	}}
}

func prompt(r llm.Request) string {
	if r.Prompt != "" {
		return r.Prompt
	}
	return r.Messages[len(r.Messages)-1].Content
}

func newJudge(t testing.TB, m ask.Completer, spec string, store cache.Store) metrics.Metric {
	t.Helper()
	if store == nil {
		store = cache.NewMemory()
	}
	name, _, _ := strings.Cut(spec, ":")
	d, err := judge.Find(name)
	require.NoError(t, err)
	env := judge.Environment{Asker: ask.New(ask.Config{Client: m, Store: store, Concurrency: 1, Tolerate: 3}), Model: "any"}
	metric, err := metrics.Registry{d.Factory(env)}.Parse(context.Background(), spec)
	require.NoError(t, err)
	return metric
}

// errorsFor returns an InstructScore answer with n minor errors.
func errorsFor(n int) string {
	if n == 0 {
		return "Your Translation contains no error."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Your Translation contains %d errors:\n", n)
	for i := range n {
		fmt.Fprintf(&b, "Error type %d: Omission\nMajor/minor: Minor\nError location %d: \"word\"\nExplanation for error %d: why\n", i+1, i+1, i+1)
	}
	return b.String()
}

const zhen = "instructscore:task=mt_zh-en"

// Calls are ordered by segment, reference and system, so that prompts with the same
// beginning are adjacent.
func TestCallsThatShareAPrefixAreNeighbours(t *testing.T) {
	m := says(func(string) string { return errorsFor(1) })
	blocks := []metrics.Block{
		{Hypotheses: []string{"a1", "b1", "c1"}, References: []string{"r1", "s1"}},
		{Hypotheses: []string{"a2", "b2", "c2"}, References: []string{"r2", "s2"}},
	}
	_, err := newJudge(t, m, zhen, nil).Score(t.Context(), blocks)
	require.NoError(t, err)
	var got []string
	for _, r := range m.asked {
		_, rest, _ := strings.Cut(r.Prompt, `correct translation is "`)
		ref, rest, _ := strings.Cut(rest, `"`)
		_, rest, _ = strings.Cut(rest, `generated translation is "`)
		out, _, _ := strings.Cut(rest, `"`)
		got = append(got, ref+" "+out)
	}
	want := strings.Split("r1 a1,r1 b1,r1 c1,s1 a1,s1 b1,s1 c1,r2 a2,r2 b2,r2 c2,s2 a2,s2 b2,s2 c2", ",")
	assert.Empty(t, cmp.Diff(want, got))
}

// Each of several samples has its own answer; the first is the answer of the judge without
// samples.
func TestSamples(t *testing.T) {
	answers := map[any]string{nil: "90", 1: "70", 2: "what?", 3: "80"} // by seed
	m := &model{answer: func(r llm.Request) (llm.Response, error) {
		return llm.Response{Text: answers[r.Extra["seed"]], HasText: true, FinishReason: "stop"}, nil
	}}
	store := cache.NewMemory()
	blocks := []metrics.Block{{Source: "s", Hypotheses: []string{"a", "a", "b"}}}
	const spec = "gemba-da:sl=German,tl=English,reference=no"
	_, err := newJudge(t, m, spec, store).Score(t.Context(), blocks)
	require.NoError(t, err)
	j := newJudge(t, m, spec+",samples=4", store)
	scores, err := j.Score(t.Context(), blocks)
	require.NoError(t, err)
	var wire []string
	for _, r := range m.asked {
		wire = append(wire, fmt.Sprint(r.Temperature, " ", r.Extra["seed"]))
	}
	assert.Empty(t, cmp.Diff(strings.Split("0 <nil>,0 <nil>,0.7 1,0.7 2,0.7 3,0.7 1,0.7 2,0.7 3", ","), wire))
	report := scores[0].Reports[1]
	if d := cmp.Diff([]float64{80, 80, 80}, scores[0].Values); d != "" || len(report.Parts) != 4 || *report.Raw != "80" ||
		math.Abs(*report.Spread-math.Sqrt(200.0/3)) > 1e-12 || report.Detail != "3 of 4 have a score" || report.Parts[2].Outcome != analysis.Unparseable {
		t.Errorf("%s; %+v", d, report)
	}
	if name, sig := j.Info().Name, j.Signature(metrics.Sentence).String(); !strings.HasSuffix(name, ",samples=4") || !strings.HasSuffix(sig, "|samples:4|combine:mean") {
		t.Errorf("%s: %s", name, sig)
	}
	if median := newJudge(t, m, spec+",samples=4,combine=median", store); !strings.HasSuffix(median.Info().Name, ",samples=4,combine=median") {
		t.Error(median.Info().Name)
	}
	// Fewer than half of the answers are too few, so a new sample is drawn.
	answers[1] = "none"
	again := newJudge(t, m, spec+",samples=3,unparseable=retry:1", nil)
	m.asked = nil
	scores, err = again.Score(t.Context(), blocks[:1])
	require.NoError(t, err)
	if got := scores[0]; got.Status[0] != metrics.Unparseable || !strings.HasPrefix(got.Reports[0].Detail, "1 of 3 have a score") {
		t.Errorf("%v %+v", got.Status, got.Reports[0])
	}
	seeds := map[any]int{}
	for _, r := range m.asked {
		seeds[r.Extra["seed"]]++
	}
	assert.Empty(t, cmp.Diff(map[any]int{nil: 2, 1: 2, 2: 2, 4: 2, 5: 2}, seeds))
	// The forecast predicts these calls.
	f := again.(metrics.Foreseeing).Foresee()
	_, err = f.Score(t.Context(), []metrics.Block{{Source: "new", Hypotheses: []string{"a", "b"}}})
	require.NoError(t, err)
	o := f.Outlook()
	assert.True(t, o.Cells == 2 && o.Calls == 6, "%+v", o)
}

func TestSampleOptions(t *testing.T) {
	for spec, want := range map[string]string{
		"gptscore:samples=2":                           "a likelihood is the same each time",
		"gemba-da:sl=a,tl=b,samples=0":                 "a whole number from 1 to 100",
		"gemba-da:sl=a,tl=b,combine=median":            "add samples=N",
		"gemba-da:sl=a,tl=b,samples=2,combine=medians": `did you mean "median"?`,
	} {
		name, _, _ := strings.Cut(spec, ":")
		d, err := judge.Find(name)
		require.NoError(t, err)
		_, err = metrics.Registry{d.Factory(judge.Environment{Model: "any"})}.Parse(t.Context(), spec)
		assert.ErrorContains(t, err, want, "%s", spec)
	}
	v2 := newJudge(t, says(func(string) string { return `{"errors": []}` }), "gemba-mqm-v2:sl=a,tl=b", nil)
	if sig := v2.Signature(metrics.Sentence).String(); !strings.HasSuffix(sig, "|samples:10|combine:gemba-v2") || v2.Info().Name != "gemba-mqm-v2:sl=a,tl=b,model=any" {
		t.Errorf("%s: %s", v2.Info().Name, sig)
	}
	metricstest.Promises(t, v2, metrics.Block{Source: "s", Hypotheses: []string{"a", "b"}})
}

func TestOutcomes(t *testing.T) {
	answers := map[string]llm.Response{
		"good":    {Text: errorsFor(2), HasText: true, FinishReason: "stop"},
		"perfect": {Text: errorsFor(0), HasText: true, FinishReason: "stop"},
		"garbage": {Text: "I like it.", HasText: true, FinishReason: "stop"},
		"empty":   {Text: "", HasText: true, FinishReason: "stop"},
		"cut":     {Text: errorsFor(2)[:90], HasText: true, FinishReason: "length"},
		"blocked": {FinishReason: "content_filter"},
		"broken":  {Text: `"Your Translation contains \ud83d"`, HasText: true, FinishReason: llm.FinishNotUnicode},
	}
	m := &model{}
	m.answer = func(r llm.Request) (llm.Response, error) {
		for name, a := range answers {
			if strings.Contains(r.Prompt, `"`+name+`"`) {
				return a, nil
			}
		}
		return llm.Response{}, fmt.Errorf("prompt too long: %w", llm.ErrContextLength)
	}
	names := []string{"good", "perfect", "garbage", "empty", "cut", "blocked", "long", "broken"}
	score := func(spec string) metrics.Scores {
		t.Helper()
		scores, err := newJudge(t, m, spec, nil).Score(t.Context(), []metrics.Block{{Hypotheses: names, References: []string{"r"}}})
		require.NoError(t, err)
		return scores[0]
	}
	s := score(zhen)
	for i, want := range []struct {
		status  metrics.Status
		outcome analysis.Outcome
		value   float64
	}{
		{metrics.Scored, analysis.Scored, -2}, {metrics.Scored, analysis.NoError, 0},
		{metrics.Unparseable, analysis.Unparseable, 0}, {metrics.Unparseable, analysis.Unparseable, 0},
		{metrics.Cut, analysis.Cut, 0}, {metrics.Blocked, analysis.Blocked, 0}, {metrics.Failed, analysis.Missing, 0},
		{metrics.Unparseable, analysis.Unparseable, 0},
	} {
		if s.Status[i] != want.status || s.Reports[i].Outcome != want.outcome || s.Values[i] != want.value {
			t.Errorf("%s: %v, %v, %v; want %v", names[i], s.Status[i], s.Reports[i].Outcome, s.Values[i], want)
		}
	}
	got := s.Reports[2]
	assert.Equal(t, "I like it.", *got.Raw, "the raw answer is lost: %+v", got)
	assert.Equal(t, 2, len(s.Reports[0].Errors))
	// The number counts for an answer that cannot be read. A blocked or absent answer stays
	// missing, and the report says what the answer was.
	s = score(zhen + ",unparseable=-25")
	for i, want := range []metrics.Status{0, 0, 0, 0, 0, metrics.Blocked, metrics.Failed, 0} {
		if s.Status[i] != want {
			t.Errorf("%s: %v, want %v", names[i], s.Status[i], want)
		}
	}
	if s.Values[2] != -25 || s.Reports[2].Outcome != analysis.Unparseable {
		t.Errorf("substituted: %v, %v", s.Values[2], s.Reports[2].Outcome)
	}
}

func TestFailNamesTheCell(t *testing.T) {
	m := says(func(string) string { return "Hm." })
	_, err := newJudge(t, m, zhen+",unparseable=fail", nil).Score(t.Context(), []metrics.Block{
		{Hypotheses: []string{"a", "b"}, References: []string{"r"}},
	})
	var at *metrics.CellError
	assert.True(t, errors.As(err, &at) && at.Block == 0 && at.Hypothesis == 0, "%v", err)
}

func TestRetry(t *testing.T) {
	m := &model{}
	m.answer = func(r llm.Request) (llm.Response, error) {
		switch {
		case r.MaxTokens > 512: // the truncated one gets a higher limit
			return llm.Response{Text: errorsFor(3), HasText: true, FinishReason: "stop"}, nil
		case strings.Contains(r.Prompt, `"cut"`):
			return llm.Response{Text: "Your Tr", HasText: true, FinishReason: "length"}, nil
		case r.Temperature > 0 && strings.Contains(r.Prompt, `"second"`):
			return llm.Response{Text: errorsFor(1), HasText: true, FinishReason: "stop"}, nil
		}
		return llm.Response{Text: "no idea", HasText: true, FinishReason: "stop"}, nil
	}
	j := newJudge(t, m, zhen+",unparseable=retry:2", nil)
	scores, err := j.Score(t.Context(), []metrics.Block{{Hypotheses: []string{"cut", "second", "never"}, References: []string{"r"}}})
	require.NoError(t, err)
	s := scores[0]
	d := cmp.Diff([]metrics.Status{0, 0, metrics.Unparseable}, s.Status)
	assert.True(t, d == "" && s.Values[0] == -3 && s.Values[1] == -1, "%v; %s", s.Values, d)
	assert.True(t, len(m.asked) == 2+2+3, "%d calls", len(m.asked))
}

// The second turn follows the answer to the first in the same conversation.
func TestTwoTurns(t *testing.T) {
	m := &model{}
	m.answer = func(r llm.Request) (llm.Response, error) {
		if len(r.Messages) < 3 {
			return llm.Response{Text: "Minor errors: the word 'big'.", HasText: true, FinishReason: "stop"}, nil
		}
		return llm.Response{Text: `{"errors": {"error_1": {"error_location": "big", "error_aspect": "Accuracy", "explanation": "It is small.", "severity": "Minor", "score_reduction": 1.5}}}`,
			HasText: true, FinishReason: "stop"}, nil
	}
	scores, err := newJudge(t, m, "xgptscore:task=translation", nil).Score(t.Context(), []metrics.Block{
		{Source: "src", Hypotheses: []string{"a big house"}, References: []string{"a small house"}},
	})
	require.NoError(t, err)
	r := scores[0].Reports[0]
	if scores[0].Values[0] != -1.5 || len(r.Errors) != 1 || r.Errors[0].Span != (analysis.Span{Start: 2, End: 5}) {
		t.Errorf("%v, %+v", scores[0].Values, r)
	}
	last := m.asked[len(m.asked)-1].Messages
	n := len(last)
	assert.True(t, last[n-2].Role == "assistant" && last[n-2].Content == "Minor errors: the word 'big'.", "%+v", last)
}

// Of the first turn, GEMBA-ESA's second turn sees only the errors. The report has the
// errors and the score.
func TestErrorsThenScore(t *testing.T) {
	m := &model{answer: func(r llm.Request) (llm.Response, error) {
		text := "Major:\naccuracy/mistranslation - \"style\"\nMinor:\nno-error\n"
		if strings.Contains(prompt(r), "Annotated error spans:") {
			text = "40"
		}
		return llm.Response{Text: text, HasText: true, FinishReason: "stop"}, nil
	}}
	blocks := []metrics.Block{{Source: "Der Fluss ist still.", Hypotheses: []string{"The river is a style."}}}
	scores, err := newJudge(t, m, "gemba-esa:sl=German,tl=English", nil).Score(t.Context(), blocks)
	require.NoError(t, err)
	report := scores[0].Reports[0]
	if *report.Score != 40 || len(report.Errors) != 1 || report.Errors[0].Span != (analysis.Span{Start: 15, End: 20}) || report.Detail != "" {
		t.Errorf("%+v", report)
	}
	if len(m.asked) != 2 || len(m.asked[0].Messages) != 8 || len(m.asked[1].Messages) != 0 ||
		!strings.HasSuffix(m.asked[1].Prompt, "```Major:\naccuracy/mistranslation - \"style\"\nMinor:\nno-error```\nScore (0-100): ") {
		t.Errorf("%d calls; %d messages, then %q", len(m.asked), len(m.asked[0].Messages), prompt(m.asked[len(m.asked)-1]))
	}
}

// A number counts if only the text after it was truncated; a truncated number does not.
func TestTruncatedNumber(t *testing.T) {
	for text, want := range map[string]metrics.Status{
		"85\nThe translation is": metrics.Scored,
		"8":                      metrics.Cut,
		"Score: 8":               metrics.Cut,
	} {
		m := &model{answer: func(llm.Request) (llm.Response, error) {
			return llm.Response{Text: text, HasText: true, FinishReason: "length"}, nil
		}}
		scores, err := newJudge(t, m, "gemba-da:sl=Chinese,tl=English", nil).Score(t.Context(), []metrics.Block{
			{Source: "s", Hypotheses: []string{"h"}, References: []string{"r"}},
		})
		require.NoError(t, err)
		assert.Equal(t, want, scores[0].Status[0], "%q", text)
	}
}

// The number that an answer without a score counts as may lie outside the range of scores;
// a search that stops at the best score would miss it.
func TestBoundsIncludePolicyValue(t *testing.T) {
	for _, test := range []struct {
		policy string
		lower  float64
		upper  float64
	}{
		{"exclude", math.Inf(-1), 0},
		{"zero", math.Inf(-1), 0},
		{"-25", math.Inf(-1), 0},
		{"5", math.Inf(-1), 5},
	} {
		j := newJudge(t, nil, zhen+",unparseable="+test.policy, nil)
		if info := j.Info(); info.Lower != test.lower || info.Upper != test.upper {
			t.Errorf("%s: bounds %v and %v, want %v and %v", test.policy, info.Lower, info.Upper, test.lower, test.upper)
		}
	}
}

func TestPolicies(t *testing.T) {
	for _, s := range []string{"exclude", "zero", "retry:3", "fail", "-25", "0.5"} {
		p, err := judge.ParsePolicy(s)
		assert.True(t, err == nil && p.String() == s, "%s: %v, %v", s, p, err)
	}
	for _, s := range []string{"", "never", "retry:0", "retry:x", "NaN", "Inf", "exclude:1"} {
		_, err := judge.ParsePolicy(s)
		assert.Error(t, err, "%q was read", s)
	}
}
