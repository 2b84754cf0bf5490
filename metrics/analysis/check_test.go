package analysis_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/metrics/analysis"
)

func ptr[T any](x T) *T { return &x }

// codes lists the problems of a report, as "code" or "code@error".
func codes(r *analysis.Report) string {
	var out []string
	for _, p := range r.Problems {
		s := p.Code
		if p.Error != nil {
			s += fmt.Sprintf("@%d", *p.Error)
		}
		if p.Detail == "" {
			s += " without detail"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestCheckNumbers(t *testing.T) {
	e := func(severity analysis.Severity, penalty float64) analysis.Error {
		return analysis.Error{Severity: severity, Penalty: &penalty}
	}
	instruct := analysis.Rules{Weights: map[analysis.Severity]float64{analysis.Major: 5, analysis.Minor: 1}}
	tiger := analysis.Rules{LowestPenalty: 0.5, HighestPenalty: 5}
	for _, c := range []struct {
		name   string
		report analysis.Report
		rules  analysis.Rules
		want   string
	}{
		{"nothing stated", analysis.Report{Errors: []analysis.Error{e("", 2)}}, analysis.Rules{}, ""},
		{"in order", analysis.Report{StatedErrors: ptr(2), StatedTotal: ptr(0.3), Errors: []analysis.Error{e("", 0.1), e("", 0.2)}}, analysis.Rules{}, ""},
		{"count", analysis.Report{StatedErrors: ptr(3), Errors: []analysis.Error{e("", 1)}}, tiger, "count"},
		{"total", analysis.Report{StatedErrors: ptr(1), StatedTotal: ptr(4.0), Errors: []analysis.Error{e("", 1)}}, tiger, "total"},
		{"a total and an unknown penalty", analysis.Report{StatedTotal: ptr(4.0), Errors: []analysis.Error{{}}}, tiger, ""},
		{"range", analysis.Report{Errors: []analysis.Error{e("", 0.5), e("", 5), e("", 0.4), e("", 7)}}, tiger, "penalty@2 penalty@3"},
		{"not a penalty", analysis.Report{Errors: []analysis.Error{e("", -1), e("", math.NaN())}}, analysis.Rules{}, "penalty@0 penalty@1"},
		{"weights", analysis.Report{Errors: []analysis.Error{e("major", 5), e("minor", 5), e("minor", 1), e("", 3)}}, instruct, "severity@1"},
		{"minor above major", analysis.Report{Errors: []analysis.Error{e("minor", 2), e("major", 1), e("major", 4)}}, tiger, "severity@0"},
		{"without a score", analysis.Report{Outcome: analysis.Unparseable, StatedErrors: ptr(3)}, tiger, ""},
	} {
		if c.report.Outcome == "" {
			c.report.Outcome = analysis.Scored
		}
		c.report.Check(analysis.Texts{}, c.rules)
		assert.Equal(t, c.want, codes(&c.report), c.name)
	}
}

func TestCheckTexts(t *testing.T) {
	texts := analysis.Texts{
		Hypothesis: "The old bridge was closed for a week, so the bus took the long road.",
		Reference:  "The ancient bridge was shut for seven days and buses went the long way.",
		Source:     "Die alte Brücke war eine Woche lang gesperrt.",
	}
	for _, c := range []struct{ location, explanation, want string }{
		// M3.
		{"the young bridge", "", "location@0"},
		{"Brücke", "", ""},
		{"N/A", "", ""},
		// M4: quotations that are said to be the output's.
		{"old bridge", `The incorrect translation uses "old bridge" instead of "ancient bridge".`, ""},
		{"old bridge", `The incorrect translation uses "antique bridge" instead of "ancient bridge".`, "explanation@0"},
		{"old bridge", `The phrase "shut for seven days" is awkward.`, "explanation@0"},
		{"old bridge", `The use of "Old Bridge" is informal.`, ""},
		{"old bridge", `The output adds the word "red" before the bridge.`, "explanation@0"},
		// Quotations that are not.
		{"old bridge", `The correct translation uses "antique bridge".`, ""},
		{"old bridge", `The phrase "antique bridge" is missing.`, ""},
		{"old bridge", `The phrase should be "antique bridge".`, ""},
		{"old bridge", `The translation adds the idea of "age" to it.`, ""},
		{"old bridge", `The translation of "alte Brücke" as "antique bridge" is wrong.`, ""},
		// G1: corrections that the output already has.
		{"old bridge", `The incorrect translation uses "old bridge" instead of "old bridge".`, "correction@0"},
		{"old bridge", `The correct phrase should be "old bridge".`, "correction@0"},
		{"took the long", `It should be "took the long road" instead.`, "correction@0"},
		{"young bridge", `It should be "old bridge".`, "location@0 correction@0"},
		{"bus", `The translation omits "for a week".`, "correction@0"},
		{"bus", `The word "the" is missing before "bus".`, "correction@0"},
		{"bus", `The incorrect translation omits the word "long" before "road".`, "correction@0"},
		// Real corrections.
		{"old bridge", `The incorrect translation uses "old bridge" instead of "Old bridge".`, ""},
		{"the old bridge", `The phrase "The old bridge" should be "old bridge".`, ""},
		{"the bus", `It should be "the road".`, ""},
		{"bus", `The word "the" is missing before "week".`, ""},
		{"bus", `The incorrect translation omits the word "the".`, ""},
		{"bus", `The phrase "the bus" is missing an adjective.`, ""},
		{"bus", `The correct translation omits "for a week".`, ""},
	} {
		r := analysis.Report{Outcome: analysis.Scored, Errors: []analysis.Error{{Location: c.location, Explanation: c.explanation}}}
		r.Locate(texts)
		r.Check(texts, analysis.Rules{})
		assert.Equal(t, c.want, codes(&r), "%s: %s", c.location, c.explanation)
	}
}

func TestCheckRepeated(t *testing.T) {
	texts := analysis.Texts{Hypothesis: "The old bridge was closed for a week."}
	r := analysis.Report{Outcome: analysis.Scored, Errors: []analysis.Error{
		{Location: "old bridge", Aspect: "Style", Explanation: "It is odd."},
		{Location: "Old bridge.", Aspect: "style", Explanation: "It is very odd."},
		{Location: "old bridge", Aspect: "Accuracy", Explanation: "It is odd."},
		{Location: "old bridge", Aspect: "Grammar", Explanation: "It has no article."},
		{Location: "N/A", Aspect: "C"},
		{Location: "N/A", Aspect: "C"},
	}}
	r.Locate(texts)
	r.Check(texts, analysis.Rules{})
	assert.Equal(t, "repeated@1 repeated@2", codes(&r))
}

// Without a hypothesis, only the numbers are checked.
func TestCheckUnlocated(t *testing.T) {
	r := analysis.Report{Outcome: analysis.Scored, StatedErrors: ptr(2), Errors: []analysis.Error{
		{Location: "nowhere", Explanation: `The output uses "nothing".`},
	}}
	r.Check(analysis.Texts{}, analysis.Rules{})
	assert.Equal(t, "count", codes(&r))
}
