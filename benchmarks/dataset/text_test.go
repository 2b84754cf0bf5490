package dataset

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
)

func TestLines(t *testing.T) {
	dir := folderOf(t, map[string]string{
		"s": "\ufeffa\r\n \r\n",
		"r": " x \u3000\u2028\t\n\n",
		"y": "1\v\f\x1f\n2\u0085z",
		"h": "\x00\n[No translation supplied]\n",
	})
	var w warnings
	at := func(name string) string { return filepath.Join(dir, name) }
	ds, err := OpenLines(LinesSpec{
		Source:     at("s"),
		References: []string{at("r"), at("y")},
		Hypotheses: []NamedFile{{"z", at("h")}, {"a", at("y")}},
	}, Options{Warn: w.add})
	require.NoError(t, err)
	got, err := collect(ds)
	require.NoError(t, err)
	text := refract.NewText
	want := []*refract.Segment{{
		ID: "1", Source: text("a"), References: []refract.Text{text(" x"), text("1")},
		Hypotheses: []refract.Hypothesis{{System: "z", Text: text("\x00")}, {System: "a", Text: text("1")}},
		Pos:        refract.Position{File: at("s"), Line: 1},
	}, {
		ID: "2", Source: text(""), References: []refract.Text{{}, text("2\u0085z")},
		Hypotheses: []refract.Hypothesis{{System: "z", Text: text(NoTranslation)}, {System: "a", Text: text("2\u0085z")}},
		Pos:        refract.Position{File: at("s"), Line: 2},
	}}
	assert.Empty(t, cmp.Diff(want, got))
	w.check(t, dir,
		"s:1: lines end in carriage return and newline; the carriage returns are removed",
		"s:1: the file begins with a byte order mark, which is removed",
		"r: blank lines: 1 of 2; there the segment has one reference fewer",
		"s: blank sources: 1 of 2; metrics that use them take them as empty texts, not as missing ones")
}

func TestLinesErrors(t *testing.T) {
	dir := folderOf(t, map[string]string{
		"empty": "", "one": "a\n", "two": "a\nb", "three": "a\nb\nc\n", "bad": "a\n\xff\n", "late": "a\nb\nc\n\xff",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	hyp := func(name string) []NamedFile { return []NamedFile{{"sys", at(name)}} }
	for _, c := range []struct {
		name string
		spec LinesSpec
		want string
	}{
		{"nothing", LinesSpec{}, "no source, reference or hypothesis file is given"},
		{"empty", LinesSpec{Source: at("empty")}, "empty: the dataset is empty: no line at all"},
		{"no source", LinesSpec{Source: at("none")}, "source: none: no such file or directory"},
		{"no reference", LinesSpec{References: []string{at("none")}}, "reference: none: no such file or directory"},
		{"no hypothesis", LinesSpec{Hypotheses: hyp("none")}, `system "sys": none: no such file or directory`},
		{"folder", LinesSpec{Source: dir}, `source: DIR: is a directory, not a file`},
		{"no name", LinesSpec{Hypotheses: []NamedFile{{"", at("one")}}}, `one: the hypothesis file has no system name`},
		{"name twice", LinesSpec{Hypotheses: []NamedFile{{"s", at("one")}, {"s", at("two")}}}, `two: system "s" has the file one already; give the systems different names`},
		{"unequal", LinesSpec{Source: at("two"), References: []string{at("two")}, Hypotheses: hyp("three")},
			"three: has 3 lines, but two has 2; line k of each file must belong to segment k"},
		{"unequal and empty", LinesSpec{Source: at("empty"), Hypotheses: hyp("one")},
			"one: has 1 line, but empty has 0; line k of each file must belong to segment k"},
		{"UTF-8", LinesSpec{References: []string{at("two")}, Hypotheses: hyp("bad")},
			"bad:2: invalid UTF-8 at byte 1 of the line; store the file as UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := openAndCollect(OpenLines(c.spec, Options{}))
			wantError(t, dir, err, c.want)
		})
	}
}

func TestFileChangesWhileOpen(t *testing.T) {
	dir := folderOf(t, small())
	ds, err := Open("mtme:"+dir+"/ts/de-en", Options{})
	require.NoError(t, err)
	path := filepath.Join(dir, "ts", "system-outputs", "de-en", "B.txt")
	require.NoError(t, os.WriteFile(path, []byte("1\n"), 0o666))
	_, err = collect(ds)
	wantError(t, dir, err, "ts/sources/de-en.txt: has 3 lines, but ts/system-outputs/de-en/B.txt has 1; line k of each file must belong to segment k")
}

func TestCoverageOfLateSystems(t *testing.T) {
	var w warnings
	ds, dir := openText(t, `{"id":"1","hypotheses":{"a":"x"}}
{"id":"2","hypotheses":{"a":"x"}}
{"id":"3","hypotheses":{"b":null,"a":"x"}}
{"id":"4","hypotheses":{"a":"x","b":"y"}}
{"id":"5","hypotheses":{"b":"x"}}
{"id":"6"}
`, Options{Warn: w.add})
	_, err := collect(ds)
	require.NoError(t, err)
	w.check(t, dir,
		`d.jsonl: system "a" has no text for 2 of 6 segments (ids "5", "6")`,
		`d.jsonl: system "b" has no text for 4 of 6 segments (ids "1", "2", "3", …)`)
}
