package dataset

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
)

// The apostrophe before ids that look like formulas and the escapes for tabs and
// backslashes are undone. A warning says if only a few segments have scores.
func TestReadScores(t *testing.T) {
	output := func(system string) []refract.Hypothesis {
		return []refract.Hypothesis{{System: system, Text: refract.NewText("x")}}
	}
	segments := []*refract.Segment{{ID: "-s0", Hypotheses: output("=a")}, {ID: "'+s1", Hypotheses: output("'b")}, {ID: "s2", Hypotheses: output("c")},
		{ID: "tab\t\\tab", Hypotheses: output(`a\n`)}, {ID: "none"}}
	dir := folderOf(t, map[string]string{
		"few.tsv": "id\tsystem\tscore\n'-s0\t'=a\t1\n''+s1\t'b\t2\n" + `tab\t\\tab` + "\t" + `a\\n` + "\t3\n",
		"all.csv": "id,system,score\n'-s0,'=a,nan\n''+s1,'b,2\ns2,c,None\n" + "tab\t" + `\tab,a\n,3`,
	})
	for name, want := range map[string]string{"few.tsv": "has scores of 3 of 4 segments; the others have none",
		"all.csv": "has scores of 2 of 4 segments; the others have none"} {
		var warned []string
		scores, _, err := ReadScores(filepath.Join(dir, name), segments, func(w Warning) { warned = append(warned, w.Message) })
		require.NoError(t, err)
		if scores[0][0].Valid != (name == "few.tsv") || scores[1][0] != (Score{2, true}) || scores[2][0].Valid || scores[3][0] != (Score{3, true}) {
			t.Errorf("%s: %v", name, scores)
		}
		assert.Equal(t, want, strings.Join(warned, "|"), name)
	}
}

// A file in which every score is missing says nothing about its metric and is an error.
func TestReadScoresWithoutAny(t *testing.T) {
	segments := []*refract.Segment{{ID: "s", Hypotheses: []refract.Hypothesis{{System: "a", Text: refract.NewText("x")}}}}
	dir := folderOf(t, map[string]string{"none.tsv": "id\tsystem\tscore\ns\ta\tNaN\n"})
	_, _, err := ReadScores(filepath.Join(dir, "none.tsv"), segments, func(Warning) {})
	assert.ErrorContains(t, err, "none.tsv: 1 row, and none has a score: all are missing")
}

// Scores of single references say which by number, prompt or text; columns may have other
// names, and a system that is the only one need not be named.
func TestReadScoresOfReferences(t *testing.T) {
	segment := func(id string) *refract.Segment {
		return &refract.Segment{ID: id, References: []refract.Text{refract.NewText("one")}, Hypotheses: []refract.Hypothesis{{System: "a"}},
			Variants: []refract.Variant{{Prompt: "tone"}, {Prompt: "voice"}, {Prompt: "voice"}}}
	}
	dir := folderOf(t, map[string]string{
		"s.json":         `{"data":[{"at":{"id":1},"reference":"one","comet":1},{"at":{"id":1},"reference":"tone","comet":2},{"at":{"id":1},"reference":3,"comet":null},{"at":{"id":"2"},"reference":"0","comet":4}]}`,
		"several.csv":    "id,score,reference\n1,1,voice\n",
		"none.csv":       "id,score,reference\n1,1,4\n",
		"twice.csv":      "id,score,reference\n1,1,1\n1,1,tone\n",
		"other.csv":      "seg,score\n1,1\n",
		"comet.json":     `{"a.txt":[{"COMET":1}]}`,
		"wide.seg.score": "m\ta\t1\n",
		"m.seg.score":    "a\t1\na\tNone\n",
	})
	read := func(spec string) ([][]Score, bool, error) {
		return ReadScores(filepath.Join(dir, spec), []*refract.Segment{segment("1"), segment("2")}, func(Warning) {})
	}
	got, perReference, err := read("s.json,id=at.id,score=comet")
	want := [][]Score{{{1, true}, {2, true}, {}, {}}, {{4, true}, {}, {}, {}}}
	d := cmp.Diff(want, got)
	assert.True(t, err == nil && perReference && d == "", "%v %v\n%s", perReference, err, d)
	got, _, err = read("m.seg.score")
	assert.True(t, err == nil && cmp.Equal(got, [][]Score{{{1, true}}, {{}}}), "%v, %v", got, err)
	for spec, want := range map[string]string{
		"several.csv":    `segment "1" has several variants of the prompt "voice"; write their numbers from 0`,
		"none.csv":       `segment "1" has 4 references, and none is "4"`,
		"twice.csv":      `segment "1" has two scores of system "a" and reference "tone"`,
		"other.csv":      `there is no column "id"; there are "seg", "score"; wanted are the columns id, system and score`,
		"comet.json":     `there is no column "id"; there are "a.txt.COMET"; wanted are the columns id, system and score`,
		"wide.seg.score": `want a system, a tab and a score`,
		"m.csv,ids=a":    `has the unknown option "ids"`,
	} {
		_, _, err := read(spec)
		assert.ErrorContains(t, err, want, "%s", spec)
	}
}

// People's scores join outputs by id; what several people gave is averaged.
func TestWithJudgements(t *testing.T) {
	dir := folderOf(t, map[string]string{"r.csv": "id,system,score,rater\n2,a,1,ann\n1,a,4,ann\n2,a,2,\n2,a,4,ann\n3,a,1,bo\n2,b,,ann\n", "none.csv": "id,system,score\n1,c,1\n"})
	base := func() refract.InMemory {
		return refract.InMemory{{ID: "1", Hypotheses: []refract.Hypothesis{{System: "a"}}}, {ID: "2", Hypotheses: []refract.Hypothesis{{System: "b"}, {System: "a"}}}, {ID: "4"}}
	}
	said := &warnings{}
	all, err := openAndCollect(WithJudgements(base(), []NamedFile{{"da", filepath.Join(dir, "r.csv")}}, Options{Warn: said.add}))
	require.NoError(t, err)
	var got [][]refract.Judgement
	for _, s := range all {
		got = append(got, s.Judgements)
	}
	want := [][]refract.Judgement{{{Name: "da", System: "a", Score: 4, Valid: true}}, {{Name: "da", System: "a", Score: 7. / 3, Valid: true, Ratings: []refract.Rating{{Rater: "ann", Score: 2.5}, {Rater: "2", Score: 2}}}, {Name: "da", System: "b"}}, nil}
	assert.Empty(t, cmp.Diff(want, got))
	said.check(t, dir, "r.csv: left out: scores of 1 output that the dataset does not have", "r.csv: has scores of 2 of 3 segments; the others have none")
	_, err = openAndCollect(WithJudgements(base(), []NamedFile{{"da", filepath.Join(dir, "none.csv")}}, Options{}))
	wantError(t, dir, err, `none.csv: none of its scores is of an output of the dataset: the first is of segment "1" and system "c"`)
}
