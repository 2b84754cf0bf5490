package bleu_test

import (
	"context"
	"fmt"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
)

// Two translations against two references: one score per pair.
func Example() {
	m, err := bleu.New(bleu.Options{Tokenize: "intl"})
	if err != nil {
		fmt.Println(err)
		return
	}
	scores, err := m.Score(context.Background(), []metrics.Block{{
		Hypotheses: []string{"The bridge is closed on Monday.", "Bridge Monday closed."},
		References: []string{"The bridge is closed on Mondays.", "On Monday, the bridge is closed."},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n%s\n", scores[0].Values, m.Signature(metrics.Sentence))
	// Output:
	// [64.35 24.08 8.97 13.01]
	// case:mixed|eff:yes|tok:intl|smooth:exp
}

// A corpus is scored by the sum of its sentences' statistics.
func ExampleMetric_CorpusScore() {
	m, err := bleu.New(bleu.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	w := m.NewWorkspace().(metrics.StatisticsWorkspace)
	var sum []float64
	for _, b := range []metrics.Block{
		{Hypotheses: []string{"It rains."}, References: []string{"It is raining.", "It rains."}},
		{Hypotheses: []string{"We stay at home today."}, References: []string{"Today we stay at home."}},
	} {
		w.Load(b)
		statistics := w.NativeStatistics(nil, 0)
		if sum == nil {
			sum = make([]float64, len(statistics))
		}
		for i, v := range statistics {
			sum[i] += v
		}
	}
	fmt.Printf("%.2f\n", m.CorpusScore(sum))
	// Output: 41.49
}
