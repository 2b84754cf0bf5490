package dataset

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/files"
)

func pack(t *testing.T, name, text string) string {
	t.Helper()
	var out bytes.Buffer
	w, err := files.NewWriter(&out, name)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	err = errors.Join(err, w.Close())
	require.NoError(t, err)
	return out.String()
}

// Compressed files are read like their content, with its line numbers, whatever their
// names.
func TestPackedFiles(t *testing.T) {
	dir := folderOf(t, map[string]string{
		"src.gz": pack(t, ".gz", "s1\ns2\n"), "ref.txt": pack(t, ".zst", "r1\nr2\n"), "hyp.zst": pack(t, ".zst", "h1\nh2"),
		"short.gz": pack(t, ".gz", "h1\n"), "bad.gz": pack(t, ".gz", "h1\n\xff\n"), "cut.gz": pack(t, ".gz", "h1\nh2\n")[:15],
		"d.jsonl.gz": pack(t, ".gz", `{"id":"1"}`+"\n"+`{"id":"2","x":1}`),
		"s.TSV.gz":   pack(t, ".gz", "id\tsystem\tscore\n1\th\t0.5\n"),
	})
	in := func(name string) string { return dir + "/" + name }
	open := func(hyp string) ([]*refract.Segment, error) {
		return openAndCollect(OpenLines(LinesSpec{Source: in("src.gz"), References: []string{in("ref.txt")}, Hypotheses: []NamedFile{{"h", in(hyp)}}}, Options{}))
	}
	segments, err := open("hyp.zst")
	if err != nil || len(segments) != 2 || segments[1].Source.Value != "s2" || segments[1].References[0].Value != "r2" || segments[1].Hypotheses[0].Text.Value != "h2" {
		t.Errorf("%v, %v", segments, err)
	}
	for hyp, want := range map[string]string{"short.gz": "has 1 line", "bad.gz": "bad.gz:2: invalid UTF-8", "cut.gz": "packed with gzip, and cut off or damaged"} {
		if _, err := open(hyp); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), in(hyp)) {
			t.Errorf("%s: %v", hyp, err)
		}
	}
	_, err = openAndCollect(Open(in("d.jsonl.gz"), Options{}))
	assert.ErrorContains(t, err, `d.jsonl.gz:2:11: unknown field "x"`)
	scores, _, err := ReadScores(in("s.TSV.gz"), segments, func(Warning) {})
	assert.True(t, err == nil && scores[0][0] == (Score{0.5, true}), "%v, %v", scores, err)
}

// A name that shows its format needs no prefix.
func TestNameTellsFormat(t *testing.T) {
	dir := folderOf(t, map[string]string{"a.jsonl": `{"id":"1"}`, "b.JSONL.GZ": `{"id":"1"}`, "set/manifest.json": "{}", "plain/x": "", "a.txt": ""})
	for name, want := range map[string]string{
		"a.jsonl": "", "b.JSONL.GZ": "", "set": "manifest.json: bad manifest", "plain": "does not say its format", "a.txt": "does not say its format",
		"none": "none: no such file", "none.jsonl": "none.jsonl: no such file", "none.parquet": "none.parquet: no such file",
	} {
		_, err := openAndCollect(Open(dir+"/"+name, Options{}))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	assert.Equal(t, "a.jsonl", NameOf("folder/a.jsonl"), "a.jsonl is called")
}
