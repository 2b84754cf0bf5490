package answer_test

import (
	"fmt"

	"github.com/refract-eval/refract/internal/answer"
)

func ExampleNew() {
	p, err := answer.New(answer.Spec{Kind: answer.InstructScore})
	if err != nil {
		panic(err)
	}
	for _, text := range []string{
		"Your Translation contains 1 error:\nError type 1: Terminology\nMajor/minor: Major\nError location 1: \"the boat\"\nExplanation for error 1: It is a ship.",
		"Your Translation contains no error.",
		"I think it is fine.",
	} {
		r := p.Parse(text)
		if r.Score == nil {
			fmt.Println(r.Outcome+":", r.Detail)
			continue
		}
		fmt.Println(r.Outcome, *r.Score)
		for _, e := range r.Errors {
			fmt.Println("-", e.Severity, e.Aspect, "in", e.Location)
		}
	}
	// Output:
	// scored -5
	// - major Terminology in the boat
	// no-error 0
	// unparseable: the answer does not start with the number of its errors
}

func ExampleSpec_Schema() {
	fmt.Println(string(answer.Spec{Kind: answer.JSON, Path: "score", Integer: true}.Schema()))
	// Output: {"additionalProperties":false,"properties":{"score":{"type":"integer"}},"required":["score"],"type":"object"}
}
