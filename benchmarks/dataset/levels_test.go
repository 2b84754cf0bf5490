package dataset

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
)

// The newer test sets have JSON Lines instead of text files; a folder may have both.
func TestMTMEJSONLines(t *testing.T) {
	dir := folderOf(t, changed(map[string]string{
		"ts/sources/de-en.txt":          "",
		"ts/sources/de-en.jsonl":        `{"source": " eins\nzwei ", "doc_id": {"a": [1]}}` + "\n" + `{"source":"zwei"}` + "\n" + `{"source":"drei"}`,
		"ts/references/de-en.refA.txt":  "",
		"ts/system-outputs/de-en/B.txt": "",
		"ts/references/de-en.refA.jsonl": `{"target":"one"}` + "\n" + `{"target":null}` + "\n" +
			`{"target":"[No translation supplied]"}` + "\n",
		"ts/system-outputs/de-en/B.jsonl": `{"hypothesis":"\u00e9"}` + "\n" + `{"hypothesis":""}` + "\n" + `{"x":1,"hypothesis":"c"}` + "\n",
	}))
	spec := "mtme:" + dir + "/ts/de-en"
	ds, err := Open(spec, Options{References: []string{"refA", "refB"}})
	require.NoError(t, err)
	got, err := collect(ds)
	require.NoError(t, err)
	text := refract.NewText
	want := [][]refract.Text{
		{text(" eins\nzwei "), text("one"), text("1"), text("é"), text("one"), text("1")},
		{text("zwei"), {}, {}, text(""), text("two"), {}},
		{text("drei"), {}, text("3"), text("c"), text("three"), text("3")},
	}
	for i, s := range got {
		texts := append([]refract.Text{s.Source}, s.References...)
		for _, h := range s.Hypotheses {
			texts = append(texts, h.Text)
		}
		assert.Empty(t, cmp.Diff(want[i], texts), "segment %d", i+1)
	}
	// The variants of equal first references are found in a separate pass.
	lists := filepath.Join(folderOf(t, map[string]string{"l": "['a']\n['b']\n['c']\n"}), "l")
	ds, err = WithReferences(ds, "div-ref:"+lists, Options{})
	require.NoError(t, err)
	got, err = collect(ds)
	assert.True(t, err == nil && got[0].Variants[0].Text == text("a"), "%v, %v", got, err)
}

func TestMTMEJSONLinesErrors(t *testing.T) {
	const b = "ts/system-outputs/de-en/b.jsonl"
	for _, c := range []struct{ name, file, text, want string }{
		{"both", "ts/references/de-en.refA.jsonl", "{}\n", `ts/references/de-en.refA.jsonl: ts/references/de-en.refA.txt holds the same texts; remove one of the two`},
		{"field", b, "{\"hypothesis\":\"a\"}\n{\"target\":\"b\"}\n{}\n", b + `:2: the object has no field "hypothesis", which holds the text; write null for a missing one`},
		{"kind", b, "{\"hypothesis\":1}\n\n\n", b + `:1: field hypothesis must be a string or null`},
		{"twice", b, "{\"hypothesis\":\"a\",\"hypothesis\":\"a\"}\n\n\n", b + `:1:19: field "hypothesis" is there twice`},
		{"blank", b, "\n\n\n", b + `:1:1: bad JSON: it ends before its value does`},
		{"short", b, "{\"hypothesis\":\"a\"}\n", b + `: has 1 line, but ts/sources/de-en.txt has 3; line k of each file must belong to segment k`},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := changed(map[string]string{c.file: c.text})
			if c.file == b {
				delete(files, "ts/system-outputs/de-en/b.txt")
				delete(files, "ts/human-scores/de-en.mqm.seg.score")
			}
			dir := folderOf(t, files)
			_, err := openAndCollect(Open("mtme:"+dir+"/ts/de-en", Options{}))
			wantError(t, dir, err, c.want)
		})
	}
	dir := folderOf(t, map[string]string{"ts/sources/fr-en.jsonl": "{}\n", "ts/sources/de-en.txt": "a\n"})
	_, err := Open("mtme:"+dir+"/ts/fr-em", Options{})
	wantError(t, dir, err, `ts: has no language pair "fr-em" (did you mean "fr-en"?); it has "de-en", "fr-en"`)
}

// By default, the reference is the shared task's.
func TestStandardReference(t *testing.T) {
	for _, c := range []struct{ set, lp, want string }{
		{"wmt22", "zh-en", "refA"}, {"wmt22", "cs-en", "refB"}, {"wmt24", "en-de", "refB"}, {"wmt24", "en-es", "refA"},
		{"wmt20", "en-de", "ref"}, {"wmt21.news", "en-de", "refC"}, {"wmt21.tedtalks", "zh-en", "refB"},
		{"wmt23", "he-en", "refB"}, {"wmt24pp", "en-sw_KE", "posteditA"}, {"wmt24pp", "en-de_DE", "posteditB"}, {"mine", "a-b", "refA"},
	} {
		files := map[string]string{c.set + "/sources/" + c.lp + ".txt": "s\n"}
		for _, r := range []string{"ref", "refA", "refB", "refC", "posteditA", "posteditB"} {
			files[c.set+"/references/"+c.lp+"."+r+".txt"] = r + "\n"
		}
		got, err := openAndCollect(Open("mtme:"+folderOf(t, files)+"/"+c.set+"/"+c.lp, Options{}))
		require.NoError(t, err)
		assert.Equal(t, c.want, got[0].References[0].Value, "%s %s", c.set, c.lp)
	}
}
