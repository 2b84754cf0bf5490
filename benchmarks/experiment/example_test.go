package experiment_test

import (
	"context"
	"fmt"
	"log"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
	"github.com/refract-eval/refract/metrics/chrf"
)

// ratio is the length of the shorter text divided by that of the longer one.
func ratio(hypothesis, reference string) float64 {
	h, r := float64(len(hypothesis)+1), float64(len(reference)+1)
	return min(h, r) / max(h, r)
}

// A folder of mt-metrics-eval is scored with BLEU and with a custom metric, by the best of
// two references, and compared with human judgements.
func Example() {
	own := metrics.Func(metrics.Info{Name: "ratio", NeedsReferences: true, Direction: metrics.HigherIsBetter, Upper: 1}, ratio)
	runner := &experiment.Runner{Metric: metrics.Registry{bleu.Factory(), metrics.Made(own)}.Parse}
	result, err := runner.Run(context.Background(), &experiment.Plan{
		Datasets:    []experiment.Dataset{{Spec: "mtme:testdata/wmt22/zh-en", References: []string{"refA", "refB"}}},
		Sets:        []experiment.Set{{Name: "all", All: true}},
		Metrics:     []string{"bleu", "ratio"},
		Aggregators: []aggregate.Aggregator{aggregate.Max},
		Statistics:  []experiment.Statistic{{Measure: correlate.Measure{Statistic: correlate.StatKendall}}},
		Bootstrap:   experiment.Bootstrap{Resamples: 1000, Confidence: 0.95, Seed: 1},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range result.Rows {
		fmt.Printf("%-5s tau-b %+.3f [%+.3f, %+.3f], n = %d\n", r.Setting.Metric, r.Value, r.Interval.Low, r.Interval.High, r.N)
	}
	// Output:
	// bleu  tau-b +0.909 [+0.909, +1.000], n = 8
	// ratio tau-b +0.741 [+0.667, +1.000], n = 8
}

// The agreement of chrF with human judgements, by the first and by the best of two references.
func ExampleCompare() {
	var segments refract.InMemory
	for i, text := range []string{"the bridge is closed", "nobody knows why at all", "we went home", "a long way to go"} {
		segments = append(segments, &refract.Segment{
			ID: fmt.Sprint(i), References: refract.Texts(text, "so they say"),
			Hypotheses: refract.Outputs(map[string]string{"good": text, "bad": "they say"}),
			Judgements: []refract.Judgement{{Name: "mqm", System: "good", Score: -1, Valid: true}, {Name: "mqm", System: "bad", Score: -5, Valid: true}},
		})
	}
	result, err := experiment.Compare(context.Background(), segments, []metrics.Metric{chrf.Default()}, aggregate.Single, aggregate.Max)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range result.Rows {
		fmt.Printf("%s tau-b %.3f\n", r.Setting, r.Value)
	}
	d := result.Differences[0]
	fmt.Printf("%s − %s: %.3f, p = %.3f\n", d.A, d.B, d.Value, d.P)
	// Output:
	// chrf single all tau-b 0.853
	// chrf max all tau-b 1.000
	// chrf max all − chrf single all: 0.147, p = 0.146
}
