package publish_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/publish"
	"github.com/refract-eval/refract/internal/text"
)

var update = flag.Bool("update", false, "rewrite golden files")

// A random case writes a folder and waits for the disk: 25 of each are enough.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "25"); err != nil {
		panic(err)
	}
	m.Run()
}

func TestCardGolden(t *testing.T) {
	for _, format := range dataset.Formats() {
		o := options(format)
		o.Card = publish.Card{
			Name: "Sample, enriched", License: "cc-by-4.0", Languages: []string{"en"},
			Prompts: []publish.Prompt{{Name: "order", Text: "Change the order:"}, {Name: "unused", Text: "-"}},
		}
		dir := filepath.Join(t.TempDir(), "set")
		_, err := publish.Publish(t.Context(), sample(), dir, o)
		require.NoError(t, err)
		files := contents(t, dir)
		for _, name := range []string{"README.md", publish.CitationName, dataset.ManifestName} {
			golden := filepath.Join("testdata", format+"."+name)
			if name == publish.CitationName { // the same for all formats
				golden = filepath.Join("testdata", name)
			}
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(files[name]), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(string(want), files[name]), "%s (go test -update rewrites it)", golden)
		}
	}
}

func cardOf(t rapid.TB, parent string, set refract.InMemory, c publish.Card) string {
	dir := filepath.Join(parent, "set")
	_, err := publish.Publish(context.Background(), set, dir, publish.Options{Format: dataset.FormatParquet, Card: c})
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(dir, "README.md"))
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(dir))
	return string(b)
}

// The YAML contains any names correctly, and they add no key.
func TestCardYAML(t *testing.T) {
	parent := t.TempDir()
	hostile := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"---", "a: b", "- x", "\"", "'", "null", "~", "1e3", "yes", "no", "0x1f", "1:30", "{", "[", "#c", "&a", "*a", "!!str", "a\n---\nb: c", "%", "@", "`", "|", ">", " x ", "\u2028", "\\"}))
	rapid.Check(t, func(t *rapid.T) {
		c := publish.Card{Name: hostile.Draw(t, "name"), License: hostile.Draw(t, "license"), Languages: rapid.SliceOfN(hostile, 0, 2).Draw(t, "languages")}
		card := cardOf(t, parent, sample(), c)
		parts := strings.SplitN("\n"+card, "\n---\n", 3)
		require.True(t, len(parts) == 3 && parts[0] == "", "no front matter: %q", card)
		var got map[string]any
		if err := yaml.Unmarshal([]byte(parts[1]), &got); err != nil {
			t.Fatalf("%v\n%s", err, parts[1])
		}
		want := map[string]any{
			"license": "unknown", "task_categories": []any{"text-generation"}, "tags": []any{"evaluation", "multiple-references", "paraphrases", "refract"}, "size_categories": []any{"n<1K"},
			"configs": []any{map[string]any{"config_name": "default", "data_files": []any{map[string]any{"split": "test", "path": "data/test-00000-of-00001.parquet"}}}},
		}
		if c.Name != "" {
			want["pretty_name"] = text.Visible(c.Name)
		}
		if c.License != "" {
			want["license"] = text.Visible(c.License)
		}
		var languages []any
		for _, l := range c.Languages {
			languages = append(languages, text.Visible(l))
		}
		if languages != nil {
			want["language"] = languages
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%s\n%s", d, parts[1])
		}
	})
}

// Texts of models, servers and datasets stay plain text.
func TestCardEscapes(t *testing.T) {
	const bad = "<script>x</script>\n# Title\n| a |\n```\n[l](http://x)\x1b[2J\u202e"
	set := sample()
	v := &set[0].Variants[0]
	v.Prompt, v.Model, v.Finish, v.Verdict = bad, bad, bad, bad
	v.Audit, v.Review = refract.AuditSampled, refract.ReviewAccept
	v.Origin = &refract.Origin{ServedModel: bad, Revision: bad, Sampling: `{"a":"<b>|"}`, Cleaned: []string{bad}, Raw: v.Text}
	card := cardOf(t, t.TempDir(), set, publish.Card{
		Name: bad, License: bad, Prompts: []publish.Prompt{{Name: bad, Text: bad}},
	})
	fence := ""
	for line := range strings.Lines(card) {
		line = strings.TrimSuffix(line, "\n")
		assert.False(t, strings.ContainsAny(line, "\x1b\u202e"), "control characters: %q", line)
		if marks := len(line) - len(strings.TrimLeft(line, "`")); marks >= 3 {
			switch {
			case fence == "":
				fence = line[:marks]
			case marks >= len(fence):
				fence = ""
			}
			continue
		}
		if fence != "" || strings.HasPrefix(line, "pretty_name:") || strings.HasPrefix(line, "license:") {
			continue
		}
		for _, active := range []string{"<script", "](http", "<b>"} {
			for i := strings.Index(line, active); i >= 0; i = -1 {
				assert.True(t, i != 0 && line[i-1] == '\\', "%q is active in %q", active, line)
			}
		}
		assert.False(t, strings.HasPrefix(line, "# Title"), "a title: %q", line)
	}
	assert.Equal(t, "", fence, "a fence is open at the end")
}

// Beyond a limit, further names are counted together.
func TestManyNames(t *testing.T) {
	var set refract.InMemory
	for i := range 3000 {
		set = append(set, &refract.Segment{ID: fmt.Sprint(i), References: []refract.Text{{}}, Variants: []refract.Variant{{Prompt: fmt.Sprint("p", i)}}})
	}
	card := cardOf(t, t.TempDir(), set, publish.Card{})
	if !strings.Contains(card, "| (others) | 2,000 | 0 |") && !strings.Contains(card, `| \(others\) | 2,000 | 0 |`) {
		t.Error("the others are not counted")
	}
}
