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
