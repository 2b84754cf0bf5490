package judge

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

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
		f := Fields{Source: anyText.Draw(t, "source"), Reference: anyText.Draw(t, "reference"), Hypothesis: anyText.Draw(t, "hypothesis")}
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
		require.True(t, got == want.String() && len(got) == length, "render = %q, want %q", got, want.String())
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
