package refract_test

import (
	"context"
	"fmt"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/chrf"
)

// Two systems are scored against two references, and the best one of each output counts.
func ExampleScore() {
	segments := refract.InMemory{
		{ID: "1", References: refract.Texts("The bridge is closed.", "They have shut the bridge."),
			Hypotheses: refract.Outputs(map[string]string{"a": "They shut the bridge.", "b": "The bridge closed is."})},
		{ID: "2", References: refract.Texts("Nobody knows why."),
			Hypotheses: []refract.Hypothesis{{System: "a", Text: refract.NewText("Nobody knows.")}, {System: "b"}}}, // b is missing
	}
	scores, err := refract.Score(context.Background(), segments, refract.Setting{Metric: chrf.Default(), Aggregator: aggregate.Max})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f %.2f\n", scores.Systems["a"], scores.Segments[0].Systems["a"])
	fmt.Println(scores.Segments[1].Systems["b"], scores.Segments[1].Status["b"])
	fmt.Println(scores.Signature)
	// Output:
	// 70.72 69.45
	// NaN missing-hypothesis
	// nrefs:var|case:mixed|eff:yes|nc:6|nw:0|space:no|agg:max|system:mean|set:737eb6a07dc5|version:0.1.0
}

// A function of two texts is a metric like the built-in ones.
func ExampleScore_metric() {
	shorter := metrics.Func(metrics.Info{Name: "shorter", NeedsReferences: true, Upper: 1}, func(hypothesis, reference string) float64 {
		return float64(min(len(hypothesis), len(reference))) / float64(max(len(hypothesis), len(reference), 1))
	})
	segments := refract.InMemory{{ID: "1", References: refract.Texts("a bee", "a honey bee"), Hypotheses: refract.Outputs(map[string]string{"mine": "honey bee"})}}
	scores, err := refract.Score(context.Background(), segments, refract.Setting{Metric: shorter, Aggregator: aggregate.Mean})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", scores.Systems["mine"])
	// Output:
	// 0.687
}

func ExampleIdentity() {
	text := refract.NewText
	expanded := &refract.Segment{ID: "1", References: []refract.Text{text("It is closed.")}, Variants: []refract.Variant{{Prompt: "tone", Text: text("It's shut.")}}}
	// A text file states neither ids nor which references are variants.
	lines := &refract.Segment{ID: "line 1", References: []refract.Text{text("It is closed."), text("It's shut.")}}

	for _, s := range []*refract.Segment{expanded, lines} {
		id := refract.NewIdentity()
		id.Add(s)
		fmt.Println(id.Name())
	}
	// Output:
	// f37de1682cf7
	// f37de1682cf7
}
