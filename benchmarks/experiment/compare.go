package experiment

import (
	"context"
	"fmt"
	"strconv"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/metrics"
)

// Compare measures how well metrics under each aggregator agree with the judgements of a dataset:
// Kendall's tau-b over the outputs of all segments and systems, with intervals of 95 % and a test of
// each metric's settings against each other, by 1,000 resamples. Another [Plan] asks for more.
func Compare(ctx context.Context, ds refract.Dataset, ms []metrics.Metric, over ...aggregate.Aggregator) (*Result, error) {
	p := &Plan{
		Datasets:    []Dataset{{Name: "segments", Spec: "segments"}},
		Sets:        []Set{{Name: "all", All: true}},
		Aggregators: over,
		Statistics:  []Statistic{{Measure: correlate.Measure{Statistic: correlate.StatKendall}}},
		Bootstrap:   Bootstrap{Resamples: 1000, Confidence: 0.95, Seed: 1},
		Test:        Test{Method: significance.MethodAuto, Resamples: 1000, Seed: 1},
	}
	for i := range ms {
		p.Metrics = append(p.Metrics, strconv.Itoa(i))
	}
	rr := &Runner{
		Open: func(Dataset) (refract.Dataset, error) { return ds, nil },
		Metric: func(_ context.Context, place string) (metrics.Metric, error) {
			i, err := strconv.Atoi(place)
			if err != nil {
				return nil, fmt.Errorf("metric %q: %w", place, err)
			}
			return ms[i], nil
		},
	}
	return rr.Run(ctx, p)
}
