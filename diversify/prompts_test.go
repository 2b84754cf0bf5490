package diversify_test

import (
	"slices"
	"strings"
	"testing"

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
	for _, p := range append(ten, diversify.Plain()) {
		if !strings.HasSuffix(p.Text, ":") || strings.TrimSpace(p.Text) != p.Text {
			t.Errorf("%s: text %q", p.Name, p.Text)
		}
	}
	ten[0].Text = "changed"
	if diversify.Ten()[0].Text == "changed" {
		t.Error("a caller can change the prompts of others")
	}
	if got, want := diversify.Plain().For(" a\n"), "Paraphrase the sentences:  a\n"; got != want {
		t.Errorf("prompt %q, want %q", got, want)
	}
}

func TestParsePrompts(t *testing.T) {
	for _, c := range []struct{ in, want, err string }{
		{in: "ten", want: names(diversify.Ten())},
		{in: "plain", want: "plain"},
		{in: "tone, order", want: "tone,order"},
		{in: "plain,ten", want: "plain," + names(diversify.Ten())},
		{in: "", err: "no prompt is named (known: ten, order,"},
		{in: " ", err: "no prompt is named"},
		{in: "order,", err: `prompts "order,": a name is empty`},
		{in: "order,order", err: `"order" is named twice`},
		{in: "ten,voice", err: `"voice" is named twice`},
		{in: "ordr", err: `unknown prompt "ordr"; did you mean "order"? (known: ten, order, structure,`},
		{in: "Order", err: `did you mean "order"?`},
		{in: "paraphrasing", err: `unknown prompt "paraphrasing" (known:`},
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

// A list of distinct names is read back as it was written.
func TestParsePromptsProperty(t *testing.T) {
	all := append(diversify.Ten(), diversify.Plain())
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Permutation(all).Draw(t, "order")[:rapid.IntRange(1, len(all)).Draw(t, "n")]
		got, err := diversify.ParsePrompts(names(want))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v, %v; want %v", got, err, want)
		}
	})
}
