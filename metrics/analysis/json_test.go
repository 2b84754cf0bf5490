package analysis_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/metrics/analysis"
)

func TestMarshalJSON(t *testing.T) {
	texts := analysis.Texts{Hypothesis: "Ein Hund & <eine> Katze."}
	for _, c := range []struct {
		report analysis.Report
		want   string
	}{
		{analysis.Report{Outcome: analysis.NoError, Score: new(0.0)}, `{"status":"no-error","score":0,"errors":[]}`},
		{analysis.Report{Outcome: analysis.Unparseable, Raw: new("x"), Detail: "why"},
			`{"status":"unparseable","score":null,"errors":[],"detail":"why","raw":"x"}`},
		{analysis.Report{Outcome: analysis.Missing}, `{"status":"missing","score":null,"errors":[]}`},
		{analysis.Report{Outcome: analysis.Scored, Score: new(-1.0), StatedErrors: ptr(2), StatedTotal: ptr(0.0), Flags: []string{"control"}, Raw: new(""), Errors: []analysis.Error{
			{Location: "& <eine>", Aspect: "A", Dimension: "D", Severity: analysis.Minor, Explanation: "E", Penalty: new(1.0)}}},
			`{"status":"scored","score":-1,"errors":[{"location":"& <eine>","place":"hypothesis","span":[9,17],"aspect":"A","dimension":"D","severity":"minor","explanation":"E","penalty":1}],` +
				`"stated_errors":2,"stated_total":0,"problems":[{"code":"count","detail":"the answer states 2 errors, and lists 1"},{"code":"total","detail":"a total of 0 is stated, the penalties sum to 1"}],"flags":["control"],"raw":""}`},
		{analysis.Report{Outcome: analysis.Scored, Score: new(0.0), Errors: []analysis.Error{{Location: "Maus"}}},
			`{"status":"scored","score":0,"errors":[{"location":"Maus","place":"absent","span":null,"aspect":"","severity":"","explanation":"","penalty":null}],` +
				`"problems":[{"code":"location","error":0,"detail":"the location \"Maus\" does not stand in the output"}]}`},
	} {
		c.report.Locate(texts)
		c.report.Check(texts, analysis.Rules{})
		got, err := c.report.MarshalJSON()
		assert.True(t, err == nil && string(got) == c.want, "%s\n%v, want\n%s", got, err, c.want)
	}
	_, err := json.Marshal(&analysis.Report{Outcome: analysis.Scored, Score: new(math.NaN())})
	assert.Error(t, err, "NaN was written")
}

func TestUnmarshalJSONRefuses(t *testing.T) {
	for _, s := range []string{
		`{}`, `[]`, `{"status":"fine","score":1}`,
		`{"status":"scored"}`, `{"status":"scored","score":null}`, `{"status":"missing","score":0}`,
		`{"status":"scored","score":0,"errors":[{"place":"hypothesis"}]}`,
		`{"status":"scored","score":0,"errors":[{"place":"absent","span":[0,1]}]}`,
		`{"status":"scored","score":0,"errors":[{"place":"hypothesis","span":[2,1]}]}`,
		`{"status":"scored","score":0,"errors":[{"place":"hypothesis","span":[-1,1]}]}`,
		`{"status":"scored","score":0,"errors":[],"problems":[{"code":"location","error":0}]}`,
		`{"status":"scored","score":"0"}`, `{"status":"missing","parts":[null]}`, `{"status":"missing","parts":[{}]}`,
	} {
		var r analysis.Report
		assert.Error(t, json.Unmarshal([]byte(s), &r), "%s was read", s)
	}
	var r analysis.Report
	err := json.Unmarshal([]byte(`{"line":3,"status":"blocked","score":null,"errors":null}`), &r)
	assert.True(t, err == nil && r.Outcome == analysis.Blocked, "%v %v", err, r)
}
