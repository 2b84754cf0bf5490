package diversify_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge"
)

// thinking lists the forms in which servers leave a model's reasoning in its answer: with ① for
// the reasoning and ② for the answer. cut is the form of reasoning that was cut; "" where nothing
// tells it from an answer.
var thinking = []struct{ name, whole, cut string }{
	{"Harmony", "<|channel|>analysis<|message|>①<|end|>\n<|start|>assistant<|channel|>final<|message|>②<|return|>", "<|channel|>analysis<|message|>①"},
	{"Harmony with commentary", "<|channel|>analysis<|message|>①<|end|><|start|>assistant<|channel|>commentary<|message|>①<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>②", "<|channel|>analysis"},
	{"Harmony, not parsed", "<|channel|>analysis<|message|>①<|end|>\n②", "<|channel|>analysis<|message|>①<|end|>"},
	{"Harmony without tokens", "analysis①\nassistantfinal②", "analysis①\n①"},
	{"Harmony without tokens and name", "①\n①.assistantfinal②", ""},
	{"Gemma", "<|channel>thought\n①<channel|>②", "<|channel>thought\n①"},
	{"Gemma with an empty pair", "①<channel|>②<|channel>thought\n<channel|>", "<|channel>thought\n①"},
	{"Qwen", "<think>①\n</think>②", "<think>①\n①"},
	{"opened by the template", "①\n</think>\n\n②", ""},
	{"empty pair", "<think>\n\n</think>\n\n①</think>②", "<think>\n\n</think>"},
	{"Mistral", "[THINK]①\n[/THINK]②", "[THINK]①"},
	{"Kimi", "◁think▷①\n◁/think▷②", "◁think▷①"},
	{"Kimi K3", "①<|close|>think<|sep|>\n<|open|>response<|sep|>②<|close|>response<|sep|>", "<|open|>think<|sep|>①"},
	{"Kimi K3 without closers", "①<|open|>response<|sep|>②", "①<|close|>think<|sep|>"},
	{"Cohere", "<|START_THINKING|>①<|END_THINKING|>\n<|START_TEXT|>②<|END_TEXT|>", "<|START_THINKING|>①"},
	{"Cohere, older", "①<|END_THINKING|><|START_RESPONSE|>②<|END_RESPONSE|>", "①<|END_THINKING|>"},
}

// judged lists judges with an answer, its score, and a draft of it that would have another one.
var judged = []struct {
	spec, draft, answer string
	score               float64
}{
	{"gemba-da:sl=a,tl=b", "40", "85", 85},
	{"gemba-stars:sl=a,tl=b", "Two stars", "★★★★☆", 4},
	{"gemba-classes:sl=a,tl=b", "No meaning preserved", "Perfect translation", 5},
	{"gemba-mqm:sl=a,tl=b", "Critical:\naccuracy/omission - \"x\"", "Major:\nno-error\nMinor:\nfluency/grammar - \"y\"", -1},
	{"tigerscore", "The model-generated output contains 1 error, with a total score reduction of 4.\nError location 1: x\nScore reduction 1: 4", "The model-generated output contains 1 error, with a total score reduction of 2.\nError location 1: x\nScore reduction 1: 2", -2},
	{"instructscore:task=mt_zh-en", "Your Translation contains 1 error:\nError type 1: a\nMajor/minor: Major\nError location 1: \"b\"\nExplanation for error 1: c", "Your Translation contains 0 errors:", 0},
	{"m-prometheus:sl=a,tl=b", "Bad. [RESULT] 2", "Good. [RESULT] 4", 4},
	{"xgptscore:task=translation", `{"errors": [{"error_location": "x", "score_reduction": 4}]}`, `{"errors": []}`, 0},
}

// filled puts reasoning and an answer into a form.
func filled(form, thought, answer string) string {
	return strings.NewReplacer("①", "We think of it. "+thought, "②", answer).Replace(form)
}

// No judge and neither form of expand takes reasoning for an answer, whatever marks surround it.
func TestThinking(t *testing.T) {
	for _, f := range thinking {
		for _, j := range judged {
			d, set, err := judge.FindSpec(j.spec)
			require.NoError(t, err)
			r, err := d.ResolveReading(set)
			require.NoError(t, err)
			p, err := r.Parser()
			require.NoError(t, err)
			said := filled(f.whole, j.draft, j.answer)
			if got := p.Parse(said); got.Score == nil || *got.Score != j.score {
				t.Errorf("%s, %s: %s %s: %q", f.name, j.spec, got.Outcome, got.Detail, said)
			}
			if said = filled(f.cut, j.draft, ""); f.cut != "" {
				if got := p.Parse(said); got.Outcome != analysis.Unparseable {
					t.Errorf("%s, %s: cut reasoning has the score %v: %q", f.name, j.spec, *got.Score, said)
				}
			}
		}
		for _, form := range []diversify.Form{diversify.FormText, diversify.FormJSON} {
			for _, checks := range []bool{true, false} {
				reference, draft, answer := "The train arrives two hours later today.", "The train arrives today, later by two hours.", "Today the train gets in two hours later."
				wrapped := map[diversify.Form]func(string) string{
					diversify.FormText: func(s string) string { return s },
					diversify.FormJSON: func(s string) string { b, _ := json.Marshal(map[string]string{"text": s}); return string(b) },
				}[form]
				for _, said := range []string{filled(f.whole, wrapped(draft), wrapped(answer)), filled(f.cut, wrapped(draft), "")} {
					if said == "" {
						continue
					}
					server := llmtest.NewServer(t, nil)
					server.Fail(llmtest.Finish("stop", said))
					cfg := config(client(t, server))
					cfg.Prompts, cfg.Form = cfg.Prompts[:1], form
					if checks {
						cfg.Check, _ = check.New(check.Config{})
					}
					out, _ := mustRun(t, newExpander(t, cfg), segments{{ID: "a", References: []refract.Text{refract.NewText(reference)}}})
					got := ""
					for _, v := range out[0].Variants {
						got += v.Text.Value
					}
					want := map[bool]string{true: answer}[strings.Contains(said, answer)]
					assert.Equal(t, want, got, "%s, form %s, checks %v: %q of %q", f.name, form, checks, got, said)
				}
			}
		}
	}
}

// A text about reasoning, or a report that quotes its marks, keeps them.
func TestMarksInTexts(t *testing.T) {
	for _, s := range []string{
		"Write <think> before the thought and </think> after it.",
		"Its \"</think>\" is not English.",
		"Major:\naccuracy/mistranslation - \"the </think> tag\"\nMinor:\nno-error",
		"Major:\naccuracy/addition - “<channel|>”\nMinor:\nstyle - \"x\"",
		"The model-generated output contains 2 errors.\nError location 1: a\nError location 2: </think>\nError aspect 2: b",
		`{"errors": [{"error_location": "the \"</think>\" tag", "explanation": "a </think> b"}]}`,
		`{"text": "Harmony ends it with <|end|> and assistantfinal."}`,
		"The <|end|> token ends a message, and <|return|> the answer.",
		"The `<|channel|>final<|message|>` header begins the answer.",
		"Analysis is hard.", "analysis is hard", "[Explanation] It is fine.", "Use </s> at the end, not <s>.",
	} {
		for _, form := range []string{"②", "<think>\n①\n</think>\n\n②", "<|channel|>analysis<|message|>①<|end|><|start|>assistant<|channel|>final<|message|>②<|return|>"} {
			said := filled(form, "", s)
			got, _, ended := text.Answer(said)
			assert.True(t, got == s && ended, "%q: %q", said, got)
		}
	}
}
