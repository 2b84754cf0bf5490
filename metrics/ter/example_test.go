package ter_test

import (
	"context"
	"fmt"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/ter"
)

func Example() {
	m := ter.New(ter.Options{Normalized: true})
	scores, err := m.Score(context.Background(), []metrics.Block{{
		Hypotheses: []string{"Yesterday we saw a heron.", "We saw yesterday heron"},
		References: []string{"We saw a heron yesterday."},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Info().Name)
	fmt.Println(m.Signature(metrics.Sentence))
	fmt.Printf("%.2f\n", scores[0].Values)
	// Output:
	// ter:normalized=yes
	// case:lc|tok:tercom|norm:yes|punct:yes|asian:no
	// [16.67 50.00]
}

// The corpus score of a system pools edits and lengths over the segments, and
// with several references takes the nearest one of each segment.
func ExampleMetric_CorpusScore() {
	m := ter.New(ter.Options{})
	w := m.NewWorkspace().(metrics.StatisticsWorkspace)
	sum := make([]float64, 2)
	for _, b := range []metrics.Block{
		{Hypotheses: []string{"a red door"}, References: []string{"the red door", "a door that is red"}},
		{Hypotheses: []string{"it rains"}, References: []string{"it rains"}},
	} {
		w.Load(b)
		for i, x := range w.NativeStatistics(nil, 0) {
			sum[i] += x
		}
	}
	fmt.Println("edits and words:", sum)
	fmt.Printf("TER: %.2f\n", m.CorpusScore(sum))
	// Output:
	// edits and words: [1 6]
	// TER: 16.67
}
