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

func lineReaderOf(text string) *lineReader {
	return newLineReader("f", strings.NewReader(text), func(Warning) {})
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

func FuzzPreferences(f *testing.F) {
	seed(f, "preferences.jsonl")
	f.Fuzz(func(t *testing.T, text string) {
		err := lineReaderOf(text).each(func(line []byte, pos refract.Position) error {
			s, err := parsePreference(line, pos)
			if err != nil {
				if s != nil {
					t.Fatalf("both %v and %v", err, s)
				}
				return err
			}
			if len(s.Hypotheses) != 2 || len(s.Judgements) != 2 || s.Judgements[0].Valid != s.Judgements[1].Valid {
				t.Fatalf("%+v", s)
			}
			sound(t, []*refract.Segment{s})
			return nil
		})
		if err != nil && text == "" {
			t.Fatal(err)
		}
	})
}

// No rating is lost: each row of the set is in one segment.
func FuzzBAGEL(f *testing.F) {
	seed(f, "bagel.csv")
	f.Add("mr,system,sys_ref\na,b,c\na,b,c\n")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := parseTable("f.csv", []byte(text), func(Warning) {})
		if err != nil {
			return
		}
		b := bagel{table: table, set: "BAGEL", references: map[string][]refract.Text{}}
		segments, err := b.read(func(Warning) {})
		if err != nil {
			return
		}
		systems := 0
		for _, s := range segments {
			systems += len(s.Hypotheses)
			for i, h := range s.Hypotheses {
				if slices.ContainsFunc(s.Hypotheses[:i], func(o refract.Hypothesis) bool { return o.System == h.System }) {
					t.Fatalf("system %q is there twice", h.System)
				}
			}
		}
		if systems > len(table.rows) {
			t.Fatalf("%d outputs from %d rows", systems, len(table.rows))
		}
		sound(t, segments)
	})
}

func FuzzCommonGen(f *testing.F) {
	seed(f, "commongen.dev.jsonl", "commongen.eval.jsonl", "commongen.txt")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "f")
		writeFile(t, path, []byte(text))
		lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
		rows, err := readConcepts(path, func(Warning) {})
		if err == nil && text != "" {
			if len(rows) != lines {
				t.Fatalf("%d segments from %d lines", len(rows), lines)
			}
			sound(t, rows)
		}
		pairs, err := readRankedPairs(path, nil, func(Warning) {})
		if err == nil && text != "" {
			if 2*len(pairs) != lines {
				t.Fatalf("%d pairs from %d lines", len(pairs), lines)
			}
			sound(t, pairs)
		}
	})
}

func FuzzWebNLGReferences(f *testing.F) {
	seed(f, "webnlg2020/evaluation/references/references-en.json", "webnlg2020/references.xml")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // refused before
		}
		if segments, err := parseWebNLGXML("f", []byte(text), "en"); err == nil {
			sound(t, segments)
		}
		path := filepath.Join(t.TempDir(), "f")
		writeFile(t, path, []byte(text))
		segments, err := (&webnlg2020{language: "en"}).readEntries(path, func(Warning) {})
		if err != nil {
			return
		}
		if !json.Valid([]byte(strings.TrimPrefix(text, "\ufeff"))) {
			t.Fatal("accepted, but encoding/json does not")
		}
		sound(t, segments)
	})
}

func FuzzWebNLGScores(f *testing.F) {
	seed(f, "webnlg2020/evaluation/human-evaluation/results/en/bt5/primary.json")
	f.Fuzz(func(t *testing.T, text string) {
		var a average
		if err := scanFile(fileOf(t, text), func(Warning) {}, func(r reader) error {
			return r.Members("segment", func([]byte) error {
				return r.Members("rater", func([]byte) error { return r.aspects(&a, "feedback") })
			})
		}); err != nil {
			return
		}
		for _, j := range a.judgements(nil, "", "s", mean) {
			if math.IsNaN(j.Score) {
				t.Fatalf("%+v", j)
			}
		}
		if utf8.ValidString(text) && !json.Valid([]byte(strings.TrimPrefix(text, "\ufeff"))) {
			t.Fatal("accepted, but encoding/json does not")
		}
	})
}

func FuzzWebNLG2017(f *testing.F) {
	seed(f, "webnlg2017/all_data_final_averaged.csv")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := parseTable("f.csv", []byte(text), func(Warning) {})
		if err != nil {
			return
		}
		s := &refract.Segment{ID: "1"}
		if err := addTeams(table, map[string]*refract.Segment{"A | in | B": s, "C | by | D<br>C | at | E": s}); err != nil {
			return
		}
		if len(s.Hypotheses) != len(table.rows) || len(s.Judgements) != 3*len(table.rows) {
			t.Fatalf("%d outputs and %d scores from %d rows", len(s.Hypotheses), len(s.Judgements), len(table.rows))
		}
		sound(t, []*refract.Segment{s})
	})
}

// No vote is lost: each pair has as many as references.
func FuzzPascal50S(f *testing.F) {
	for _, name := range []string{pairsFile, consensusFile} {
		b, err := os.ReadFile(filepath.Join("testdata", "pascal50s", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		path := filepath.Join(t.TempDir(), "f.mat")
		writeFile(t, path, file)
		if pairs, err := readPairs(path); err == nil {
			sound(t, pairs)
		}
		segments, err := readPairs(filepath.Join("testdata", "pascal50s", pairsFile))
		if err != nil {
			t.Fatal(err)
		}
		if err := addVotes(path, segments, func(Warning) {}); err != nil {
			return
		}
		for _, s := range segments {
			if votes := s.Judgements[0].Score + s.Judgements[1].Score; votes != float64(len(s.References)) {
				t.Fatalf("%v votes for %d references", votes, len(s.References))
			}
		}
		sound(t, segments)
	})
}

func FuzzMTMERatings(f *testing.F) {
	f.Add("a\tNone\na\t{\"errors\":[{\"start\":0,\"end\":2,\"category\":\"x\",\"severity\":\"Minor\",\"score\":1.5,\"is_source_error\":true}]}\tr\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ratingLines.scan(lineReaderOf(text), []string{"a", "b"}, 2)
		if err != nil {
			return
		}
		for _, s := range all {
			if len(s.Values) != 2 {
				t.Fatalf("%+v", s)
			}
			for i, v := range s.Values {
				if v > 0 || math.Signbit(v) && v == 0 || !s.Valid[i] && v != 0 {
					t.Fatalf("%+v", s)
				}
			}
		}
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
func FuzzHFOptions(f *testing.F) {
	for _, s := range []string{"source=mt", "id=id,source=translation.zh,references=refs,references=answers.lex,hypotheses=a=mt", "references=nested", "domain=score", "id=answers.n", ",", "source==", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, options string) {
		all, err := openAndCollect(Open("hf:testdata/hf.parquet,"+options, Options{}))
		if err != nil {
			return
		}
		if len(all) != 4 {
			t.Fatalf("%d segments", len(all))
		}
		sound(t, all)
	})
}

// A damaged file is an error or other values, but no panic.
func FuzzHFFile(f *testing.F) {
	b, err := os.ReadFile(filepath.Join("testdata", "hf.parquet"))
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
		all, err := openAndCollect(Open("hf:"+path+",source=mt,references=refs", Options{}))
		if err == nil && len(all) == 0 {
			t.Fatal("no segment and no error")
		}
	})
}
