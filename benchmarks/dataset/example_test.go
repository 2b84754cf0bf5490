package dataset_test

import (
	"context"
	"fmt"

	"github.com/refract-eval/refract/benchmarks/dataset"
)

func ExampleOpen() {
	ds, err := dataset.Open("jsonl:testdata/example.jsonl", dataset.Options{
		Warn: func(w dataset.Warning) { fmt.Println("warning:", w) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for s, err := range ds.Segments(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %d references, %d systems, %d judgements\n", s.ID, s.NumReferences(), len(s.Hypotheses), len(s.Judgements))
	}
	// Output:
	// ferry: 3 references, 2 systems, 2 judgements
	// market: 1 references, 2 systems, 1 judgements
	// warning: testdata/example.jsonl: system "literal" has no text for 1 of 2 segments (ids "market")
}

func ExampleWithReferences() {
	ds, err := dataset.OpenLines(dataset.LinesSpec{
		References: []string{"testdata/reference.txt"},
		Hypotheses: []dataset.NamedFile{{Name: "fluent", Path: "testdata/fluent.txt"}},
	}, dataset.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ds, err = dataset.WithReferences(ds, "div-ref:testdata/variants.txt", dataset.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for s, err := range ds.Segments(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, v := range s.Variants {
			fmt.Printf("%s %s: %s\n", s.ID, v.Prompt, v.Text.Value)
		}
	}
	// Output:
	// 1 column1: At noon the ferry leaves.
	// 1 column2: The ferry left at noon.
	// 2 column1: On Sundays the market's shut.
	// 2 column2: The market was closed on Sundays.
}
