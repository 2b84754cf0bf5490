package analysis_test

import (
	"fmt"

	"github.com/refract-eval/refract/metrics/analysis"
)

func ExampleReport_Locate() {
	texts := analysis.Texts{Hypothesis: "The red cat sleeps in the “big house”.", Source: "Der rote Hund schläft."}
	r := analysis.Report{Outcome: analysis.Scored, Errors: []analysis.Error{
		{Location: `"red cat" instead of "red dog"`},
		{Location: `Missing "now" before "sleeps"`},
		{Location: `the "Big House"`},
		{Location: `Hund`},
		{Location: `purple`},
		{Location: `N/A`},
	}}
	r.Locate(texts)
	for _, e := range r.Errors {
		fmt.Printf("%s: %s %q\n", e.Location, e.Place, string([]rune(texts.Hypothesis)[e.Span.Start:e.Span.End]))
	}
	// Output:
	// "red cat" instead of "red dog": hypothesis "red cat"
	// Missing "now" before "sleeps": hypothesis "sleeps"
	// the "Big House": approximate "the “big house"
	// Hund: source ""
	// purple: absent ""
	// N/A: none ""
}

func ExampleReport_Check() {
	three := 3
	texts := analysis.Texts{Hypothesis: "The red cat sleeps."}
	r := analysis.Report{Outcome: analysis.Scored, StatedErrors: &three, Errors: []analysis.Error{
		{Location: "red cat", Severity: analysis.Major, Penalty: new(1.0), Explanation: `The correct phrase should be "red cat".`},
		{Location: "blue", Severity: analysis.Minor, Penalty: new(6.0), Explanation: `The output uses "blue" instead of "red".`},
	}}
	r.Locate(texts)
	r.Check(texts, analysis.Rules{LowestPenalty: 0.5, HighestPenalty: 5})
	for _, p := range r.Problems {
		about := "report"
		if p.Error != nil {
			about = r.Errors[*p.Error].Location
		}
		fmt.Println(about, p.Code+":", p.Detail)
	}
	// Output:
	// report count: 3 errors are stated, 2 are listed
	// red cat correction: the suggested correction "red cat" already stands in the output
	// blue location: the location "blue" does not stand in the output
	// blue explanation: the explanation quotes "blue" as the output's, where it does not stand
	// blue penalty: the penalty 6 is not within 0.5 and 5
	// blue severity: a minor error of this report costs 6, more than a major one (1)
}
