package diversify_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify"
)

func TestTasks(t *testing.T) {
	for _, task := range []string{"translation", "summary", "caption", "data"} {
		prompts, err := diversify.ParsePrompts(task)
		assert.True(t, err == nil && len(prompts) >= 2, "%s: %v, %v", task, prompts, err)
		for _, p := range prompts {
			one, err := diversify.ParsePrompts(p.Name)
			assert.True(t, err == nil && one[0] == p && p.FromSource(), "%s: %v, %v", p.Name, one, err)
		}
	}
}

func TestPromptInALanguage(t *testing.T) {
	p := diversify.Prompt{Name: "p", Text: "Say this in {language}: {source}"}
	for code, want := range map[string]string{"de": "Say this in German: x", "pt-BR": "Say this in Brazilian Portuguese: x"} {
		if q, err := p.In(code); err != nil || q.Render("r", "x") != want {
			t.Errorf("%s: %q, %v", code, q.Render("r", "x"), err)
		}
	}
	_, err := p.In("klingonish")
	assert.Error(t, err, "no error of a language that is none")
	cfg := config(nil)
	cfg.Prompts = []diversify.Prompt{p}
	_, err = diversify.New(cfg)
	assert.ErrorContains(t, err, "needs the name of the language")
}

// The model is asked about a segment's source once, however many references there are, and the
// answers become variants of the first reference with a text.
func TestFromSource(t *testing.T) {
	cfg := config(completer(echo))
	cfg.Prompts = []diversify.Prompt{{Name: "mine", Text: "Say this: {source}"}, diversify.Ten()[0]}
	seg := &refract.Segment{ID: "a", Source: refract.NewText("Quelle"),
		References: []refract.Text{{}, refract.NewText("one"), refract.NewText("two")}}
	out, sum, err := expandOne(t.Context(), newExpander(t, cfg), seg)
	require.NoError(t, err)
	got := ""
	for _, v := range out.Variants {
		got += v.Prompt + string(rune('0'+v.Reference)) + " "
	}
	assert.True(t, got == "mine1 order1 order2 " && sum.Calls == 3, "%s, %d calls", got, sum.Calls)
	seg.Source = refract.Text{}
	_, _, err = expandOne(t.Context(), newExpander(t, cfg), seg)
	assert.ErrorContains(t, err, "the segment has none")
}
