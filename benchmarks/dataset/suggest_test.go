package dataset

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
)

func TestSuggestTable(t *testing.T) {
	for columns, want := range map[string]string{
		"idx src reference mt":                                   "table:f.csv,id=idx,source=src,reference=reference,system:mt=mt",
		"Unnamed:_0 Source Ref_1 Ref_2 Model Output":             "table:f.csv,group=Source,source=Source,reference=Ref_1,reference=Ref_2,system=Model,output=Output",
		"question answers prediction rating":                     "table:f.csv,source=question,references=answers,system:prediction=prediction,human:rating=rating",
		"article summary":                                        "table:f.csv,source=article,reference=COLUMN,system:NAME=COLUMN",
		"src tgt translation.zh x.ref hyp,1":                     `table:f.csv,source=src,reference=tgt,reference=x.ref,system:hyp="hyp,1"`,
		"id source references document hypotheses.x human.mqm.x": "table:f.csv,id=id,source=source,references=references,document=document,system:x=hypotheses.x,human:mqm:x=human.mqm.x",
		"__index_level_0__ references system a,b hyp":            "table:f.csv,id=__index_level_0__,references=references,system=system,output=hyp",
	} {
		assert.Equal(t, "'"+want+"'", suggestTable("f.csv", strings.Fields(columns)), "%s", columns)
	}
}

// What spreadsheets leave in cells is no text, and what they write into files is read.
func TestSpreadsheets(t *testing.T) {
	for data, want := range map[string]string{
		"sep=;\r\nid;ref;mt;q\r\na;R;M;0,85\r\n":  `{"id":"a","references":["R"],"hypotheses":{"m":"M"},"human":{"q":{"m":0.85}}}`,
		"\ufeffid,ref,mt,q\r\na,R,M,\"-1,5\"\r\n": `{"id":"a","references":["R"],"hypotheses":{"m":"M"},"human":{"q":{"m":-1.5}}}`,
		"id,ref,mt,q\na,R,M,\"1,234\"\n":          `f.csv:2: column "q" is "1,234", which may be a number with a decimal comma or thousands; write it with a point`,
		"sep=;\nid;ref;mt;q\na;R;#REF!;1\n":       `f.csv:3: column "mt" has #REF!, which a spreadsheet leaves`,
		"id,ref,mt,q\na,R_x000D_,M,1\n":           `f.csv:2: column "ref" has _x000D_, which`,
		"id,ref,mt,q\na,#WERT! is an error,M,1\n": `{"id":"a","references":["#WERT! is an error"],`,
	} {
		dir := folderOf(t, map[string]string{"f.csv": data})
		var w warnings
		ds, err := Open("table:"+dir+"/f.csv,id=id,reference=ref,system:m=mt,human:q=q", Options{Warn: w.add})
		var got []*refract.Segment
		if err == nil {
			got, err = collect(ds)
		}
		shown := ""
		if err != nil {
			shown = strings.ReplaceAll(err.Error(), dir+"/", "")
		} else {
			shown = encode(t, got[0])
		}
		assert.True(t, strings.HasPrefix(shown, want), "%q: %s, want %s", data, shown, want)
		w.check(t, dir)
	}
}

// A line without an end is refused before it fills the memory.
func TestEndlessLine(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("a\n"), endlessly('x'))
	for _, json := range []bool{false, true} {
		l := newLineReader(&input{name: "f.txt", json: json}, endless, func(Warning) {})
		var err error
		for err == nil {
			_, err = l.next()
		}
		assert.ErrorContains(t, err, "the line has more than 32 MiB")
	}
}

// endlessly reads as one character for ever.
type endlessly byte

// Read implements io.Reader.
func (e endlessly) Read(p []byte) (int, error) {
	copy(p, bytes.Repeat([]byte{byte(e)}, len(p)))
	return len(p), nil
}

// An id is recognised in the form that tables show.
func TestIDWithDirectionCharacters(t *testing.T) {
	dir := folderOf(t, map[string]string{"s.csv": "id,system,score\na\\u202eb,x,1\n"})
	t.Chdir(dir)
	segments := []*refract.Segment{{ID: "a\u202eb", Hypotheses: []refract.Hypothesis{{System: "x"}}}}
	got, _, err := ReadScores("s.csv", segments, func(Warning) {})
	assert.True(t, err == nil && got[0][0] == (Score{1, true}), "%v, %v", got, err)
}

func TestLanguages(t *testing.T) {
	for s, want := range map[string]string{
		"de": " de", "en-de": "en de", "zh-TW": " zh", "zh_TW": " zh", "zh-Hant": " zh", "ja-JP": " ja", "en-zh_TW": "en zh",
		"zho": " zh", "cmn": " zh", "jpn": " ja", "chi": " zh", "yue": " yue", "eng-zho": "en zh",
		"xx": "", "english": "", "12": "", "klingon-zh": "",
	} {
		source, target, err := Languages(s)
		if got := source + " " + target; (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%q: %q, %v; want %q", s, got, err, want)
		}
	}
}

func TestUTF16(t *testing.T) {
	for text, is := range map[string]bool{
		"\xff\xfea\x00\n\x00": true, "\xfe\xff\x00a\x00\n": true, "a\x00b\x00 \x00c\x00\n\x00": true, "\x00a\x00b\x00 \x00c\x00\n": true,
		"\x00\n": false, "a\x00\n": false, "\ufeffab\n": false,
	} {
		dir := folderOf(t, map[string]string{"r.txt": text})
		t.Chdir(dir)
		_, err := openAndCollect(OpenLines(LinesSpec{References: []string{"r.txt"}}, Options{}))
		said := err != nil && strings.Contains(err.Error(), "r.txt: the file is UTF-16; store it as UTF-8")
		assert.Equal(t, is, said, "%q: %v", text, err)
	}
}

func TestOneFileTwice(t *testing.T) {
	dir := folderOf(t, map[string]string{"r.txt": "a\n", "h.txt": "b\n"})
	t.Chdir(dir)
	var said []string
	ds, err := OpenLines(LinesSpec{References: []string{"r.txt", "r.txt"}, Hypotheses: []NamedFile{{"h", "h.txt"}}}, Options{Warn: func(w Warning) { said = append(said, w.String()) }})
	require.NoError(t, err)
	for s, err := range ds.Segments(context.Background()) {
		assert.True(t, err == nil && len(s.References) == 2, "%v %v", s, err)
	}
	assert.Equal(t, "r.txt: the file is given twice and counts as two equal references", strings.Join(said, ""), "said %q", said)
}
