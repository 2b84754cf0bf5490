package dataset

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
)

const base = `{"id":"a","references":["r0","r1"],"variants":[{"text":"v"}]}
{"id":"b","references":["s0"]}
`

func extendWith(t *testing.T, base, scheme, text string, w *warnings) (refract.Dataset, string, error) {
	t.Helper()
	dir := folderOf(t, map[string]string{"base": base, "refs": text})
	ds, err := Open("jsonl:"+filepath.Join(dir, "base"), Options{})
	require.NoError(t, err)
	o := Options{}
	if w != nil {
		o.Warn = w.add
	}
	ds, err = WithReferences(ds, scheme+":"+filepath.Join(dir, "refs"), o)
	return ds, dir, err
}

func TestWithReferences(t *testing.T) {
	text := refract.NewText
	old := refract.Variant{Text: text("v")}
	for _, c := range []struct {
		name, scheme, text string
		want               [][]refract.Variant
		warnings           []string
	}{
		{"div-ref", "div-ref", "['x', \"y'\", None]\n[]\n", [][]refract.Variant{
			{old, {Prompt: "column1", Text: text("x")}, {Prompt: "column2", Text: text("y'")}, {Prompt: "column3"}}, nil}, nil},
		{"variants", "jsonl",
			`{"id":"a","references":["r0","r1"],"variants":[{"reference":1,"prompt":"p","text":"x"}]}` + "\n" + `{"id":"b","variants":[{"text":null,"sample":2}]}`,
			[][]refract.Variant{{old, {Reference: 1, Prompt: "p", Text: text("x")}}, {{Sample: 2}}}, nil},
		{"references", "jsonl", `{"id":"a","references":["x",null]}` + "\n" + `{"id":"b","references":[]}`,
			[][]refract.Variant{{old, {Text: text("x")}, {}}, nil}, nil},
		{"no variants", "jsonl", `{"id":"a","references":["x"],"variants":[]}` + "\n" + `{"id":"b"}` + "\n\n",
			[][]refract.Variant{{old}, nil}, nil},
		{"other references", "jsonl", `{"id":"a","references":["r0","other"],"variants":[{"reference":0,"text":"x"}]}` + "\n" +
			`{"id":"b","references":["other"],"variants":[{"text":"x"}]}`,
			[][]refract.Variant{{old, {Text: text("x")}}, {{Text: text("x")}}},
			[]string{`refs: the variants of 1 row were made from other references than the dataset's (ids "b")`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w warnings
			ds, dir, err := extendWith(t, base, c.scheme, c.text, &w)
			require.NoError(t, err)
			for range 2 {
				got, err := collect(ds)
				require.NoError(t, err)
				var variants [][]refract.Variant
				for _, s := range got {
					variants = append(variants, s.Variants)
				}
				assert.Empty(t, cmp.Diff(c.want, variants))
				assert.Len(t, got[0].References, 2, "references")
			}
			w.check(t, dir, c.warnings...)
		})
	}
}

func TestWithReferencesErrors(t *testing.T) {
	for _, c := range []struct{ name, scheme, base, text, want string }{
		{"scheme", "divref", base, "", `references "divref:refs" has the unknown format "divref" (did you mean "div-ref"?); write div-ref:FILE, div-ref-lines:FILE, jsonl:FILE, parquet:FILE or published:DIR`},
		{"few lines", "div-ref", base, "[]\n", `refs: has 1 line, but the dataset has 2 segments; the first without one is "b" (base:2)`},
		{"no lines", "div-ref", base, "", `refs: has 0 lines, but the dataset has 2 segments; the first without one is "a" (base:1)`},
		{"many lines", "div-ref", base, "[]\n[]\n\n[]\n", `refs: has 4 lines, but the dataset has 2 segments; line k must belong to segment k`},
		{"transposed", "div-ref", base, "['1','2']\n['1','2']\n['1','2']\n",
			`refs: has 3 lines, but the dataset has 2 segments; line k must belong to segment k`},
		{"no list", "div-ref", base, "[]\nhello\n", `refs:2:1: bad Python list: 'h' where a list in [brackets] should be`},
		{"no original", "div-ref", `{"id":"a"}`, "['x']", `refs:1: segment "a" (base:1) has no reference of which these could be variants`},
		{"UTF-8", "div-ref", base, "['\xff']\n[]\n", `refs:1: invalid UTF-8 at byte 3 of the line; store the file as UTF-8`},
		{"base", "div-ref", `{"id":""}`, "[]\n", `base:1: the segment has no id; each segment needs a unique, non-empty id`},

		{"few rows", "jsonl", base, `{"id":"a"}` + "\n\n", `refs: has 1 line, but the dataset has 2 segments; the first without one is "b" (base:2)`},
		{"many rows", "jsonl", base, "{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":\"c\"}", `refs: has 3 lines, but the dataset has 2 segments; line k must belong to segment k`},
		{"order", "jsonl", base, "{\"id\":\"b\"}\n{\"id\":\"a\"}\n",
			`refs:1: want the row of segment "a" (base:1), found the row of "b"; the rows must be in the dataset's order, one per segment`},
		{"row twice", "jsonl", base, "{\"id\":\"a\"}\n{\"id\":\"a\"}\n", `refs:2: want the row of segment "b" (base:2), found the row of "a"; the rows must be in the dataset's order, one per segment`},
		{"range", "jsonl", base, `{"id":"a","references":["1","2","3"],"variants":[{"reference":2,"text":"x"}]}`,
			`refs:1: segment "a": variants[0] is of reference 2, but the segment has 2 references (the first is 0)`},
		{"bad row", "jsonl", base, `{"id":"a"`, `refs:1:10: bad JSON: it ends before its value does`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ds, dir, err := extendWith(t, c.base, c.scheme, c.text, nil)
			_, err = openAndCollect(ds, err)
			wantError(t, dir, err, c.want)
		})
	}
	ds, _ := openText(t, base, Options{})
	_, err := WithReferences(ds, "jsonl:-", Options{})
	wantError(t, "DIR", err, "references cannot come from standard input; store them in a file")
	dir := t.TempDir()
	_, err = WithReferences(ds, "div-ref:"+filepath.Join(dir, "none"), Options{})
	wantError(t, dir, err, "none: no such file or directory")
}

func TestPythonList(t *testing.T) {
	text := refract.NewText
	for _, c := range []struct {
		line string
		want []refract.Text
	}{
		{`[]`, nil},
		{" [ 'a' ,\t\"b\" , ] ", []refract.Text{text("a"), text("b")}},
		{`['', None, ""]`, []refract.Text{text(""), {}, text("")}},
		{`['it"s', "it's", 'it\'s', "\"", '\'']`, []refract.Text{text(`it"s`), text("it's"), text("it's"), text(`"`), text("'")}},
		{`['\\\a\b\f\n\r\t\v\"']`, []refract.Text{text("\\\a\b\f\n\r\t\v\"")}},
		{`['\x41\u00e9\U0001f600\x00\1234\377']`, []refract.Text{text("Aé😀\x00S4ÿ")}},
		{`['a, b]', 'é\\']`, []refract.Text{text("a, b]"), text(`é\`)}},
	} {
		got, err := parsePythonList(c.line, refract.Position{})
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
		} else if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.line, d)
		}
	}
}

func TestPythonListErrors(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{``, `f:1:1: bad Python list: the line ends where a list in [brackets] should be`},
		{`('a',)`, `f:1:1: bad Python list: '(' where a list in [brackets] should be`},
		{`['a'`, `f:1:5: bad Python list: the line ends where ',' or ']' should be`},
		{`['a' 'b']`, `f:1:6: bad Python list: '\'' where ',' or ']' should be`},
		{`['''a''']`, `f:1:4: bad Python list: '\'' where ',' or ']' should be`},
		{`[,]`, `f:1:2: bad Python list: ',' where a string in quotes or None should be`},
		{`['a',,]`, `f:1:6: bad Python list: ',' where a string in quotes or None should be`},
		{`[1]`, `f:1:2: bad Python list: '1' where a string in quotes or None should be`},
		{`[['a']]`, `f:1:2: bad Python list: '[' where a string in quotes or None should be`},
		{`[b'a']`, `f:1:2: bad Python list: 'b' where a string in quotes or None should be`},
		{`[Nonesuch]`, `f:1:6: bad Python list: 's' where ',' or ']' should be`},
		{`[`, `f:1:2: bad Python list: the line ends where a string in quotes or None should be`},
		{`['a'] x`, `f:1:7: bad Python list: 'x' where the end of the line should be`},
		{`['abc`, `f:1:2: bad Python list: the string is not closed`},
		{`['abc"]`, `f:1:2: bad Python list: the string is not closed`},
		{`['abc\']`, `f:1:2: bad Python list: the string is not closed`},
		{`['abc\`, `f:1:6: bad Python list: the escape is unknown, cut off or no valid character; write a backslash as \\`},
		{`['\d']`, `f:1:3: bad Python list: the escape is unknown, cut off or no valid character; write a backslash as \\`},
		{`['\x4']`, `f:1:3: bad Python list: the escape is unknown, cut off or no valid character; write a backslash as \\`},
		{`['\U00110000']`, `f:1:3: bad Python list: the escape is unknown, cut off or no valid character; write a backslash as \\`},
		{`['\ud83d\ude00']`, `f:1:3: bad Python list: the escape is unknown, cut off or no valid character; write a backslash as \\`},
		{`['\400']`, `f:1:3: bad Python list: the escape is unknown, cut off or no valid character; write a backslash as \\`},
	} {
		got, err := parsePythonList(c.line, refract.Position{File: "f", Line: 1})
		wantError(t, "DIR", err, c.want)
		assert.Nil(t, got, "%s: both an error and %v", c.line, got)
	}
}
