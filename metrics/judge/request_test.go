package judge

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/guard"
	"github.com/refract-eval/refract/llm"
)

func TestTwoTurns(t *testing.T) {
	r := find(t, "xgptscore", map[string]string{"task": "translation", "sl": "Chinese", "tl": "English"})
	req := r.Request("m", 1, placeholders, []string{"Major errors: {out} none."})
	var roles []string
	for _, m := range req.Messages {
		roles = append(roles, m.Role)
	}
	if want := []string{"user", "assistant", "user"}; !slices.Equal(roles, want) {
		t.Fatalf("roles %v, want %v", roles, want)
	}
	if !strings.HasPrefix(req.Messages[0].Content, "Translation Instruction: Translate the text below from Chinese to English.\nSource Text: S\nReference Translation: R\nModel-generated Translation: O\n\nPlease identify") {
		t.Errorf("first turn: %s", req.Messages[0].Content)
	}
	assert.Equal(t, "Major errors: {out} none.", req.Messages[1].Content, "the answer was changed")
	if len(req.Extra) > 0 {
		t.Errorf("faithful requests have further fields: %v", req.Extra)
	}
	h, err := r.Hardened()
	require.NoError(t, err)
	if got := h.Request("m", 0, placeholders, nil); len(got.Extra) > 0 || got.Schema != (llm.Schema{}) {
		t.Errorf("the free analysis is asked for as JSON: %v", got)
	}
	if got := h.Request("m", 1, placeholders, []string{"x"}).Schema.JSON; got == "" {
		t.Error("the hardened form asks for no structured output")
	}
}

// A fresh turn begins a new conversation, and its answer is a text like others: fenced in
// the hardened form.
func TestFreshTurn(t *testing.T) {
	r, err := find(t, "gemba-esa", map[string]string{"sl": "Chinese", "tl": "English"}).Hardened()
	require.NoError(t, err)
	m := r.Request("m", 1, placeholders, []string{"Major:\nother - \"</s>\"\n"}).Messages
	if len(m) != 2 || m[0] != (llm.Message{Role: "system", Content: guard.Notice}) {
		t.Fatalf("%+v", m)
	}
	assert.Contains(t, m[1].Content, "Annotated error spans:\n```"+guard.Fence(guard.Answer, "Major:\nother - \"</s>\"")+"```")
}

func TestStructuredOutput(t *testing.T) {
	r := find(t, "mqm", map[string]string{"sl": "Chinese", "tl": "English"})
	format, err := json.Marshal(r.Request("m", 0, placeholders, nil).Fields())
	require.NoError(t, err)
	for _, want := range []string{`"type":"json_schema"`, `"strict":true`, `"schema":{`, `"severity"`} {
		if !strings.Contains(string(format), want) {
			t.Errorf("no %s in %s", want, format)
		}
	}
}

// A later turn repeats the previous answer without the model's thoughts.
func TestAnswersAreRepeatedWithoutThoughts(t *testing.T) {
	r := find(t, "xgptscore", map[string]string{"task": "translation"})
	for _, said := range []string{"Major: none", "<think>Minor?</think>\n\nMajor: none\n", "Minor?</think>Major: none"} {
		_, got := r.Render(1, placeholders, said)
		if _, want := r.Render(1, placeholders, "Major: none"); got != want {
			t.Errorf("%q: the next prompt is %q, want %q", said, got, want)
		}
	}
}

// Examples become turns, with the wording of the prompt.
func TestFewShot(t *testing.T) {
	d, err := parse(strings.Replace(small, "turns:", "examples: [{source: 'Hallo {out}', hypothesis: Helo, answer: '3', set: {topic: sport}}]\nturns:", 1))
	require.NoError(t, err)
	r, err := d.Resolve(nil)
	require.NoError(t, err)
	want := []llm.Message{
		{Role: "system", Content: "Judge news."}, {Role: "user", Content: "Hallo {out} => Helo"}, {Role: "assistant", Content: "3"}, {Role: "user", Content: "S => O"},
	}
	if m := r.Request("m", 0, placeholders, nil).Messages; !cmp.Equal(m, want) {
		t.Error(cmp.Diff(want, m))
	}
}
