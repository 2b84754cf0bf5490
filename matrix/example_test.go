package matrix_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/matrix"
	"github.com/refract-eval/refract/metrics"
)

func ExampleWriteSegment() {
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
	if err := matrix.WriteSegment(w, scores, infos); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"id":"doc1:1","system":"alpha","metric":"bleu","aggregate":null,"reference":0,"references":1,"score":59.5,"status":"scored","direction":"higher","signature":"nrefs:1|tok:13a"}
	// {"id":"doc1:1","system":"alpha","metric":"bleu","aggregate":null,"reference":1,"references":1,"score":null,"status":"missing-reference","direction":"higher","signature":"nrefs:1|tok:13a"}
}

func ExampleReader_Segments() {
	const file = `{"id":"1","system":"alpha","metric":"bleu","aggregate":null,"reference":0,"references":1,"score":59.5,"status":"scored","direction":"higher","signature":"s"}
{"id":"1","system":"alpha","metric":"bleu","aggregate":null,"reference":1,"references":1,"score":70.25,"status":"scored","direction":"higher","signature":"s"}
`
	r := matrix.NewJSONLReader(strings.NewReader(file), "scores.jsonl")
	defer r.Close()
	for s, err := range r.Segments(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		for k, info := range r.Metrics() {
			m := s.Metrics[k]
			for h, hyp := range s.Segment.Hypotheses {
				row := m.Values[h*m.Columns : (h+1)*m.Columns]
				fmt.Printf("%s %s %s: best of %d is %g\n", s.Segment.ID, hyp.System, info.Name, len(row), slices.Max(row))
			}
		}
	}
	// Output:
	// 1 alpha bleu: best of 2 is 70.25
}
