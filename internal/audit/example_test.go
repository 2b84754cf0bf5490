package audit_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/refract-eval/refract/internal/answer"
	"github.com/refract-eval/refract/internal/audit"
	"github.com/refract-eval/refract/metrics/judge"
)

// Answers that were made elsewhere become rows with a score and errors.
func ExampleReading() {
	parser, err := answer.New(answer.Spec{Kind: answer.Number})
	if err != nil {
		panic(err)
	}
	zero, err := judge.ParsePolicy("zero")
	if err != nil {
		panic(err)
	}
	reading := audit.Reading{Metric: "mine", Parser: parser, Policy: zero}
	sum, err := reading.Copy(context.Background(), os.Stdout, "answers.jsonl", strings.NewReader(`{"id": 1, "output": "85"}
{"id": 2, "output": "It is good."}
{"id": 3, "output": null}
`))
	if err != nil {
		panic(err)
	}
	all := sum.Trust.Total("mine")
	fmt.Printf("%d of %d have a score, %d count as 0\n", all.WithScore(), all.Reports, sum.Substituted)
	// Output:
	// {"line":1,"id":1,"metric":"mine","status":"scored","score":85,"errors":[],"raw":"85"}
	// {"line":2,"id":2,"metric":"mine","status":"unparseable","score":0,"errors":[],"detail":"the answer does not start with a number","raw":"It is good.","substituted":"zero"}
	// {"line":3,"id":3,"metric":"mine","status":"missing","score":null,"errors":[],"detail":"there is no answer"}
	// 1 of 3 have a score, 1 count as 0
}
