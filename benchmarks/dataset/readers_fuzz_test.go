package dataset

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/refract-eval/refract"
)

func seed(f *testing.F, files ...string) {
	f.Helper()
	for _, file := range files {
		b, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(file)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
}

// sound checks what holds for the segments of every reader: they can be
// written and read again, and no score is NaN or infinite.
func sound(t *testing.T, segments []*refract.Segment) {
	t.Helper()
	if len(segments) == 0 {
		return // an error where the dataset is opened
	}
	ids := map[string]bool{}
	for _, s := range segments {
		if s.ID == "" || ids[s.ID] {
			t.Fatalf("the id %q is empty or there twice", s.ID)
		}
		ids[s.ID] = true
		for _, j := range s.Judgements {
			if math.IsNaN(j.Score) || math.IsInf(j.Score, 0) || !j.Valid && j.Score != 0 {
				t.Fatalf("judgement %+v", j)
			}
		}
	}
	again, err := decode(encode(t, segments...))
	if err != nil {
		t.Fatal(err)
	}
	if len(again) != len(segments) {
		t.Fatalf("%d segments, %d when read again", len(segments), len(again))
	}
	for i, s := range again {
		if !slices.Equal(s.Hypotheses, segments[i].Hypotheses) && len(s.Hypotheses) > 0 || len(s.References) != len(segments[i].References) {
			t.Fatal(cmp.Diff(segments[i], s))
		}
	}
}

func fileOf(t testing.TB, text string) string {
	path := filepath.Join(t.TempDir(), "f")
	writeFile(t, path, []byte(text))
	return path
}

// No row is lost: there are as many summaries as lines.
func FuzzSummEval(f *testing.F) {
	seed(f, "summeval.jsonl")
	f.Add(`{"id":1,"model_id":2,"decoded":"","expert_annotations":[{"a":1e308},{"a":1e308}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		segments, err := readSummEval(fileOf(t, text), func(Warning) {})
		if err != nil {
			return
		}
		n := 0
		for _, s := range segments {
			n += len(s.Hypotheses)
		}
		if lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1; text != "" && n != lines {
			t.Fatalf("%d summaries on %d lines", n, lines)
		}
		sound(t, segments)
	})
}

// A line of an mt-metrics-eval folder has one text, or an error.
func FuzzMTMEField(f *testing.F) {
	f.Add(`{"source":"a","x":{"source":[null]}}`)
	f.Add(`{"source":null}`)
	f.Fuzz(func(t *testing.T, line string) {
		if !utf8.ValidString(line) {
			return
		}
		got, err := fieldOf([]byte(line), refract.Position{File: "f", Line: 1}, "source")
		if err != nil {
			return
		}
		var std map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &std); err != nil {
			t.Fatalf("accepted, but encoding/json says %v", err)
		}
		var want refract.Text
		if err := json.Unmarshal(std["source"], &want); err != nil || want != got {
			t.Fatalf("%+v, encoding/json has %+v, %v", got, want, err)
		}
	})
}

// Whatever the options: the sample has four segments, or there is an error.
func FuzzTableOptions(f *testing.F) {
	for _, s := range []string{"source=mt", "id=id,source=translation.zh,references=refs,references=answers.lex,system:a=mt", "references=nested", "domain=score", "id=answers.n", ",", "source==", "x", "system:a=mt,human:q=score", "human:=score"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, options string) {
		all, err := openAndCollect(Open("table:testdata/table.parquet,"+options, Options{}))
		if err != nil {
			return
		}
		if len(all) != 4 && !strings.Contains(options, "group=") {
			t.Fatalf("%d segments", len(all))
		}
		sound(t, all)
	})
}

// No row is lost, and no score of a table is NaN.
func FuzzTableText(f *testing.F) {
	f.Add("a,b,c\n1,x,2\n2,\"y\n\",NaN\n", ".csv")
	f.Add("a;b;c\n1;['x', None];2\n", ".csv")
	f.Add(`{"a":1,"b":["x",null],"c":1.5}`, ".jsonl")
	f.Fuzz(func(t *testing.T, text, ext string) {
		if ext != ".csv" && ext != ".tsv" && ext != ".jsonl" {
			return
		}
		path := filepath.Join(t.TempDir(), "f"+ext)
		writeFile(t, path, []byte(text))
		all, err := openAndCollect(Open("table:"+path+",id=a,references=b,system:s=a,human:q=c", Options{}))
		if err == nil && len(all) == 0 {
			t.Fatal("no segment and no error")
		}
		if err == nil {
			sound(t, all)
		}
	})
}

// A damaged file is an error or other values, but no panic.
func FuzzTableParquet(f *testing.F) {
	b, err := os.ReadFile(filepath.Join("testdata", "table.parquet"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(0, byte(0))
	f.Add(len(b)-20, byte(0xff))
	f.Fuzz(func(t *testing.T, at int, with byte) {
		damaged := slices.Clone(b)
		damaged[(at%len(b)+len(b))%len(b)] ^= with
		path := filepath.Join(t.TempDir(), "f.parquet")
		writeFile(t, path, damaged)
		all, err := openAndCollect(Open("table:"+path+",source=mt,references=refs", Options{}))
		if err == nil && len(all) == 0 {
			t.Fatal("no segment and no error")
		}
	})
}
