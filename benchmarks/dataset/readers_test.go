package dataset

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestReaders reads a sample in each format of other people. The goldens have
// each segment as JSON Lines after its position, and then what was warned of.
func TestReaders(t *testing.T) {
	const hf = "hf:testdata/hf.parquet,id=id,source=translation.zh,"
	for _, c := range []struct{ name, spec string }{
		{"summeval", "summeval:testdata/summeval.jsonl"},
		{"preferences", "preferences:testdata/preferences.jsonl"},
		{"pascal50s", "pascal50s:testdata/pascal50s"},
		{"bagel", "bagel:testdata/bagel.csv,references=testdata/bagel.tsv"},
		{"bagel-sfhot", "bagel:testdata/bagel.csv,dataset=SFHOT"},
		{"commongen", "commongen:testdata/commongen.dev.jsonl"},
		{"commongen-eval", "commongen:testdata/commongen.eval.jsonl"},
		{"commongen-pairs", "commongen:testdata/commongen.txt,references=testdata/commongen.dev.jsonl"},
		{"webnlg2017", "webnlg:testdata/webnlg2017"},
		{"webnlg2020", "webnlg:testdata/webnlg2020"},
		{"webnlg2020-xml", "webnlg:testdata/webnlg2020,references=testdata/webnlg2020/references.xml,segments=judged"},
		{"mqm", "mqm:testdata/mqm.tsv"},
		{"mqm-reference", "mqm:testdata/mqm.tsv,reference=good"},
		{"hf", hf + "references=refs,references=answers.lex,references=translation.en,hypotheses=mt,hypotheses=b=translation.en,domain=domain,document=id"},
		{"hf-plain", "hf:testdata/hf.parquet,references=translation.en"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w warnings
			ds, err := Open(c.spec, Options{Warn: w.add})
			if err != nil {
				t.Fatal(err)
			}
			var first string
			for pass := range 2 {
				all, err := collect(ds)
				if err != nil {
					t.Fatal(err)
				}
				var b strings.Builder
				for _, s := range all {
					fmt.Fprintf(&b, "%s\n%s", filepath.ToSlash(s.Pos.String()), encode(t, s))
				}
				for _, line := range w.all {
					fmt.Fprintf(&b, "warning: %s\n", filepath.ToSlash(line))
				}
				if sized, ok := ds.(Sized); ok {
					if n, ok := sized.Len(); !ok || n != len(all) {
						t.Errorf("Len = %d, %v; there are %d", n, ok, len(all))
					}
				}
				if !Rereadable(ds) {
					t.Error("cannot be read again")
				}
				if pass == 1 && b.String() != first {
					t.Errorf("the second pass is another:\n%s", cmp.Diff(first, b.String()))
				}
				first = b.String()
			}
			for n := range 5 {
				checkParts(t, ds, n+1)
			}
			path := filepath.Join("testdata", "golden", c.name+".txt")
			if *update {
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				writeFile(t, path, []byte(first))
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), first); d != "" {
				t.Error(d)
			}
		})
	}
}

// Judgements are read when they are asked for, and those that are asked for.
func TestReadersJudgements(t *testing.T) {
	for _, c := range []struct {
		spec  string
		names []string
		one   string
	}{
		{"summeval:testdata/summeval.jsonl", []string{"coherence", "consistency", "fluency", "relevance", "turker_coherence", "turker_consistency"}, "turker_coherence"},
		{"preferences:testdata/preferences.jsonl", []string{"preference"}, "preference"},
		{"pascal50s:testdata/pascal50s", []string{"preference"}, "preference"},
		{"bagel:testdata/bagel.csv", []string{"informativeness", "naturalness", "quality"}, "quality"},
		{"webnlg:testdata/webnlg2017", []string{"fluency", "grammar", "semantics"}, "grammar"},
		{"webnlg:testdata/webnlg2020", []string{"Fluency", "Relevance"}, "Fluency"},
		{"mqm:testdata/mqm.tsv", []string{"mqm"}, "mqm"},
	} {
		ds, err := Open(c.spec, Options{NoJudgements: true})
		all, err := openAndCollect(ds, err)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(c.spec, Options{JudgementNames: c.names}); err != nil {
			t.Error(err)
		}
		for _, s := range all {
			if s.Judgements != nil {
				t.Errorf("%s: judgements that are switched off: %v", c.spec, s.Judgements)
			}
		}
		some, err := openAndCollect(Open(c.spec, Options{JudgementNames: []string{c.one}}))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, s := range some {
			for _, j := range s.Judgements {
				if n++; j.Name != c.one {
					t.Errorf("%s: a judgement %s", c.spec, j.Name)
				}
			}
		}
		if n == 0 {
			t.Errorf("%s: no judgement %s", c.spec, c.one)
		}
		_, err = Open(c.spec, Options{JudgementNames: []string{"nothing"}})
		if err == nil || !strings.Contains(err.Error(), `has no human scores "nothing"; it has "`+c.names[0]) {
			t.Errorf("%s: unknown judgement: %v", c.spec, err)
		}
	}
}

func TestReaderErrors(t *testing.T) {
	const row = `{"id":"a","model_id":"m","decoded":"d"}` + "\n"
	xml := func(entries string) string { return "<benchmark>\n" + entries + "</benchmark>" }
	const json2020 = "w/evaluation/references/references-en.json"
	const scores2020 = "w/evaluation/human-evaluation/results/en/t/primary.json"
	w2020 := func(references, lines, scores string) map[string]string {
		return map[string]string{json2020: references, "w/submissions/rdf2text/en/t/primary.en": lines, scores2020: scores}
	}
	const one = `{"entries":[{"1":{"lexicalisations":[{"lex":"x"}]}}]}`
	w2017 := func(mrs, ref, table string) map[string]string {
		return map[string]string{"w/MRs.txt": mrs, "w/gold-sample-reference0.lex": ref, "w/all_data_final_averaged.csv": table}
	}
	const marot = "system\tdoc\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\n"
	const rated = "A\td\t1\tr\ts\tt\tOther\tMinor\n"
	const head = "mr,team,text,fluency,grammar,semantics\n"
	for _, c := range []struct {
		name, spec string
		files      map[string]string
		want       string
	}{
		{"summeval empty", "summeval:f", map[string]string{"f": ""}, `f: the dataset is empty: no segment at all`},
		{"summeval unknown field", "summeval:f", map[string]string{"f": row + `{"id":"b","modelid":"m"}`}, `f:2:11: unknown field "modelid" (did you mean "model_id"?)`},
		{"summeval no text", "summeval:f", map[string]string{"f": `{"id":"b","model_id":"m"}`}, `f:1: the row has no field "decoded"`},
		{"summeval twice", "summeval:f", map[string]string{"f": row + row}, `f:2: id "a" has a summary by "m" on line 1 already; a model has one summary per article`},
		{"summeval score", "summeval:f", map[string]string{"f": `{"id":"a","model_id":"m","decoded":"d","expert_annotations":[{"x":1},{"x":"2"}]}`}, `f:1:75: field expert_annotations[1]["x"] must be a number or null, not a string`},
		{"summeval scores", "summeval:f", map[string]string{"f": `{"id":"a","model_id":"m","decoded":"d","expert_annotations":{}}`}, `f:1:61: field expert_annotations must be an array, not an object`},
		{"summeval both", "summeval:f", map[string]string{"f": `{"id":"a","model_id":"m","decoded":"d","reference":"a","references":["b"]}`}, `f:1: the row has both "reference" and "references"; remove one`},
		{"summeval line", "summeval:f", map[string]string{"f": row + "[]\n"}, `f:2:1: the value must be an object, not an array`},
		{"summeval number", "summeval:f", map[string]string{"f": `{"id":"a","model_id":"m","decoded":"d","turker_annotations":[{"x":1e999}]}`}, `f:1:67: field turker_annotations[0]["x"] must be a number or null, not one that is out of range`},

		{"preferences text", "preferences:f", map[string]string{"f": `{"a":"x"}`}, `f:1: the pair has no field "b"; write null for a missing text`},
		{"preferences votes", "preferences:f", map[string]string{"f": `{"a":"x","b":"y","preferred":"a","votes":{"a":1,"b":2}}`}, `f:1: preferred is "a", but the votes are 1 for a and 2 for b`},
		{"preferences which", "preferences:f", map[string]string{"f": `{"a":"x","b":"y","preferred":"c"}`}, `f:1:30: field preferred is "c"; write "a", "b", "tie", or null where nobody says`},
		{"preferences negative", "preferences:f", map[string]string{"f": `{"a":"x","b":"y","votes":{"a":-1}}`}, `f:1:31: field votes.a must be a number from 0, not null or negative`},
		{"preferences id", "preferences:f", map[string]string{"f": `{"id":"2","a":"x","b":"y"}` + "\n" + `{"a":"x","b":"y"}`}, `f:2: id "2" is that of line 1 already; ids must be unique`},
		{"preferences empty", "preferences:f", map[string]string{"f": ""}, `f: the dataset is empty: no segment at all`},

		{"pascal50s none", "pascal50s:d", map[string]string{"d/x": ""}, `d/pair_pascal.mat: no such file or directory`},
		{"pascal50s text", "pascal50s:d", map[string]string{"d/pair_pascal.mat": "x", "d/consensus_pascal.mat": "x"}, `d/pair_pascal.mat: not a MATLAB file of version 5`},

		{"bagel column", "bagel:f.csv", map[string]string{"f.csv": "mr,sys\na,b\n"}, `f.csv:1: there is no column "system"; there are "mr", "sys"`},
		{"bagel score", "bagel:f.csv", map[string]string{"f.csv": "mr,system,sys_ref,quality\na,b,c,good\n"}, `f.csv:2: column "quality" is "good"; want a number, or nothing where there is no score`},
		{"bagel fields", "bagel:f.csv", map[string]string{"f.csv": "mr,system,sys_ref\na,b,c\na,b\n"}, `f.csv:3: the row has 2 columns, but the first row names 3`},
		{"bagel quote", "bagel:f.csv", map[string]string{"f.csv": "mr,system,sys_ref\na,\"b,c\n"}, `f.csv:2:8: bad table: extraneous or missing " in quoted-field`},
		{"bagel set", "bagel:f.csv,dataset=SFRED", map[string]string{"f.csv": "dataset,mr,system,sys_ref\nSFRES,a,b,c\n"}, `f.csv: has no row of the dataset "SFRED" (did you mean "SFRES"?); it has "SFRES"`},
		{"bagel names", "bagel:f.csv", map[string]string{"f.csv": "mr,mr\n"}, `f.csv:1: two columns are named "mr"`},
		{"bagel empty", "bagel:f.csv", map[string]string{"f.csv": ""}, `f.csv: is empty; the first row must name the columns`},
		{"bagel UTF-8", "bagel:f.csv", map[string]string{"f.csv": "mr,system,sys_ref\na,b\xff,c\n"}, `f.csv:2: invalid UTF-8 at byte 4 of the line; store the file as UTF-8`},
		{"bagel option", "bagel:f.csv,refrences=x", map[string]string{"f.csv": ""}, `dataset "bagel:f.csv,refrences=x": has the unknown option "refrences" (did you mean "references"?); the options are references, dataset`},

		{"commongen neither", "commongen:f.jsonl", map[string]string{"f.jsonl": `{"scene":["a"]}`}, `f.jsonl:1: the row must have either "concept_set" or "input"`},
		{"commongen word", "commongen:f.jsonl", map[string]string{"f.jsonl": `{"input":["a",null]}`}, `f.jsonl:1:15: field input[1] must be a string, not null`},
		{"commongen system", "commongen:f.jsonl", map[string]string{"f.jsonl": `{"input":["a"],"sentences":[["T5","x"],["T5","y"]]}`}, `f.jsonl:1:40: sentences has two outputs of "T5"`},
		{"commongen sentence", "commongen:f.jsonl", map[string]string{"f.jsonl": `{"input":["a"],"sentences":[["T5"]]}`}, `f.jsonl:1:29: sentences[0] must be the name of a model and its output`},
		{"commongen order", "commongen:f.txt", map[string]string{"f.txt": "0\tsecond\ta\tx\t1\n"}, `f.txt:1: the second field is "second"; want "first": the two lines of a pair follow each other`},
		{"commongen half", "commongen:f.txt", map[string]string{"f.txt": "0\tfirst\ta\tx\t1\n"}, `f.txt: pair "0" has no second output: the file ends after 1 line of pairs`},
		{"commongen differs", "commongen:f.txt", map[string]string{"f.txt": "0\tfirst\ta\tx\t1\n0\tsecond\ta\ty\t-1\n"}, `f.txt:2: the number, concepts and score of the second output are not those of the first, on the line before`},
		{"commongen fields", "commongen:f.txt", map[string]string{"f.txt": "0\tfirst\n"}, `f.txt:1: want five fields parted by tabs (a number, first or second, concepts, an output, a score), not 2`},
		{"commongen score", "commongen:f.txt", map[string]string{"f.txt": "0\tfirst\ta\tx\tNone\n"}, `f.txt:1: the score is "None"; want a number`},
		{"commongen references", "commongen:f.jsonl,references=x", map[string]string{"f.jsonl": ""}, `dataset "commongen:f.jsonl,references=x": references= belongs to the ranked pairs (FILE.txt or FILE.tsv); rows in JSON Lines have their own`},

		{"webnlg none", "webnlg:d", map[string]string{"d/x": ""}, `d/evaluation/references/references-en.json: no such file or directory`},
		{"webnlg line", "webnlg:w", w2017("A\nA\n", "a\n", head), `w/MRs.txt:2: is the same as line 1`},
		{"webnlg references", "webnlg:w", w2017("A\n", "a\nb\n", head), `w/gold-sample-reference0.lex: has 2 lines, but w/MRs.txt has 1; line k of each file must belong to segment k`},
		{"webnlg input", "webnlg:w", w2017("A\n", "a\n", head+"B,t,x,1,1,1\n"), `w/all_data_final_averaged.csv:2: the meaning representation "B" is not in MRs.txt`},
		{"webnlg team", "webnlg:w", w2017("A\n", "a\n", head+"A,t,x,1,1,1\nA,t,x,1,1,1\n"), `w/all_data_final_averaged.csv:3: team "t" has another row for the same meaning representation (line 1 of MRs.txt)`},
		{"webnlg column", "webnlg:w", w2017("A\n", "a\n", "mr,team,text\n"), `w/all_data_final_averaged.csv:1: there is no column "fluency"; there are "mr", "team", "text"`},
		{"webnlg 2017 options", "webnlg:w,language=en", w2017("A\n", "a\n", head), `dataset "webnlg:w,language=en": the options are for the challenge of 2020; w is of 2017`},
		{"webnlg entry", "webnlg:w", w2020("{\"entries\":[\n{\"2\":{}}]}", "", "{}"), json2020 + `:2:2: entry "2" where "1" should be`},
		{"webnlg entries", "webnlg:w", w2020("{\"entries\":\n{}}", "", "{}"), json2020 + `:2:1: field entries must be an array, not an object`},
		{"webnlg cut", "webnlg:w", w2020("{\"entries\":\n[", "", "{}"), json2020 + `:2:2: bad JSON: the file ends where a value should be`},
		{"webnlg lex", "webnlg:w", w2020("{\"entries\":[{\"1\":\n{\"lexicalisations\":[{\"lex\":1}]}}]}", "", "{}"), json2020 + `:2:28: field entries[0]["1"].lexicalisations[0].lex must be a string or null, not a number`},
		{"webnlg after", "webnlg:w", w2020(one+"\n]", "", "{}"), json2020 + `:2:1: bad JSON: text after the end of the value`},
		{"webnlg lines", "webnlg:w", w2020(one, "a\nb\n", "{}"), `w/submissions/rdf2text/en/t/primary.en: has 2 lines, but ` + json2020 + ` has 1 segment; line k must belong to entry k`},
		{"webnlg segment", "webnlg:w", w2020(one, "a\n", "{\n\"2\":{}}"), scores2020 + `:2:1: there is no segment "2"; there are 1 to 1`},
		{"webnlg twice", "webnlg:w", w2020(one, "a\n", `{"1":{"w":{"F":1}},"1":{}}`), scores2020 + `:1:20: segment "1" is there twice`},
		{"webnlg rater", "webnlg:w", w2020(one, "a\n", `{"1":{"w":{"F":"1"}}}`), scores2020 + `:1:16: field ["1"]["w"]["F"] must be a number or null, not a string`},
		{"webnlg option", "webnlg:w,segments=some", w2020(one, "a\n", "{}"), `dataset "webnlg:w,segments=some": segments is "some"; write all or judged`},
		{"webnlg XML", "webnlg:w,references=f.xml", map[string]string{"f.xml": xml("<entry eid='Id1'>\n<lex>a</entry>")}, `f.xml:3: bad XML: element <lex> closed by </entry>`},
		{"webnlg eid", "webnlg:w,references=f.xml", map[string]string{"f.xml": xml("<entry eid='Id1'/>\n<entry eid='Id1'/>")}, `f.xml:3: the entry has the eid "Id1"; want Id1, Id2 and so on, each once`},
		{"webnlg missing", "webnlg:w,references=f.xml", map[string]string{"f.xml": xml("<entry eid='Id2'/>")}, `f.xml: has 1 entries, but none with the eid Id1`},

		{"mqm empty", "mqm:f", map[string]string{"f": ""}, `f: is empty; the first row must name the columns`},
		{"mqm no row", "mqm:f", map[string]string{"f": marot}, `f: the dataset is empty: no segment at all`},
		{"mqm column", "mqm:f", map[string]string{"f": "system\tseg_id\n"}, `f:1: there is no column "rater"; there are "system", "seg_id"`},
		{"mqm column twice", "mqm:f", map[string]string{"f": strings.TrimSpace(marot) + "\tsystem\n"}, `f:1: two columns are named "system"`},
		{"mqm columns", "mqm:f", map[string]string{"f": marot + "A\t1\n"}, `f:2: the row has 2 columns, but the first row names 8: a row stands on one line, and its texts have no tab`},
		{"mqm rater", "mqm:f", map[string]string{"f": marot + "A\td\t1\t\ts\tt\tOther\tMinor\n"}, `f:2: column "rater" is empty`},
		{"mqm severity", "mqm:f", map[string]string{"f": marot + "A\td\t1\tr\ts\tt\tOther\tBad\n"}, `f:2: the severity is "Bad"; want No-error, Neutral, Minor or Major, for which there are weights`},
		{"mqm contradiction", "mqm:f", map[string]string{"f": marot + "A\td\t1\tr\ts\tt\tNo-error\tMajor\n"}, `f:2: the category is No-error, but the severity "Major"`},
		{"mqm closes", "mqm:f", map[string]string{"f": marot + "A\td\t1\tr\ts\tt</v>\tOther\tMinor\n"}, `f:2: column "target" has a </v> without a <v> before it`},
		{"mqm nested", "mqm:f", map[string]string{"f": marot + "A\td\t1\tr\t<v>s<v>\tt\tOther\tMinor\n"}, `f:2: column "source" has a <v> within another`},
		{"mqm source", "mqm:f", map[string]string{"f": marot + rated + "B\td\t1\tr\ts2\tt\tOther\tMinor\n"}, `f:3: segment "1" has another source than on line 2; the ids must be unique in the file`},
		{"mqm target", "mqm:f", map[string]string{"f": marot + rated + "A\td\t1\tr2\ts\tt2\tOther\tMinor\n"}, `f:3: segment "1" has another target of system "A" than on line 2`},
		{"mqm document", "mqm:f", map[string]string{"f": marot + rated + "B\te\t1\tr\ts\tt\tOther\tMinor\n"}, `f:3: segment "1" is of document "e", but of "d" on line 2; the ids must be unique in the file`},
		{"mqm reference", "mqm:f,reference=people", map[string]string{"f": marot + rated}, `f: has no system "people" to be a reference; it has "A"`},
		{"mqm references", "mqm:f", map[string]string{"f": marot + strings.Replace(rated, "A", "refB", 1) + strings.Replace(rated, "A", "refC", 1)}, `f: the file has several references and none is refA; choose among "refB", "refC"`},

		{"hf no columns", "hf:" + here(t) + "/hf.parquet", nil, `dataset "hf:TESTDATA/hf.parquet": say which columns the texts are in, as in hf:FILE,source=COLUMN,references=COLUMN; there are "id", "translation.en", "translation.zh", "refs", "answers.lex", "answers.n", "nested", "image", "score", "mt", "domain"`},
		{"hf structure", "hf:" + here(t) + "/hf.parquet,source=translation", nil, `TESTDATA/hf.parquet: column "translation" is a structure; name one of "translation.en", "translation.zh"`},
		{"hf unknown", "hf:" + here(t) + "/hf.parquet,source=ref", nil, `TESTDATA/hf.parquet: there is no column "ref" (did you mean "refs"?); there are "id", "translation.en", "translation.zh", "refs", "answers.lex", "answers.n", "nested", "image", "score", "mt", "domain"`},
		{"hf list", "hf:" + here(t) + "/hf.parquet,source=refs", nil, `TESTDATA/hf.parquet: column "refs" is a list; only references may be lists`},
		{"hf lists", "hf:" + here(t) + "/hf.parquet,references=nested", nil, `TESTDATA/hf.parquet: column "nested" is a list of lists, which is not read`},
		{"hf type", "hf:" + here(t) + "/hf.parquet,source=score", nil, `TESTDATA/hf.parquet: column "score" is of the type DOUBLE; want texts`},
		{"hf UTF-8", "hf:" + here(t) + "/hf.parquet,source=image", nil, `TESTDATA/hf.parquet:1: its source is not UTF-8`},
		{"hf null id", "hf:" + here(t) + "/hf.parquet,id=domain,source=mt", nil, `TESTDATA/hf.parquet:2: id "news" is that of segment 1 already; ids must be unique`},
		{"hf empty id", "hf:" + here(t) + "/hf.parquet,id=translation.zh,source=mt", nil, `TESTDATA/hf.parquet:2: column translation.zh is empty or null; each segment needs an id of its own`},
		{"hf systems", "hf:x,hypotheses=a=b,hypotheses=a=c", nil, `dataset "hf:x,hypotheses=a=b,hypotheses=a=c": two systems are named "a"; write hypotheses=NAME=COLUMN`},
		{"hf text", "hf:f,source=x", map[string]string{"f": "{}"}, `f: not a Parquet file; for JSON Lines write jsonl:FILE`},
		{"hf twice", "hf:f,source=x,source=y", nil, `dataset "hf:f,source=x,source=y": the option source is given twice`},
		{"hf value", "hf:f,source=x,y", nil, `dataset "hf:f,source=x,y": "y" has no value`},
		{"hf none", "hf:f,source=", nil, `dataset "hf:f,source=": the option source is empty`},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := here(t)
			dir := folderOf(t, c.files)
			t.Chdir(dir)
			_, err := openAndCollect(Open(c.spec, Options{}))
			if err != nil {
				err = fmt.Errorf("%s", strings.ReplaceAll(err.Error(), data, "TESTDATA"))
			}
			wantError(t, dir, err, c.want)
		})
	}
}

// here is the folder of the samples.
func here(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// CRLF and a byte order mark are the same set, with a warning.
func TestReadersCarriageReturns(t *testing.T) {
	for _, c := range []struct{ spec, file, options string }{
		{"summeval", "summeval.jsonl", ""},
		{"preferences", "preferences.jsonl", ""},
		{"commongen", "commongen.dev.jsonl", ""},
		{"bagel", "bagel.csv", ",dataset=SFHOT"},
		{"mqm", "mqm.tsv", ""},
	} {
		b, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		dir := folderOf(t, map[string]string{c.file: "\ufeff" + strings.ReplaceAll(string(b), "\n", "\r\n")})
		var w warnings
		got, err := openAndCollect(Open(c.spec+":"+filepath.Join(dir, c.file)+c.options, Options{Warn: w.add}))
		if err != nil {
			t.Fatal(err)
		}
		want, err := openAndCollect(Open(c.spec+":"+filepath.Join("testdata", c.file)+c.options, Options{}))
		if err != nil {
			t.Fatal(err)
		}
		if a, b := encode(t, got...), encode(t, want...); a != b {
			t.Errorf("%s: %s", c.spec, cmp.Diff(b, a))
		}
		for _, part := range []string{"byte order mark", "carriage return"} {
			if !slices.ContainsFunc(w.all, func(s string) bool { return strings.Contains(s, part) }) {
				t.Errorf("%s: no warning of the %s: %q", c.spec, part, w.all)
			}
		}
	}
}
