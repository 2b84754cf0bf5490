package dataset

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/correlate"
)

// small is a language pair with three segments.
func small() map[string]string {
	return map[string]string{
		"ts/sources/de-en.txt":                "eins\nzwei\ndrei\n",
		"ts/documents/de-en.docs":             "news\td1\nnews\td1\nchat d2\n",
		"ts/references/de-en.refA.txt":        "one\n two\u00a0\x1c\n\n",
		"ts/references/de-en.refB.txt":        "1\n[No translation supplied]\n3",
		"ts/references/fr-en.refA.txt":        "un\n",
		"ts/system-outputs/de-en/refB.txt":    "1\n[No translation supplied]\n3\n",
		"ts/system-outputs/de-en/b.txt":       "one\ntwo\nthree\n",
		"ts/system-outputs/de-en/B.txt":       "One\nTwo\nThree\n",
		"ts/human-scores/de-en.mqm.seg.score": "b\t-1\nb\tNone\nb\t-0.5\nrefB\t0\nrefB\t0\nrefB\t1e1\n",
		"ts/human-scores/de-en.da.seg.score":  "B 1\nB 2\nB 3\n",
		"ts/human-scores/de-en.mqm.sys.score": "b\t-1\n",
	}
}

// changed is small with some files replaced; "" removes one.
func changed(files map[string]string) map[string]string {
	all := small()
	maps.Copy(all, files)
	maps.DeleteFunc(all, func(_, text string) bool { return text == "" })
	return all
}

func TestMTME(t *testing.T) {
	dir := folderOf(t, small())
	var w warnings
	ds, err := Open("mtme:"+dir+"/ts/de-en", Options{References: []string{"refB", "refA"}, Warn: w.add})
	require.NoError(t, err)
	for range 2 { // a dataset can be read again
		got, err := collect(ds)
		require.NoError(t, err)
		source := filepath.Join(dir, "ts", "sources", "de-en.txt")
		text := refract.NewText
		want := []*refract.Segment{{
			ID: "1", Source: text("eins"), References: []refract.Text{text("1"), text("one")},
			Hypotheses: []refract.Hypothesis{{System: "B", Text: text("One")}, {System: "b", Text: text("one")}, {System: "refB", Text: text("1"), Human: true}},
			Judgements: []refract.Judgement{
				{Name: "da", System: "B", Score: 1, Valid: true},
				{Name: "mqm", System: "b", Score: -1, Valid: true}, {Name: "mqm", System: "refB", Valid: true}},
			Document: "d1", Domain: "news", Pos: refract.Position{File: source, Line: 1},
		}, {
			ID: "2", Source: text("zwei"), References: []refract.Text{{}, text("two")},
			Hypotheses: []refract.Hypothesis{{System: "B", Text: text("Two")}, {System: "b", Text: text("two")}, {System: "refB", Human: true}},
			Judgements: []refract.Judgement{
				{Name: "da", System: "B", Score: 2, Valid: true},
				{Name: "mqm", System: "b"}, {Name: "mqm", System: "refB", Valid: true}},
			Document: "d1", Domain: "news", Pos: refract.Position{File: source, Line: 2},
		}, {
			ID: "3", Source: text("drei"), References: []refract.Text{text("3"), text("")},
			Hypotheses: []refract.Hypothesis{{System: "B", Text: text("Three")}, {System: "b", Text: text("three")}, {System: "refB", Text: text("3"), Human: true}},
			Judgements: []refract.Judgement{
				{Name: "da", System: "B", Score: 3, Valid: true},
				{Name: "mqm", System: "b", Score: -.5, Valid: true}, {Name: "mqm", System: "refB", Score: 10, Valid: true}},
			Document: "d2", Domain: "chat", Pos: refract.Position{File: source, Line: 3},
		}}
		assert.Empty(t, cmp.Diff(want, got))
	}
	w.check(t, dir,
		"ts/sources/de-en.txt: blank references: 1 of 6; they are scored as empty texts, not as missing ones",
		`ts/system-outputs/de-en/refB.txt: system "refB" has no text for 1 of 3 segments (ids "2")`)
}

func TestMTMEChoices(t *testing.T) {
	for _, c := range []struct {
		name      string
		files     map[string]string
		o         Options
		reference string // first of the first segment
		judged    int
	}{
		{"refA by default", nil, Options{NoJudgements: true}, "one", 0},
		{"the only one", map[string]string{"ts/references/de-en.refA.txt": ""}, Options{NoJudgements: true}, "1", 0},
		{"by name", nil, Options{NoJudgements: true, References: []string{"refB"}}, "1", 0},
		{"all judgements", nil, Options{}, "one", 3},
		{"some judgements", nil, Options{JudgementNames: []string{"mqm", "mqm"}}, "one", 2},
		{"no documents", map[string]string{"ts/documents/de-en.docs": ""}, Options{NoJudgements: true}, "one", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folderOf(t, changed(c.files))
			got, err := openAndCollect(Open("mtme:"+dir+"/ts/de-en/", c.o))
			require.NoError(t, err)
			if len(got[0].References) != 1 || got[0].References[0].Value != c.reference {
				t.Errorf("references %v", got[0].References)
			}
			assert.Len(t, got[0].Judgements, c.judged, "judgements")
		})
	}
}

// With another reference than the shared task's, the numbers would differ from the
// published ones.
func TestMTMEStandardReference(t *testing.T) {
	dir := folderOf(t, changed(map[string]string{"ts/references/de-en.refA.txt": ""}))
	require.NoError(t, os.Rename(dir+"/ts", dir+"/wmt22"))
	var w warnings
	_, err := openAndCollect(Open("mtme:"+dir+"/wmt22/de-en", Options{NoJudgements: true, Warn: w.add}))
	assert.True(t, err == nil && strings.Contains(fmt.Sprint(w.all), "has no reference refA"), "%v, %v", w.all, err)
}

func TestMTMEErrors(t *testing.T) {
	const mqm = "ts/human-scores/de-en.mqm.seg.score"
	for _, c := range []struct {
		name  string
		files map[string]string
		spec  string // "ts/de-en" if empty
		o     Options
		want  string
	}{
		{"no such pair", nil, "ts/de-em", Options{}, `ts: has no language pair "de-em" (did you mean "de-en"?); it has "de-en"`},
		{"test set without pair", nil, "ts", Options{}, `ts: is a test set: add one of its language pairs ("de-en"), as in "ts/de-en"`},
		{"no such folder", nil, "xx/de-en", Options{}, `xx/de-en: no such language pair: xx/sources/de-en.txt: no such file or directory`},
		{"unknown reference", nil, "", Options{References: []string{"refC"}}, `ts: de-en has no reference "refC" (did you mean "refA"?); it has "refA", "refB"`},
		{"reference twice", nil, "", Options{References: []string{"refA", "refA"}}, `ts: reference "refA" is chosen twice`},
		{"ambiguous reference", map[string]string{"ts/references/de-en.refA.txt": "", "ts/references/de-en.refC.txt": "x\n"}, "", Options{},
			`ts: de-en has several references and none is refA; choose among "refB", "refC"`},
		{"unknown human", nil, "", Options{JudgementNames: []string{"mqn"}}, `ts/de-en: has no human scores "mqn" (did you mean "mqm"?); it has "da", "mqm"`},
		{"short reference", map[string]string{"ts/references/de-en.refA.txt": "one\ntwo\n"}, "", Options{},
			`ts/references/de-en.refA.txt: has 2 lines, but ts/sources/de-en.txt has 3; line k of each file must belong to segment k`},
		{"long system", map[string]string{"ts/system-outputs/de-en/b.txt": "one\ntwo\nthree\n\n"}, "", Options{},
			`ts/system-outputs/de-en/b.txt: has 4 lines, but ts/sources/de-en.txt has 3; line k of each file must belong to segment k`},
		{"short documents", map[string]string{"ts/documents/de-en.docs": "news d1"}, "", Options{},
			`ts/documents/de-en.docs: has 1 line, but ts/sources/de-en.txt has 3; line k of each file must belong to segment k`},
		{"documents", map[string]string{"ts/documents/de-en.docs": "news\td1\nnews\nnews\td1\n"}, "", Options{},
			`ts/documents/de-en.docs:2: want a domain, a tab and a document, not "news"`},
		{"UTF-8", map[string]string{"ts/system-outputs/de-en/B.txt": "One\ntw\xe4\nthree\n"}, "", Options{},
			`ts/system-outputs/de-en/B.txt:2: invalid UTF-8 at byte 3 of the line; store the file as UTF-8`},

		{"unknown system", map[string]string{mqm: "bb\t1\n"}, "", Options{},
			mqm + `:1: unknown system "bb" (did you mean "B"?): the test set has no outputs of it`},
		{"domain column", map[string]string{mqm: "news\tb\t1\n"}, "", Options{},
			mqm + `:1: want a system, a tab and a score, not "news\tb\t1"`},
		{"few scores", map[string]string{mqm: "refB\t1\nrefB\t1\nrefB\t1\nb\t1\nb\t2\n"}, "", Options{},
			mqm + `:4: system "b" has 2 lines of scores, but there should be 3`},
		{"many scores", map[string]string{mqm: "b\t1\nb\t1\nb\t1\nb\t1\nrefB\t2\n"}, "", Options{},
			mqm + `:1: system "b" has 4 lines of scores, but there should be 3`},
		{"split block", map[string]string{mqm: "b\t1\nb\t1\nb\t1\nB\t1\nB\t1\nB\t1\nb\t1\n"}, "", Options{},
			mqm + `:7: system "b" has scores from line 1 already; the scores of a system must follow each other`},
		{"no number", map[string]string{mqm: "b\t1\nb\tnone\nb\t1\n"}, "", Options{},
			mqm + `:2: the score of system "b" is not a number: "none"; write None if there is no score`},
		{"NaN", map[string]string{mqm: "b\tnan\nb\t1\nb\t1\n"}, "", Options{},
			mqm + `:1: the score of system "b" is not a number: "nan"; write None if there is no score`},
		{"hexadecimal", map[string]string{mqm: "b\t0x1p3\nb\t1\nb\t1\n"}, "", Options{},
			mqm + `:1: the score of system "b" is not a number: "0x1p3"; write None if there is no score`},
		{"out of range", map[string]string{mqm: "b\t1e999\nb\t1\nb\t1\n"}, "", Options{},
			mqm + `:1: the score of system "b" is not a number: "1e999"; write None if there is no score`},
		{"one column", map[string]string{mqm: "b\t1\nb\nb\t1\n"}, "", Options{},
			mqm + `:2: want a system, a tab and a score, not "b"`},
		{"blank score line", map[string]string{mqm: "b\t1\n\nb\t1\n"}, "", Options{},
			mqm + `:2: want a system, a tab and a score, not ""`},
		{"no scores", map[string]string{mqm: "\ufeff"}, "", Options{},
			mqm + `:1: want a system, a tab and a score, not ""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folderOf(t, changed(c.files))
			spec := c.spec
			if spec == "" {
				spec = "ts/de-en"
			}
			_, err := openAndCollect(Open("mtme:"+dir+"/"+spec, c.o))
			wantError(t, dir, err, c.want)
		})
	}
}

func TestStoredMetrics(t *testing.T) {
	files := changed(map[string]string{
		"ts/metric-scores/de-en/BLEU-refA.seg.score":           "b\t1\nb\tNone\nb\t3\nB\t4\nB\t5\nB\t6\n",
		"ts/metric-scores/de-en/BLEU-refA.refB.seg.score":      "b\t1\nb\t1\nb\t1\n",
		"ts/metric-scores/de-en/BLEU-all.seg.score":            "b\t2\nb\t2\nb\t2\n",
		"ts/metric-scores/de-en/A-20-src.seg.score":            "b\t7\nb\t8\nb\t9\n",
		"ts/metric-scores/de-en/BLEU-refA.sys.score":           "b\t1.5\nB\tNone\n",
		"ts/metric-scores/de-en/BLEU-refA.domain.score":        "x\n",
		"ts/metric-scores/de-en/.BLEU-refA.seg.score":          "x\n",
		"ts/metric-scores/de-en/notes.txt":                     "x\n",
		"ts/metric-scores/fr-en/other-refA.seg.score":          "x\n",
		"ts/metric-scores/de-en/deeper/other-refA.seg.score":   "x\n",
		"ts/metric-scores/de-en/other.dir-refA.seg.score/file": "x\n",
	})
	dir := folderOf(t, files)
	spec := "mtme:" + dir + "/ts/de-en"
	got, err := StoredMetrics(spec, correlate.SegmentLevel)
	require.NoError(t, err)
	three := []bool{true, true, true}
	path := func(name string) string {
		return filepath.Join(dir, "ts", "metric-scores", "de-en", name)
	}
	want := []StoredMetric{
		{"A-20", nil, correlate.SegmentLevel, path("A-20-src.seg.score"), []SystemScores{{"b", []float64{7, 8, 9}, three}}, true},
		{"BLEU", []string{"refA"}, correlate.SegmentLevel, path("BLEU-refA.seg.score"), []SystemScores{
			{"b", []float64{1, 0, 3}, []bool{true, false, true}}, {"B", []float64{4, 5, 6}, three}}, true},
		{"BLEU", []string{"refA", "refB"}, correlate.SegmentLevel, path("BLEU-all.seg.score"), []SystemScores{{"b", []float64{2, 2, 2}, three}}, false},
		{"BLEU", []string{"refA", "refB"}, correlate.SegmentLevel, path("BLEU-refA.refB.seg.score"), []SystemScores{{"b", []float64{1, 1, 1}, three}}, false},
	}
	assert.Empty(t, cmp.Diff(want, got))
	got, err = StoredMetrics(spec, correlate.SystemLevel)
	require.NoError(t, err)
	want = []StoredMetric{{"BLEU", []string{"refA"}, correlate.SystemLevel, path("BLEU-refA.sys.score"), []SystemScores{
		{"b", []float64{1.5}, []bool{true}}, {"B", []float64{0}, []bool{false}}}, true}}
	assert.Empty(t, cmp.Diff(want, got))
	got, err = StoredMetrics(spec, correlate.SegmentLevel, "A-20")
	assert.True(t, err == nil && len(got) == 1 && got[0].Name == "A-20", "by name: %v, %v", got, err)
}

func TestStoredMetricsErrors(t *testing.T) {
	const bleu = "ts/metric-scores/de-en/BLEU-refA.seg.score"
	for _, c := range []struct {
		name, file, text string
		spec             string
		level            correlate.Level
		only             []string
		want             string
	}{
		{"scheme", bleu, "", "jsonl:x", correlate.SegmentLevel, nil, `dataset with stored scores "jsonl:x" has the unknown format "jsonl"; write mtme:DIR/TESTSET/LP`},
		{"name", bleu, "b\t1\nb\t1\nb\t1\n", "", correlate.SegmentLevel, []string{"BLUE"}, `ts: de-en: no stored metric "BLUE" (did you mean "BLEU"?); there are "BLEU", "BLEU-refA"`},
		{"none", "ts/x", "", "", correlate.SegmentLevel, []string{"BLEU"}, `ts: de-en: no stored metric "BLEU"; there are none`},
		{"count", bleu, "b\t1\n", "", correlate.SegmentLevel, nil, bleu + `:1: system "b" has 1 line of scores, but there should be 3`},
		{"system", bleu, "Bb\t1\n", "", correlate.SegmentLevel, nil, bleu + `:1: unknown system "Bb" (did you mean "B"?): the test set has no outputs of it`},
		{"number", bleu, "b\tx\n", "", correlate.SegmentLevel, nil, bleu + `:1: the score of system "b" is not a number: "x"; write None if there is no score`},
		{"empty", bleu, "", "", correlate.SegmentLevel, nil, bleu + `: has no scores`},
		{"file name", "ts/metric-scores/de-en/BLEU.seg.score", "", "", correlate.SegmentLevel, nil,
			`ts/metric-scores/de-en/BLEU.seg.score: the file name is not of the form NAME-REF.seg.score`},
		{"reference", "ts/metric-scores/de-en/BLEU-refX.seg.score", "", "", correlate.SegmentLevel, nil,
			`ts/metric-scores/de-en/BLEU-refX.seg.score: the file name has the unknown reference "refX" (did you mean "refA"?); de-en has "refA", "refB"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := small()
			files[c.file] = c.text
			dir := folderOf(t, files)
			spec := c.spec
			if spec == "" {
				spec = "mtme:" + dir + "/ts/de-en"
			}
			_, err := StoredMetrics(spec, c.level, c.only...)
			wantError(t, dir, err, c.want)
		})
	}
}
