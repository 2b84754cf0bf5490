package correlate_test

import (
	"context"
	"fmt"
	"log"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

func ExampleKendall() {
	human := []float64{-5, -5, -1, 0, 0}
	metric := []float64{12.1, 20.4, 31.0, 28.5, 40.2}
	fmt.Printf("%.4f\n", correlate.Kendall(human, metric))
	// Output: 0.6708
}

func ExamplePairwiseAccuracy() {
	human := []float64{-1.2, -2.5, -4.0}  // systems A, B, C
	metric := []float64{33.1, 35.0, 27.8} // ranks B above A
	value, pairs := correlate.PairwiseAccuracy(human, metric)
	fmt.Printf("%.3f of %d pairs\n", value, pairs)
	// Output: 0.667 of 3 pairs
}

func ExampleMeasure() {
	p := correlate.NewPairs(2, 3)
	set := func(segment, system int, human, metric float64) {
		i := p.Index(segment, system)
		p.Gold[i], p.GoldOK[i] = human, true
		p.Metric[i], p.MetricOK[i] = metric, true
	}
	set(0, 0, -1, 40)
	set(0, 1, -5, 20)
	set(0, 2, 0, 35)
	set(1, 0, 0, 60)
	set(1, 1, -1, 55)
	// Nobody judged system 2 on segment 1, and the metric did not score it.

	res, err := correlate.Measure{Statistic: correlate.StatKendall, Grouping: correlate.BySegment}.Of(p)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("tau-b %.4f over %d segments, %d pairs\n", res.Value, res.Groups, res.N)
	// Output: tau-b 0.6667 over 2 segments, 5 pairs
}

func ExampleBootstrap() {
	p := correlate.NewPairs(100, 2)
	for i := range p.Gold {
		p.Gold[i], p.GoldOK[i] = float64(-(i * i % 7)), true
		p.Metric[i], p.MetricOK[i] = float64(100-i*i%11), true
	}
	b := correlate.Bootstrap{Resamples: 500, Seed: 1}
	_, values, err := b.Resample(context.Background(), correlate.Measure{Statistic: correlate.StatPearson}, p)
	if err != nil {
		log.Fatal(err)
	}
	interval := values.Interval(0.95)
	fmt.Println(interval.Low < interval.High, interval.Undefined)
	// Output: true 0
}
