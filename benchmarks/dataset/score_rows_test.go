package dataset

import (
	"path/filepath"
	"strings"
	"testing"

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
		"all.csv": ""} {
		var warned []string
		scores, err := ReadScores(filepath.Join(dir, name), segments, func(w Warning) { warned = append(warned, w.Message) })
		if err != nil {
			t.Fatal(err)
		}
		if scores[0][0].Valid != (name == "few.tsv") || scores[1][0] != (Score{2, true}) || scores[2][0].Valid || scores[3][0] != (Score{3, true}) {
			t.Errorf("%s: %v", name, scores)
		}
		if strings.Join(warned, "|") != want {
			t.Errorf("%s: warnings %q, want %q", name, warned, want)
		}
	}
}

// A file in which every score is missing says nothing about its metric and is an error.
func TestReadScoresWithoutAny(t *testing.T) {
	segments := []*refract.Segment{{ID: "s", Hypotheses: []refract.Hypothesis{{System: "a", Text: refract.NewText("x")}}}}
	dir := folderOf(t, map[string]string{"none.tsv": "id\tsystem\tscore\ns\ta\tNaN\n"})
	_, err := ReadScores(filepath.Join(dir, "none.tsv"), segments, func(Warning) {})
	if err == nil || !strings.Contains(err.Error(), "none.tsv: 1 row, and none has a score: all are missing") {
		t.Error(err)
	}
}
