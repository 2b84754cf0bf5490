package matrix_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/refract-eval/refract/internal/matrix"
)

func ExampleReader_Segments() {
	r, err := matrix.Open("testdata/matrix.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for s, err := range r.Segments(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		m := s.Metrics[0]
		for h, hyp := range s.Segment.Hypotheses {
			row := m.Values[h*m.Columns : (h+1)*m.Columns]
			fmt.Printf("%s, %s, %s: best of %d is %g\n", s.Segment.ID, hyp.System, r.Metrics()[0].Name, len(row), slices.Max(row))
		}
	}
	// Output:
	// a, émile <1>, bleu:tokenize=intl: best of 3 is 12.5
	// a, B, bleu:tokenize=intl: best of 3 is 0
	// b, B, bleu:tokenize=intl: best of 1 is 0
	// no references, B, bleu:tokenize=intl: best of 1 is 0
}
