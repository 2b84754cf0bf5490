package refract_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
)

// memory is a dataset of segments in memory; package dataset reads files.
type memory []*refract.Segment

func (m memory) Segments(context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		for _, s := range m {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// Two systems are scored against two references; the second segment has only one.
// The score of a hypothesis is its score against the best reference.
func Example() {
	ds := memory{
		{
			ID:         "1",
			References: []refract.Text{refract.NewText("The bridge is closed."), refract.NewText("They have shut the bridge.")},
			Hypotheses: []refract.Hypothesis{
				{System: "a", Text: refract.NewText("They shut the bridge.")},
				{System: "b", Text: refract.NewText("The bridge closed is.")},
			},
		},
		{
			ID:         "2",
			References: []refract.Text{refract.NewText("Nobody knows why."), {}},
			Hypotheses: []refract.Hypothesis{
				{System: "a", Text: refract.NewText("Nobody knows why.")},
				{System: "b"}, // a missing output, which is not an empty one
			},
		},
	}
	m, err := bleu.New(bleu.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	best, err := aggregate.Parse("max")
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := refract.NewEngine([]refract.Setting{{Metric: m, Aggregator: best}}, refract.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	reducer := engine.Reducer()
	err = engine.Run(context.Background(), ds, func(s *refract.SegmentScores) error {
		for h, hyp := range s.Segment.Hypotheses {
			r, err := reducer.Reduce(s, 0, h)
			if err != nil {
				return err
			}
			fmt.Printf("segment %s, system %s: ", s.Segment.ID, hyp.System)
			if r.Status != metrics.Scored {
				fmt.Println(r.Status)
				continue
			}
			fmt.Printf("%.1f (references used %d, missing %d)\n", r.Value, r.References, r.Missing)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// segment 1, system a: 57.9 (references used 2, missing 0)
	// segment 1, system b: 26.9 (references used 2, missing 0)
	// segment 2, system a: 100.0 (references used 1, missing 1)
	// segment 2, system b: missing-hypothesis
}
