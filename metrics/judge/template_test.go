package judge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestScan(t *testing.T) {
	for _, c := range []struct {
		text string
		want template
		err  string
	}{
		{text: ""},
		{text: "plain", want: template{{Text: "plain"}}},
		{text: "a {src} b", want: template{{Text: "a "}, {Field: "src"}, {Text: " b"}}},
		{text: "{src}{ref}", want: template{{Field: "src"}, {Field: "ref"}}},
		{text: `{{"errors": {{}}}}`, want: template{{Text: `{"errors": {}}`}}},
		{text: "{{src}}", want: template{{Text: "{src}"}}},
		{text: "{{{src}}}", want: template{{Text: "{"}, {Field: "src"}, {Text: "}"}}},
		{text: "{a_1}", want: template{{Field: "a_1"}}},
		{text: "a } b", err: "closes nothing"},
		{text: "a { b", err: "opens no variable"},
		{text: "{src", err: "opens no variable"},
		{text: "{}", err: "opens no variable"},
		{text: "{Src}", err: "opens no variable"},
		{text: "{1a}", err: "opens no variable"},
		{text: "{src }", err: "opens no variable"},
		{text: "$x ${src}", want: template{{Text: "$x $"}, {Field: "src"}}},
	} {
		got, err := scan(c.text)
		if c.err != "" {
			assert.ErrorContains(t, err, c.err, "scan(%q)", c.text)
			continue
		}
		if got = joined(got); err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("scan(%q) = %v, %v, want %v", c.text, got, err, c.want)
		}
	}
}

// joined merges adjacent pieces of literal text.
func joined(t template) template {
	var out template
	for _, p := range t {
		if n := len(out); n > 0 && p.Field == "" && out[n-1].Field == "" {
			out[n-1].Text += p.Text
		} else {
			out = append(out, p)
		}
	}
	return out
}

// trickyTexts look like parts of templates.
var trickyTexts = rapid.SampledFrom([]string{
	"", "{src}", "{ref}", "{out}", "{", "}", "{{", "}}", "{name}", "\"", "\n", "</s>", "é", "{{src}}", "%s", "$1", "${out}",
})

var anyText = rapid.Custom(func(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.OneOf(trickyTexts, rapid.String()), 0, 4).Draw(t, "parts")
	return strings.Join(parts, "")
})

// A rendered prompt is the template's text with the given texts inserted unchanged,
// whatever they contain.
func TestRenderIsOnePass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Fields{anyText.Draw(t, "source"), anyText.Draw(t, "reference"), anyText.Draw(t, "hypothesis")}
		named := anyText.Draw(t, "named")
		texts := map[string]string{"{src}": f.Source, "{ref}": f.Reference, "{out}": f.Hypothesis, "{named}": named}
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{"{src}", "{ref}", "{out}", "{named}", "word ", "{{", "}}", "\n"})).Draw(t, "template")
		var want strings.Builder
		length := 0
		for _, p := range pieces {
			text, ok := texts[p]
			switch {
			case ok:
			case p == "{{", p == "}}":
				text = p[:1]
			default:
				text = p
			}
			want.WriteString(text)
			length += len(text)
		}
		tmpl, err := compile(strings.Join(pieces, ""), map[string]variable{"named": {text: named, literal: true}})
		require.NoError(t, err)
		got := tmpl.render(f, "", false)
		if got != want.String() || len(got) != length {
			t.Fatalf("render = %q, want %q", got, want.String())
		}
	})
}

func TestCompileLimits(t *testing.T) {
	circle := map[string]variable{"a": {text: "{b}"}, "b": {text: "{a}"}}
	_, err := compile("{a}", circle)
	assert.ErrorContains(t, err, "{a} contains itself", "circle")
	doubling := map[string]variable{}
	for c := 'a'; c < 'z'; c++ {
		doubling[string(c)] = variable{text: strings.Repeat("{"+string(c+1)+"}", 10)}
	}
	doubling["z"] = variable{text: "z"}
	_, err = compile("{a}", doubling)
	assert.ErrorContains(t, err, "grows", "doubling")
}
