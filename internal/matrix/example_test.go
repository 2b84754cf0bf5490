package matrix_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/matrix"
	"github.com/refract-eval/refract/metrics"
)

func ExampleWriter_WriteSegment() {
	infos := []matrix.Info{{
		Name: "bleu", Direction: metrics.HigherIsBetter, NeedsReferences: true, CellSignature: "nrefs:1|tok:13a",
	}}
	scores := &refract.SegmentScores{
		Segment: &refract.Segment{
			ID:         "doc1:1",
			References: []refract.Text{refract.NewText("A dog runs."), {}},
			Hypotheses: []refract.Hypothesis{{System: "alpha", Text: refract.NewText("The dog runs.")}},
		},
		Metrics: []refract.MetricScores{{
			Columns: 2,
			Values:  []float64{59.5, 0},
			Status:  []metrics.Status{metrics.Scored, metrics.MissingReference},
		}},
	}
	w := matrix.NewJSONLWriter(os.Stdout)
	if err := w.WriteSegment(scores, infos); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"id":"doc1:1","system":"alpha","metric":"bleu","aggregate":null,"reference":0,"references":1,"score":59.5,"status":"scored","direction":"higher","signature":"nrefs:1|tok:13a","output_hash":"05245bbd4ccda82d","reference_hash":"a1596c5fbfde232b"}
	// {"id":"doc1:1","system":"alpha","metric":"bleu","aggregate":null,"reference":1,"references":1,"score":null,"status":"missing-reference","direction":"higher","signature":"nrefs:1|tok:13a","output_hash":"05245bbd4ccda82d","reference_hash":null}
	// {"sha256":"df33cad1e1bffd3f5e040c2c8f206b1aa5da466665b4ed15c04eee7bdecebae4"}
}

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
