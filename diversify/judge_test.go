package diversify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// sayer answers by a function.
type sayer func(r llm.Request) string

func (s sayer) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	return llm.Response{Text: s(r), HasText: true, FinishReason: "stop"}, nil
}

// A judge is asked about all answers to a reference at once. Only about texts without a verdict
// it is asked once more; a number that is missing or has two verdicts never counts as "same".
func TestJudgeOfMeaning(t *testing.T) {
	texts := []string{
		"At eight in the morning, the train to Lindenau leaves.", "The Lindenau train departs in the morning, at eight.",
		"In the morning at eight the train leaves for Lindenau.", "At eight in the morning the Lindenau train goes.",
		"The train for Lindenau is leaving at eight in the morning.",
	}
	sent := 0
	var asked [][]string // the judge, about these
	var prompts []string
	// wrong returns the verdict on a text by its index in the first answer; "" for none.
	judged := func(wrong func(i, call int) (changed, words string), shape func(string) string) sayer {
		sent, asked, prompts = 0, nil, nil
		return func(r llm.Request) string {
			var about []string
			said, isJudge := llmtest.Verdicts(r.Prompt, func(_, text string) (changed, words string) {
				about = append(about, text)
				return wrong(slices.Index(texts, text), len(asked))
			})
			if isJudge {
				asked, prompts = append(asked, about), append(prompts, r.Prompt)
				return shape(said)
			}
			sent++
			return texts[(sent-1)%len(texts)]
		}
	}
	plain := func(s string) string { return s }
	for name, c := range map[string]struct {
		wrong    func(i, call int) (changed, words string)
		shape    func(string) string
		rejected string // verdicts and details
		asked    []int  // texts of each question
	}{
		"same":   {func(int, int) (string, string) { return "same", "" }, plain, "", []int{5}},
		"fenced": {func(int, int) (string, string) { return "Same", "" }, func(s string) string { return "<think>{?</think>Here:\n```json\n" + s + "\n```\nI read {1} to {5}." }, "", []int{5}},
		"changed": {func(i, _ int) (string, string) {
			return [...]string{"same", "role", "same", "same", "same"}[i], "train"
		}, plain, "not-equivalent role: train (judged by j)", []int{5}},
		"words of another text": {func(i, _ int) (string, string) {
			return [...]string{"same", "role", "same", "same", "same"}[i], "a change that was planted"
		}, plain, "not-equivalent role (judged by j)", []int{5}},
		"another word": {func(i, call int) (string, string) {
			if i < 2 && call == 0 {
				return "perhaps", ""
			}
			return "same", ""
		}, plain, "", []int{5, 2}},
		"twice": {func(int, int) (string, string) { return "same", "" }, func(s string) string {
			return strings.ReplaceAll(s, `"number":2,`, `"number":1,`)
		}, "", []int{5, 1}},
		"two verdicts": {func(i, call int) (string, string) {
			return map[bool]string{true: "role", false: "same"}[call == 0 && i%2 == 0], ""
		}, func(s string) string {
			return regexp.MustCompile(`"number":[1-5],`).ReplaceAllString(s, `"number":1,`)
		}, "unjudged|unjudged|unjudged|unjudged", []int{5, 5}},
		"no JSON": {func(int, int) (string, string) { return "same", "" }, func(string) string { return "They are all the same." }, "unjudged|unjudged|unjudged|unjudged|unjudged", []int{5, 5}},
		"cut":     {func(int, int) (string, string) { return "same", "" }, func(s string) string { return s[:len(s)-3] }, "unjudged|unjudged|unjudged|unjudged|unjudged", []int{5, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(judged(c.wrong, c.shape))
			cfg.Prompts, cfg.Samples, cfg.Concurrency = ten(t, "order"), 5, 1
			cfg.Check = checker(t, check.ReasonCopy)
			cfg.Equivalence = &diversify.Equivalence{Model: "j"}
			seg := oneReference()
			seg[0].Source = refract.NewText("Der Zug nach Lindenau fährt um acht Uhr morgens.")
			out, sum := mustRun(t, newExpander(t, cfg), seg)
			var rejected []string
			for _, v := range out[0].Rejected {
				if v.Verdict == diversify.Unjudged {
					v.Detail = ""
				}
				rejected = append(rejected, strings.TrimSpace(v.Verdict+" "+v.Detail))
			}
			assert.Equal(t, c.rejected, strings.Join(rejected, "|"), "rejected")
			var sizes []int
			for _, a := range asked {
				sizes = append(sizes, len(a))
			}
			if !slices.Equal(sizes, c.asked) || sum.Judged != len(c.asked) {
				t.Errorf("the judge was asked about %v texts, want %v; %d counted", sizes, c.asked, sum.Judged)
			}
			if !strings.Contains(prompts[0], `{"source":"Der Zug`) || slices.Equal(asked[0], texts) {
				t.Errorf("asked %v by %s", asked[0], prompts[0])
			}
		})
	}
}

// A text at which the judge fails every time is unjudged, and the others have their verdicts.
func TestJudgeFailsAtOneText(t *testing.T) {
	n := 0
	cfg := config(completer(func(_ context.Context, r llm.Request) (llm.Response, error) {
		said, isJudge := llmtest.Verdicts(r.Prompt, func(string, string) (changed, words string) { return "same", "" })
		switch {
		case isJudge && strings.Contains(r.Prompt, "in words 5."):
			return llm.Response{}, fmt.Errorf("no: %w", llm.ErrUnavailable)
		case !isJudge:
			n++
			said = fmt.Sprintf("The train to Lindenau leaves at eight in the morning, in words %d.", n)
		}
		return llm.Response{Text: said, HasText: true, FinishReason: "stop"}, nil
	}))
	cfg.Prompts, cfg.Samples, cfg.Concurrency, cfg.Tolerate = ten(t, "order"), 24, 1, 9
	cfg.Check = checker(t, check.ReasonCopy)
	cfg.Equivalence = &diversify.Equivalence{Model: "j"}
	out, _ := mustRun(t, newExpander(t, cfg), oneReference())
	if r := out[0].Rejected; len(out[0].Variants) != 23 || len(r) != 1 || r[0].Verdict != diversify.Unjudged || !strings.Contains(r[0].Detail, "gave no answer") {
		t.Errorf("%d variants, rejected %+v", len(out[0].Variants), r)
	}
}

// Long lists are split, and in a later round the judge is asked only about new answers.
func TestJudgeLists(t *testing.T) {
	var asked []int
	n := 0
	cfg := config(sayer(func(r llm.Request) string {
		first := true
		said, isJudge := llmtest.Verdicts(r.Prompt, func(_, text string) (changed, words string) {
			if first && len(asked) == 0 { // one text of the first list is changed
				first = false
				return "negation", "not"
			}
			return "same", ""
		})
		if !isJudge {
			n++
			return fmt.Sprintf("The train to Lindenau leaves at eight in the morning, in words %d.", n)
		}
		asked = append(asked, strings.Count(r.Prompt, `. {"rewriting":`))
		if !strings.Contains(r.Prompt, "{\"reference\":\"") || !json.Valid([]byte(r.Schema.JSON)) {
			t.Errorf("asked %+v", r)
		}
		return said
	}))
	cfg.Prompts, cfg.Samples, cfg.Concurrency, cfg.Resample, cfg.Form = ten(t, "order"), 24, 1, 1, diversify.FormJSON
	cfg.Client = wrapped{cfg.Client.(sayer)}
	cfg.Check = checker(t, check.ReasonCopy)
	cfg.Equivalence = &diversify.Equivalence{Model: "m"}
	out, _ := mustRun(t, newExpander(t, cfg), oneReference())
	if want := []int{20, 4, 1}; !slices.Equal(asked, want) || len(out[0].Variants) != 24 || len(out[0].Rejected) != 1 {
		t.Errorf("asked about %v, want %v; %d variants, %d rejected", asked, want, len(out[0].Variants), len(out[0].Rejected))
	}
}

// wrapped answers the model's questions as JSON.
type wrapped struct{ sayer }

func (w wrapped) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	said := w.sayer(r)
	if len(r.Messages) > 0 {
		b, _ := json.Marshal(map[string]string{"text": said})
		said = string(b)
	}
	return llm.Response{Text: said, HasText: true, FinishReason: "stop"}, nil
}
