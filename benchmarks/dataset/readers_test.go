package dataset

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestReaders reads a sample in each external format. The goldens have each segment as JSON
// Lines after its position, and then the warnings.
func TestReaders(t *testing.T) {
	for _, c := range []struct{ name, spec string }{
		{"table-raters", "table:testdata/summeval.jsonl,group=id,source=text,references=references,reference=reference,system=model_id,output=decoded,human:coherence=expert_annotations.coherence,human:turker_coherence=turker_annotations.coherence"},
		{"mqm", "mqm:testdata/mqm.tsv"},
		{"mqm-reference", "mqm:testdata/mqm.tsv,reference=good"},
		{"table-parquet", "table:testdata/table.parquet,id=id,source=translation.zh,references=refs,references=answers.lex,reference=translation.en,system:mt=mt,system:b=translation.en,domain=domain,document=id,human:quality:mt=score"},
		{"table-parquet-plain", "table:testdata/table.parquet,reference=translation.en"},
		{"table-group", "table:testdata/e2e.csv,group=mr,source=mr,reference=ref"},
		{"table-rater-columns", "table:testdata/rated.csv,id=quality,system=system,output=sys_ref,human:h=quality,human:h=naturalness"},
		{"table-outputs", "table:testdata/rated.csv,group=mr,source=mr,reference=orig_ref,system=system,output=sys_ref,human:quality=quality,human:naturalness=naturalness"},
		{"table-pairs", "table:testdata/pairs.jsonl,id=id,references=references,system:a=a,system:b=b,human:preference:a=votes.a,human:preference:b=votes.b,domain=category"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w warnings
			ds, err := Open(c.spec, Options{Warn: w.add})
			require.NoError(t, err)
			var first string
			for pass := range 2 {
				all, err := collect(ds)
				require.NoError(t, err)
				var b strings.Builder
				for _, s := range all {
					fmt.Fprintf(&b, "%s\n%s", filepath.ToSlash(s.Pos.String()), encode(t, s))
				}
				for _, line := range w.all {
					fmt.Fprintf(&b, "warning: %s\n", filepath.ToSlash(line))
				}
				assert.True(t, Rereadable(ds), "cannot be read again")
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
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
				writeFile(t, path, []byte(first))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(string(want), first))
		})
	}
}

// Only the requested judgements are read.
func TestReadersJudgements(t *testing.T) {
	for _, c := range []struct {
		spec  string
		names []string
		one   string
	}{
		{"table:testdata/summeval.jsonl,group=id,source=text,references=references,reference=reference,system=model_id,output=decoded,human:coherence=expert_annotations.coherence,human:turker_coherence=turker_annotations.coherence", []string{"coherence", "turker_coherence"}, "turker_coherence"},
		{"mqm:testdata/mqm.tsv", []string{"mqm"}, "mqm"},
		{"table:testdata/rated.csv,group=mr,system=system,output=sys_ref,human:quality=quality,human:naturalness=naturalness", []string{"naturalness", "quality"}, "quality"},
	} {
		ds, err := Open(c.spec, Options{NoJudgements: true})
		all, err := openAndCollect(ds, err)
		require.NoError(t, err)
		_, err = Open(c.spec, Options{JudgementNames: c.names})
		assert.NoError(t, err)
		for _, s := range all {
			assert.Nil(t, s.Judgements, "%s: judgements that are switched off: %v", c.spec, s.Judgements)
		}
		some, err := openAndCollect(Open(c.spec, Options{JudgementNames: []string{c.one}}))
		require.NoError(t, err)
		n := 0
		for _, s := range some {
			for _, j := range s.Judgements {
				if n++; j.Name != c.one {
					t.Errorf("%s: a judgement %s", c.spec, j.Name)
				}
			}
		}
		assert.NotEqual(t, 0, n, "%s: no judgement %s", c.spec, c.one)
		_, err = Open(c.spec, Options{JudgementNames: []string{"nothing"}})
		assert.ErrorContains(t, err, `has no human scores "nothing"; it has "`+c.names[0], "%s: unknown judgement", c.spec)
	}
}

// A row is bounded while it is read, even if a quote never closes.
func TestUnclosedQuoteIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "open.csv")
	line := strings.Repeat("word ", 200_000) + "\n"
	writeFile(t, path, []byte("id,ref,out\n1,a b,a\n2,a b,\"a b\n"+strings.Repeat(line, maxLine/len(line)+1)))
	_, err := openAndCollect(Open("table:"+path+",id=id,reference=ref,system:a=out", Options{}))
	want := path + ":3: the row that begins here has more than 32 MiB"
	assert.True(t, err != nil && strings.HasPrefix(err.Error(), want), "%v, want %s", err, want)
}

func TestReaderErrors(t *testing.T) {
	const marot = "system\tdoc\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\n"
	const rated = "A\td\t1\tr\ts\tt\tOther\tMinor\n"
	for _, c := range []struct {
		name, spec string
		files      map[string]string
		want       string
	}{

		{"mqm empty", "mqm:f", map[string]string{"f": ""}, `f: is empty; the first row must name the columns`},
		{"mqm no row", "mqm:f", map[string]string{"f": marot}, `f: the dataset is empty: no segment at all`},
		{"mqm column", "mqm:f", map[string]string{"f": "system\tseg_id\n"}, `f:1: there is no column "rater"; there are "system", "seg_id"`},
		{"mqm column twice", "mqm:f", map[string]string{"f": strings.TrimSpace(marot) + "\tsystem\n"}, `f:1: two columns are named "system"`},
		{"mqm columns", "mqm:f", map[string]string{"f": marot + "A\t1\n"}, `f: the dataset is empty: no segment at all`},
		{"mqm rater", "mqm:f", map[string]string{"f": marot + "A\td\t1\t\ts\tt\tOther\tMinor\n"}, `f:2: column "rater" is empty`},
		{"mqm severity", "mqm:f", map[string]string{"f": marot + "A\td\t1\tr\ts\tt\tOther\tBad\n"}, `f:2: the severity is "Bad"; want No-error, Neutral, Minor or Major, for which there are weights`},
		{"mqm contradiction", "mqm:f", map[string]string{"f": marot + "A\td\t1\tr\ts\tt\tNo-error\tMajor\n"}, `f:2: the category is No-error, but the severity "Major"`},
		{"mqm closes", "mqm:f", map[string]string{"f": marot + "A\td\t1\tr\ts\tt</v>\tOther\tMinor\n"}, `f:2: column "target" has a </v> without a <v> before it`},
		{"mqm nested", "mqm:f", map[string]string{"f": marot + "A\td\t1\tr\t<v>s<v>\tt\tOther\tMinor\n"}, `f:2: column "source" has a <v> within another`},
		{"mqm source", "mqm:f", map[string]string{"f": marot + rated + "B\td\t1\tr\ts2\tt\tOther\tMinor\n"}, `f:3: segment "1" has another source than on line 2; the ids must be unique in the file`},
		{"mqm document", "mqm:f", map[string]string{"f": marot + rated + "B\te\t1\tr\ts\tt\tOther\tMinor\n"}, `f:3: segment "1" is of document "e", but of "d" on line 2; the ids must be unique in the file`},
		{"mqm reference", "mqm:f,reference=people", map[string]string{"f": marot + rated}, `f: has no system "people" to be a reference; it has "A"`},
		{"mqm references", "mqm:f", map[string]string{"f": marot + strings.Replace(rated, "A", "refB", 1) + strings.Replace(rated, "A", "refC", 1)}, `f: the file has several references and none is refA; choose among "refB", "refC"`},

		{"table no columns", "table:" + here(t) + "/table.parquet", nil, `dataset "table:TESTDATA/table.parquet": say what the columns are, as in 'table:TESTDATA/table.parquet,id=id,references=refs,system:mt=mt'; there are "id", "translation.en", "translation.zh", "refs", "answers.lex", "answers.n", "nested", "image", "score", "mt", "domain"`},
		{"table unknown in Parquet", "table:" + here(t) + "/table.parquet,source=ref", nil, `TESTDATA/table.parquet: there is no column "ref" (did you mean "refs"?); there are "id", "translation.en", "translation.zh", "refs", "answers.lex", "answers.n", "nested", "image", "score", "mt", "domain"`},
		{"table list", "table:" + here(t) + "/table.parquet,source=refs", nil, `TESTDATA/table.parquet:1: column "refs" holds a list; only references=COLUMN takes lists`},
		{"table lists", "table:" + here(t) + "/table.parquet,references=nested", nil, `TESTDATA/table.parquet:1: column "nested": a list of lists is not read`},
		{"table UTF-8 in Parquet", "table:" + here(t) + "/table.parquet,source=image", nil, `TESTDATA/table.parquet:1: column "image": it is not UTF-8`},
		{"table id twice", "table:" + here(t) + "/table.parquet,id=domain,source=mt", nil, `TESTDATA/table.parquet:2: id "news" is already used by row 1; ids must be unique; rows of the same segment are joined by group=COLUMN instead of id=COLUMN`},
		{"table empty id", "table:" + here(t) + "/table.parquet,id=translation.zh,source=mt", nil, `TESTDATA/table.parquet:2: column "translation.zh" is empty; each segment needs an id`},
		{"table no Parquet", "table:f.parquet,source=x", map[string]string{"f.parquet": "{}"}, `f.parquet: not a Parquet file; for JSON Lines write jsonl:FILE`},
		{"table form", "table:f.xlsx,source=x", map[string]string{"f.xlsx": "PK"}, `f.xlsx: a table is a file .csv, .tsv, .jsonl or .parquet, or a folder of .parquet; save a spreadsheet as CSV`},
		{"table none", "table:f.csv,source=x", nil, `f.csv: no such file or directory`},
		{"table twice", "table:f,source=x,source=y", nil, `dataset "table:f,source=x,source=y": the option source is given twice`},
		{"table value", "table:f,source=x,y", nil, `dataset "table:f,source=x,y": "y" has no value`},
		{"table no value", "table:f,source=", nil, `dataset "table:f,source=": the option source is empty`},
		{"table option", "table:f,refrence=x", nil, `dataset "table:f,refrence=x": has the unknown option "refrence" (did you mean "reference"?); the options are id, group, source, document, domain, language, system, output, rater, quotes, errors, keep, reference, references, system:NAME, human:NAME`},
		{"table output", "table:f.csv,system=x", nil, `dataset "table:f.csv,system=x": system=COLUMN and output=COLUMN go together: the name of a system, and its output`},
		{"table whose score", "table:f.csv,system:a=x,system:b=y,human:q=z", nil, `dataset "table:f.csv,system:a=x,system:b=y,human:q=z": say which system "human:q" is of: write human:q:SYSTEM=COLUMN, with a system:SYSTEM=COLUMN`},
		{"table score of none", "table:f.csv,system:a=x,human:q:b=z", nil, `dataset "table:f.csv,system:a=x,human:q:b=z": there is no system:b=COLUMN, of which human:q:b would be`},
		{"table column", "table:f.csv,source=mr,system:s=system", map[string]string{"f.csv": "mr,sys\na,b\n"}, `f.csv: there is no column "system"; there are "mr", "sys"`},
		{"table column of JSON", "table:f.jsonl,source=text", map[string]string{"f.jsonl": `{"txt":"a"}` + "\n" + `{"id":1}` + "\n"}, `f.jsonl: there is no column "text" (did you mean "txt"?); there are "id", "txt"`},
		{"table JSON", "table:f.jsonl,source=a", map[string]string{"f.jsonl": `{"a":"a"}` + "\n" + `{"a":b}` + "\n"}, `f.jsonl:2:6: bad JSON: invalid character 'b' at start of value`},
		{"table JSON array", "table:f.jsonl,source=a", map[string]string{"f.jsonl": `[{"a":"a"},1]`}, `f.jsonl:2:1: a row must be a JSON object, not a number`},
		{"table JSON key twice", "table:f.jsonl,source=a", map[string]string{"f.jsonl": `{"a":"a","a":"b"}`}, `f.jsonl:1:10: field "a" is there twice`},
		{"table JSON structure", "table:f.jsonl,source=a", map[string]string{"f.jsonl": `{"a":{"b":"c"}}`}, `f.jsonl:1: column "a": it holds a structure; name a part of it, as in COLUMN.b`},
		{"table JSON columns", "table:f.json,source=a", map[string]string{"f.json": `{"a":{"0":"b","1":"c"}}`}, `f.json:1: column "a": it holds a column where a row is wanted; pandas's to_json() writes rows with orient="records"`},
		{"table score", "table:f.csv,system:s=s,human:quality=quality", map[string]string{"f.csv": "s,quality\na,good\n"}, `f.csv:2: column "quality" is "good"; want a number, or nothing if there is no score`},
		{"table fields", "table:f.csv,source=mr", map[string]string{"f.csv": "mr,system,sys_ref\na,b,c\na,b\n"}, `f.csv:3: the row has 2 columns, but the first row names 3`},
		{"table quote", "table:f.csv,source=mr", map[string]string{"f.csv": "mr,system,sys_ref\na,\"b,c\n"}, `f.csv:2:8: bad table: extraneous or missing " in quoted-field; where quotes are letters like others, add quotes=none`},
		{"table names", "table:f.csv,source=mr", map[string]string{"f.csv": "mr,mr\na,b\n"}, `f.csv:1: two columns are named "mr"`},
		{"table empty", "table:f.csv,source=mr", map[string]string{"f.csv": ""}, `f.csv: is empty; the first row must name the columns`},
		{"table no row", "table:f.csv,source=mr", map[string]string{"f.csv": "mr\n"}, `f.csv: the dataset is empty: no segment at all`},
		{"table UTF-8", "table:f.csv,source=mr", map[string]string{"f.csv": "mr,system\na,b\xff\n"}, `f.csv:2: invalid UTF-8 at byte 4 of the line; store the file as UTF-8`},
		{"table no list", "table:f.csv,references=refs", map[string]string{"f.csv": "refs\na\n"}, `f.csv:2: column "refs" holds a text, not a list; write reference=COLUMN for texts`},
		{"table text for list", "table:f.jsonl,references=refs", map[string]string{"f.jsonl": `{"refs":"a"}`}, `f.jsonl:1: column "refs" holds a text, not a list; write reference=COLUMN for texts`},
		{"table sources of a group", "table:f.csv,group=g,source=s", map[string]string{"f.csv": "g,s\n1,a\n1,b\n"}, `f.csv:3: segment "1" has another source here than in row 2`},
		{"table outputs of a group", "table:f.csv,group=g,system:m=s", map[string]string{"f.csv": "g,s\n1,a\n1,b\n"}, `f.csv:3: segment "1" has another output of system "m" here than in a row before`},
		{"table no group", "table:f.csv,group=g,source=s", map[string]string{"f.csv": "g,s\n,a\n"}, `f.csv:2: column "g" is empty; each segment needs an id`},
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

// here returns the folder of the samples.
func here(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("testdata")
	require.NoError(t, err)
	return dir
}
