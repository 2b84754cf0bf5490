package audit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refract-eval/refract/metrics/analysis"
)

func TestFeedbackFile(t *testing.T) {
	for _, test := range []struct{ name, rows, want string }{
		{"neither", `{"id":"1"}`, `f:1: there are neither "failures" nor an "alignment"`},
		{"unknown", `{"id":"1","failures":[["M1"],["G5"]]}`, `f:1: unknown failure "G5"`},
		{"no share", `{"id":"1","alignment":2}`, `f:1: "alignment" is 2`},
		{"no list", `{"id":"1","failures":"M1"}`, `f:1: "failures" is a JSON string`},
		{"reference", `{"id":"1","reference":-1,"alignment":1}`, `f:1: "reference" is -1`},
		{"twice", `{"id":1,"system":"a","metric":"m","alignment":1}` + "\n" + `{"id":"1","system":"a","metric":"m","alignment":0}`,
			`f: segment "1", system "a" has feedback on a report of "m" twice`},
		{"none", "", "f: there is no row at all"},
	} {
		if _, err := NewFeedbackFile("f", strings.NewReader(test.rows)); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
}

// Feedback counts beside the report that it is on, once, and the rest is told.
func TestFeedbackCounts(t *testing.T) {
	f, err := NewFeedbackFile("f", strings.NewReader(`{"id":"1","system":"a","metric":"m","failures":[["M1"],["G2","M3"]]}
{"id":"2","system":"a","metric":"m","failures":[["M1"]]}
{"id":"3","system":"a","metric":"m","status":"malformed","failures":[],"alignment":null}
{"id":"4","system":"b","metric":"m","reference":0,"failures":[],"alignment":1}
{"id":"5","system":"b","metric":"m","failures":[],"alignment":1}
`))
	if err != nil {
		t.Fatal(err)
	}
	r := &Reports{Feedback: f}
	two := &analysis.Report{Outcome: analysis.Scored, Errors: make([]analysis.Error, 2)}
	none := &analysis.Report{Outcome: analysis.NoError}
	for _, of := range []struct {
		at     Place
		report *analysis.Report
	}{
		{Place{"1", "a", "m", nil}, two},
		{Place{"1", "a", "m", nil}, two},
		{Place{"2", "a", "m", nil}, two},
		{Place{"4", "b", "m", new(0)}, none},
		{Place{"5", "b", "m", new(0)}, none},
	} {
		if err := r.add(of.at, of.report, nil); err != nil {
			t.Fatal(err)
		}
	}
	a, b := r.Trust.Rows()[0], r.Trust.Rows()[1]
	want := map[analysis.Failure]int{analysis.M1: 1, analysis.M3: 1, analysis.G2: 1}
	if diff := cmp.Diff(want, a.Failures); diff != "" || a.ErrorsAsked != 2 || len(a.Alignments) != 1 || a.Alignments[0] != 3.0/8 {
		t.Errorf("%s%+v", diff, a)
	}
	if len(b.Alignments) != 1 || len(r.Trust.Total("m").Alignments) != 2 {
		t.Errorf("%+v", b)
	}
	var left []string
	for _, row := range f.Left() {
		left = append(left, row.ID)
	}
	if strings.Join(left, " ") != "2 5" {
		t.Errorf("left are %v", left)
	}
}
