package demo_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/demo"
)

// The sample is read like any other dataset.
func ExampleSample() {
	ds, err := dataset.Open("jsonl:-", dataset.Options{Stdin: bytes.NewReader(demo.Sample())})
	if err != nil {
		fmt.Println(err)
		return
	}
	segments, hypotheses, judgements := 0, 0, 0
	for s, err := range ds.Segments(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		segments++
		hypotheses += len(s.Hypotheses)
		judgements += len(s.Judgements)
	}
	fmt.Println(segments, "segments,", hypotheses, "hypotheses,", judgements, "judgements")
	// Output: 44 segments, 176 hypotheses, 176 judgements
}
