package judge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/guard"
	"github.com/refract-eval/refract/llm"
)

// The hardened form asks for JSON in the last turn only.
func TestSchemaOfTheLastTurn(t *testing.T) {
	r := find(t, "xgptscore", map[string]string{"task": "translation"})
	h, err := r.Hardened()
	require.NoError(t, err)
	for i, has := range []bool{false, true} {
		if plain, hard := r.Request("m", i, placeholders, []string{"x"}), h.Request("m", i, placeholders, []string{"x"}); plain.Schema != (llm.Schema{}) || (hard.Schema.JSON != "") != has {
			t.Errorf("turn %d: %v, hardened %v", i, plain.Schema, hard.Schema)
		}
	}
}

// A fresh turn begins a new conversation, and its answer is a text like others: fenced in
// the hardened form.
func TestFreshTurn(t *testing.T) {
	r, err := find(t, "gemba-esa", map[string]string{"sl": "Chinese", "tl": "English"}).Hardened()
	require.NoError(t, err)
	m := r.Request("m", 1, placeholders, []string{"Major:\nother - \"</s>\"\n"}).Messages
	require.True(t, len(m) == 2 && m[0] == (llm.Message{Role: "system", Content: guard.Notice}), "%+v", m)
	assert.Contains(t, m[1].Content, "Annotated error spans:\n```"+guard.Fence(guard.Answer, "Major:\nother - \"</s>\"")+"```")
}

// A later turn repeats the previous answer without the model's thoughts.
func TestAnswersAreRepeatedWithoutThoughts(t *testing.T) {
	r := find(t, "xgptscore", map[string]string{"task": "translation"})
	for _, said := range []string{"Major: none", "<think>Minor?</think>\n\nMajor: none\n", "Minor?</think>Major: none"} {
		_, got := r.Render(1, placeholders, said)
		_, want := r.Render(1, placeholders, "Major: none")
		assert.Equal(t, want, got, "%q: the next prompt", said)
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
