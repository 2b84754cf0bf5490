package dataset

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
)

func TestWithHypotheses(t *testing.T) {
	dir := folderOf(t, map[string]string{
		"d.jsonl": `{"id":"1","references":["r"],"hypotheses":{"old":"x"}}` + "\n" + `{"id":"2","references":["s"]}` + "\n",
		"a.txt":   "one \n\n", "b.txt": "three\nfour", "short.txt": "one\n", "long.txt": "1\n2\n3\n", "ref.txt": "r\ns\n",
	})
	path := func(name string) string { return filepath.Join(dir, name) }
	open := func(t *testing.T, files ...NamedFile) ([]*refract.Segment, error) {
		t.Helper()
		ds, err := Open("jsonl:"+path("d.jsonl"), Options{})
		require.NoError(t, err)
		return openAndCollect(WithHypotheses(ds, files, Options{}))
	}
	got, err := open(t, NamedFile{"a", path("a.txt")}, NamedFile{"b", path("b.txt")})
	require.NoError(t, err)
	var texts []string
	for _, s := range got {
		for _, h := range s.Hypotheses {
			texts = append(texts, h.System+"="+h.Text.Value)
		}
	}
	assert.Equal(t, "old=x,a=one,b=three,a=,b=four", strings.Join(texts, ","), "hypotheses")
	for _, c := range []struct {
		files []NamedFile
		want  string
	}{
		{[]NamedFile{{"a", path("short.txt")}}, `short.txt: has 1 line, but the dataset has 2 segments; the first without one is "2" (d.jsonl:2)`},
		{[]NamedFile{{"a", path("long.txt")}}, `long.txt: has 3 lines, but the dataset has 2 segments; line k must belong to segment k`},
		{[]NamedFile{{"old", path("a.txt")}}, `a.txt:1: segment "1" (d.jsonl:1) has a text of the system "old" already; give the file another name`},
		{[]NamedFile{{"a", path("a.txt")}, {"a", path("b.txt")}}, `b.txt: system "a" has the file a.txt already; give the systems different names`},
		{[]NamedFile{{"", path("a.txt")}}, `a.txt: the hypothesis file has no system name`},
		{[]NamedFile{{"a", path("none.txt")}}, `system "a": none.txt: no such file or directory`},
	} {
		_, err := open(t, c.files...)
		wantError(t, dir, err, c.want)
	}
	// If the number of segments is known, it is compared at once.
	ds, err := OpenLines(LinesSpec{References: []string{path("ref.txt")}}, Options{})
	require.NoError(t, err)
	_, err = WithHypotheses(ds, []NamedFile{{"a", path("short.txt")}}, Options{})
	wantError(t, dir, err, `short.txt: has 1 line, but the dataset has 2 segments; line k must belong to segment k`)
}

func TestRereadable(t *testing.T) {
	dir := folderOf(t, map[string]string{"d.jsonl": `{"id":"1","references":["r"]}` + "\n", "a.txt": "one\n"})
	file, err := Open("jsonl:"+filepath.Join(dir, "d.jsonl"), Options{})
	require.NoError(t, err)
	stream, err := Open("jsonl:-", Options{Stdin: strings.NewReader("")})
	require.NoError(t, err)
	lines, err := OpenLines(LinesSpec{References: []string{filepath.Join(dir, "a.txt")}}, Options{})
	require.NoError(t, err)
	files := []NamedFile{{"a", filepath.Join(dir, "a.txt")}}
	withFile, err := WithHypotheses(file, files, Options{})
	require.NoError(t, err)
	withStream, err := WithHypotheses(stream, files, Options{})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		ds   refract.Dataset
		want bool
	}{
		"file": {file, true}, "stream": {stream, false}, "lines": {lines, true}, "file and file": {withFile, true},
		"stream and file": {withStream, false}, "another": {struct{ refract.Dataset }{file}, false},
		"chosen": {Chosen(file, Choice{Systems: []string{"a"}}), true}, "of a stream": {Chosen(stream, Choice{Systems: []string{"a"}}), false},
	} {
		assert.Equal(t, c.want, Rereadable(c.ds), name)
	}
}
