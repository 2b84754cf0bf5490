package diversify_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/diversify"
)

func names(prompts []diversify.Prompt) string {
	var out []string
	for _, p := range prompts {
		out = append(out, p.Name)
	}
	return strings.Join(out, ",")
}

// Faults that users would not see: two prompts that share their answers, a text in the
// alphabet of another language, white space that reaches the model.
func TestBuiltInPrompts(t *testing.T) {
	scripts := map[string]*unicode.RangeTable{
		"en": unicode.Latin, "de": unicode.Latin, "es": unicode.Latin, "fr": unicode.Latin, "ru": unicode.Cyrillic, "zh": unicode.Han,
	}
	byName, byText := map[string]bool{}, map[string]string{}
	for _, p := range diversify.Prompts() {
		assert.False(t, byName[p.Name], "two prompts are named %s", p.Name)
		other, ok := byText[p.Text]
		assert.False(t, ok, "%s and %s have the same text", other, p.Name)
		byName[p.Name], byText[p.Text] = true, p.Name
		if p.FromSource() {
			assert.True(t, diversify.SetOf(p) != "file" && p.Language == "", "%+v", p)
			continue
		}
		assert.False(t, p.NeedsSource(), "%+v", p)
		_, suffix, _ := strings.Cut(p.Name, "@")
		if suffix != p.Language && (suffix != "" || p.Language != "en") {
			t.Errorf("%s is in language %q", p.Name, p.Language)
		}
		colon, after := ":", " "
		if p.Language == "zh" || p.Language == "ja" {
			colon, after = "：", ""
		}
		if !strings.HasSuffix(p.Text, colon) || strings.TrimSpace(p.Text) != p.Text {
			t.Errorf("%s: text %q", p.Name, p.Text)
		}
		assert.Equal(t, p.Text+after+"{source} x", p.Render("{source} x", ""), "%s: sent", p.Name)
		for _, r := range p.Text {
			if table := scripts[p.Language]; table != nil && unicode.IsLetter(r) && !unicode.Is(table, r) {
				t.Errorf("%s: %q is no letter of its language", p.Name, r)
			}
		}
	}
}

func TestParsePrompts(t *testing.T) {
	for _, c := range []struct{ in, want, err string }{
		{in: "ten", want: "order,structure,voice,tense,tone,style,rephrase,synonyms,formal,informal"},
		{in: "ten@en", want: names(diversify.Ten())},
		{in: "plain", want: "plain"},
		{in: "tone, order", want: "tone,order"},
		{in: "plain,ten", want: "plain," + names(diversify.Ten())},
		{in: "ten@de", want: names(diversify.Prompts()[11:21])},
		{in: "plain@zh,order,order@ru", want: "plain@zh,order,order@ru"},
		{in: "", err: "no prompt is named (known: ten, plain, ten@de,"},
		{in: "order,", err: `unknown prompt ""`},
		{in: "order@en,order", err: `"order" is named twice`},
		{in: "ten,voice", err: `"voice" is named twice`},
		{in: "ordr", err: `unknown prompt "ordr"; did you mean "order"? (known: ten, plain,`},
		{in: "ten@dee", err: `unknown prompt "ten@dee"; did you mean "ten@de"?`},
		{in: "p.yaml", err: `unknown prompt "p.yaml"; a file of prompts is file:p.yaml`},
		{in: "order*2", err: `unknown prompt "order*2"`},
		{in: "file:", err: "file of prompts: open : "},
		{in: "file:no*.yaml", err: "file of prompts: open no*.yaml: "},
	} {
		got, err := diversify.ParsePrompts(c.in)
		switch {
		case c.err == "" && (err != nil || names(got) != c.want):
			t.Errorf("%q: %s, %v; want %s", c.in, names(got), err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%q: error %v; want one with %q", c.in, err, c.err)
		}
	}
}

func TestRender(t *testing.T) {
	template := diversify.Prompt{Name: "t", Text: "{source} = {reference}; {reference} {other} {"}
	for _, c := range []struct {
		prompt                  diversify.Prompt
		reference, source, want string
	}{
		{diversify.Prompts()[10], "{reference}", "s", "Paraphrase the sentences: {reference}"},
		{template, "r", "s", "s = r; r {other} {"},
		// Placeholders inside inserted texts are not replaced.
		{template, "{source}", "{reference}", "{reference} = {source}; {source} {other} {"},
		{diversify.Prompt{Text: "{{reference}}"}, "reference", "", "{reference}"},
		{diversify.Prompt{Text: "Say {source} again."}, "r", "s", "Say s again."},
		// Without either placeholder it is an instruction, even with other braces.
		{diversify.Prompt{Text: "Like {other}:"}, "r", "s", "Like {other}: r"},
	} {
		assert.Equal(t, c.want, c.prompt.Render(c.reference, c.source), "%q with %q and %q", c.prompt.Text, c.reference, c.source)
	}
	if !template.NeedsSource() || (diversify.Prompt{Text: "Like {other}:"}).NeedsSource() {
		t.Error("NeedsSource is wrong")
	}
}
