package diversify_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/diversify"
)

func writePrompts(tb testing.TB, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "prompts.yaml")
	require.NoError(tb, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestReadPrompts(t *testing.T) {
	path := writePrompts(t, `# Our own templates.
language: de
prompts:
  - name: 2024
    text: "Einfacher: {reference}"
  - name: from-source_2.b
    language: en
    text: |
      Original: {source}
      {"translation": "{reference}"}

      Write {} another.
`)
	want := []diversify.Prompt{
		{Name: "2024", Text: "Einfacher: {reference}", Language: "de"},
		{Name: "from-source_2.b", Text: "Original: {source}\n{\"translation\": \"{reference}\"}\n\nWrite {} another.", Language: "en"},
	}
	got, err := diversify.ReadPrompts(path)
	require.True(t, err == nil && slices.Equal(got, want), "%+v, %v; want %+v", got, err, want)
	assert.True(t, !got[0].NeedsSource() && got[1].NeedsSource(), "NeedsSource is wrong")

	got, err = diversify.ParsePrompts("plain,file:" + path)
	require.True(t, err == nil && names(got) == "plain,2024,from-source_2.b", "%+v, %v", got, err)
	_, err = diversify.ParsePrompts("file:" + path + ",file:" + path)
	assert.ErrorContains(t, err, `"2024" is named twice`)
}

func TestReadPromptsErrors(t *testing.T) {
	const one = "prompts:\n  - name: a\n    text: \"x {reference}\"\n"
	for _, c := range []struct{ text, want string }{
		{"", "prompts.yaml: the file is empty; it should have a list under prompts:"},
		{"prompts: []\n", "the file has no prompts"},
		{"prompts:\n  - text: \"{reference}\"\n", ".yaml:2: prompts[0].name: the prompt has no name"},
		{"prompts:\n  - {}\n", ".yaml:2: prompts[0].name: the prompt has no name"},
		{"prompts:\n  - name: a\n", `.yaml:2: prompts[0].text: prompt "a" has no text`},
		{"prompts:\n  - name: a\n    text: \" \\n\"\n", `.yaml:3: prompts[0].text: prompt "a" has no text`},
		{"prompts:\n  - name: a\n    text: Rewrite it\n", `.yaml:3: prompts[0].text: prompt "a": the text has neither {reference} nor {source}`},
		{"prompts:\n  - name: a\n    text: \"{refrence}\"\n", `.yaml:3: prompts[0].text: prompt "a": unknown placeholder "{refrence}"; did you mean "{reference}"? (known: {reference}, {source}, {language})`},
		{"prompts:\n  - name: a\n    text: \"{reference} {Source}\"\n", `unknown placeholder "{Source}"; did you mean "{source}"?`},
		{"language: xx\n" + one, `.yaml:1: language: the language "xx" is not a code such as de`},
		{"prompts:\n  - name: a,b\n    text: \"{reference}\"\n", `.yaml:2: prompts[0].name: prompt "a,b": a name is made of letters`},
		{"prompts:\n  - name: a*2\n    text: \"{reference}\"\n", `prompt "a*2": a name is made of letters`},
		{"prompts:\n  - name: \"a\\e[2J\"\n    text: \"{reference}\"\n", `prompt "a\x1b[2J": a name is made of letters`},
		{"prompts:\n  - name: order\n    text: \"{reference}\"\n", `prompt "order" has the name of a built-in prompt`},
		{"prompts:\n  - name: ten\n    text: \"{reference}\"\n", `prompt "ten" has the name of a built-in prompt`},
		{one + "  - name: a\n    text: \"y {reference}\"\n", `.yaml:5: prompts[1].text: two prompts are named "a"`},
		{one + "  - name: b\n    text: \"x {reference}\"\n", `.yaml:5: prompts[1].text: prompts "a" and "b" have the same text`},
		{one + "    tekst: x\n", `.yaml:4: unknown field "tekst"`},
		{one + "    name: b\n", `.yaml:4: `},
		{"prompts: x\n", ".yaml:1: "},
		{"prompts:\n  - name: [a]\n", ".yaml:2: "},
		{"prompts:\n\t- name: a\n", ".yaml:2: "},
		{one + "---\n" + one, "more than one YAML document"},
		{"prompts:\n  - name: \xff\n", "not valid UTF-8"},
		{strings.Repeat("#", 1<<20+1), "the file is larger than 1048576 bytes"},
	} {
		_, err := diversify.ReadPrompts(writePrompts(t, c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60q: error %v; want one line with %q", c.text, err, c.want)
		}
	}
	_, err := diversify.ReadPrompts(t.TempDir())
	assert.True(t, err != nil && strings.HasSuffix(err.Error(), ": is a directory"), "a folder: error %v", err)
}

// Prompts that are read can be used: --prompts can express their names, and each contains a
// text of the segment.
func FuzzReadPrompts(f *testing.F) {
	f.Add("language: de\nprompts:\n  - name: b\n    text: |\n      {source}\n      {reference}\n  - name: c\n    text: '{reference}'\n")
	f.Add("prompts: [{name: &x a, text: '{reference}'}, {name: *x, text: '{reference}!'}]")
	f.Add("\ufeffprompts: {}\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		prompts, err := diversify.ReadPrompts(writePrompts(t, text))
		if err != nil {
			assert.NotContains(t, err.Error(), "\n", "an error of several lines: %v", err)
			return
		}
		require.NotEqual(t, 0, len(prompts), "no prompt and no error")
		for _, p := range prompts {
			if strings.ContainsAny(p.Name, ",*@: \n") || !strings.Contains(p.Render("\x00here\x00", ""), "\x00here\x00") {
				t.Errorf("%+v", p)
			}
		}
	})
}
