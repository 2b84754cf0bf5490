package diversify_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract/diversify"
)

func names(prompts []diversify.Prompt) string {
	var out []string
	for _, p := range prompts {
		out = append(out, p.Name)
	}
	return strings.Join(out, ",")
}

func TestTen(t *testing.T) {
	ten := diversify.Ten()
	if got, want := names(ten), "order,structure,voice,tense,tone,style,rephrase,synonyms,formal,informal"; got != want {
		t.Errorf("names %s, want %s", got, want)
	}
	ten[0].Text = "changed"
	if diversify.Ten()[0].Text == "changed" {
		t.Error("a caller can change the prompts of others")
	}
	if got, want := diversify.Prompts()[10].Render(" a\n", ""), "Paraphrase the sentences:  a\n"; got != want {
		t.Errorf("prompt %q, want %q", got, want)
	}
}

// What a user cannot see: two prompts that would share their answers, a text
// in the alphabet of another language, white space that reaches the model.
func TestBuiltInPrompts(t *testing.T) {
	if got := strings.Join(diversify.Languages(), " "); got != "en de es fr ja ru zh" {
		t.Errorf("languages %s", got)
	}
	scripts := map[string]*unicode.RangeTable{
		"en": unicode.Latin, "de": unicode.Latin, "es": unicode.Latin, "fr": unicode.Latin, "ru": unicode.Cyrillic, "zh": unicode.Han,
	}
	byName, byText := map[string]bool{}, map[string]string{}
	for _, p := range diversify.Prompts() {
		if byName[p.Name] {
			t.Errorf("two prompts are named %s", p.Name)
		}
		if other, ok := byText[p.Text]; ok {
			t.Errorf("%s and %s have the same text", other, p.Name)
		}
		byName[p.Name], byText[p.Text] = true, p.Name
		if p.FromSource() {
			if diversify.SetOf(p) == "file" || p.Language != "" || p.Samples != 0 {
				t.Errorf("%+v", p)
			}
			continue
		}
		if p.Samples != 0 || p.NeedsSource() {
			t.Errorf("%+v", p)
		}
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
		if got, want := p.Render("{source} x", ""), p.Text+after+"{source} x"; got != want {
			t.Errorf("%s: sent %q, want %q", p.Name, got, want)
		}
		for _, r := range p.Text {
			if table := scripts[p.Language]; table != nil && unicode.IsLetter(r) && !unicode.Is(table, r) {
				t.Errorf("%s: %q is no letter of its language", p.Name, r)
			}
		}
	}
}

func TestParsePrompts(t *testing.T) {
	for _, c := range []struct{ in, want, err string }{
		{in: "ten", want: names(diversify.Ten())},
		{in: "ten@en", want: names(diversify.Ten())},
		{in: "plain", want: "plain"},
		{in: "tone, order", want: "tone,order"},
		{in: "plain,ten", want: "plain," + names(diversify.Ten())},
		{in: "ten@de", want: names(diversify.Prompts()[11:21])},
		{in: "plain@zh,order,order@ru", want: "plain@zh,order,order@ru"},
		{in: "", err: "no prompt is named (known: ten, order,"},
		{in: " ", err: "no prompt is named"},
		{in: "order,", err: `prompts "order,": a name is empty`},
		{in: "order,order", err: `"order" is named twice`},
		{in: "order*2,order*3", err: `"order" is named twice`},
		{in: "order@en,order", err: `"order" is named twice`},
		{in: "ten,voice", err: `"voice" is named twice`},
		{in: "ordr", err: `unknown prompt "ordr"; did you mean "order"? (known: ten, order, structure,`},
		{in: "ordr@de", err: `unknown prompt "ordr@de"; did you mean "order@de"? (known: ten@de, order@de,`},
		{in: "Order", err: `did you mean "order"?`},
		{in: "order@dee", err: `unknown language of prompts "dee"; did you mean "de"? (known: en, de,`},
		{in: "order@", err: `unknown language of prompts ""`},
		{in: "paraphrasing", err: `unknown prompt "paraphrasing" (known:`},
		{in: "order*", err: `prompt "order*": want a number from 1 to 10000 after the *`},
		{in: "order*0", err: "want a number from 1"},
		{in: "order*-1", err: "want a number from 1"},
		{in: "order*2*3", err: `unknown prompt "order*2"`},
		{in: "order*1000000", err: "want a number from 1"},
		{in: "file:", err: "file of prompts: open : "},
		{in: "file:no.yaml*2", err: "file of prompts: open no.yaml: "},
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

func TestParsePromptsSamples(t *testing.T) {
	got, err := diversify.ParsePrompts("plain*10,ten@de*3,voice")
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range got {
		want := 3
		switch i {
		case 0:
			want = 10
		case len(got) - 1:
			want = 0
		}
		if p.Samples != want {
			t.Errorf("%s: %d samples, want %d", p.Name, p.Samples, want)
		}
	}
}

// A list of distinct names is read back as it was written.
func TestParsePromptsProperty(t *testing.T) {
	all := diversify.Prompts()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Permutation(all).Draw(t, "order")[:rapid.IntRange(1, len(all)).Draw(t, "n")]
		got, err := diversify.ParsePrompts(names(want))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v, %v; want %v", got, err, want)
		}
	})
}

func TestRender(t *testing.T) {
	template := diversify.Prompt{Name: "t", Text: "{source} = {reference}; {reference} {other} {"}
	for _, c := range []struct {
		prompt                  diversify.Prompt
		reference, source, want string
	}{
		{diversify.Prompts()[10], "{reference}", "s", "Paraphrase the sentences: {reference}"},
		{template, "r", "s", "s = r; r {other} {"},
		// What a text holds is not expanded again.
		{template, "{source}", "{reference}", "{reference} = {source}; {source} {other} {"},
		{diversify.Prompt{Text: "{{reference}}"}, "reference", "", "{reference}"},
		{diversify.Prompt{Text: "Say {source} again."}, "r", "s", "Say s again."},
		// Without either it is an instruction, whatever else it has.
		{diversify.Prompt{Text: "Like {other}:"}, "r", "s", "Like {other}: r"},
	} {
		if got := c.prompt.Render(c.reference, c.source); got != c.want {
			t.Errorf("%q with %q and %q: %q, want %q", c.prompt.Text, c.reference, c.source, got, c.want)
		}
	}
	if !template.NeedsSource() || (diversify.Prompt{Text: "Like {other}:"}).NeedsSource() {
		t.Error("NeedsSource is wrong")
	}
}

// Whatever the texts hold, they stand in the prompt as they are, between the
// parts of the template.
func TestRenderProperty(t *testing.T) {
	text := rapid.StringMatching(`([a-z{} ]|\{reference\}|\{source\}){0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		reference, source := text.Draw(t, "reference"), text.Draw(t, "source")
		p := diversify.Prompt{Text: "A {source} B {reference} C {source}"}
		if got, want := p.Render(reference, source), "A "+source+" B "+reference+" C "+source; got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}
