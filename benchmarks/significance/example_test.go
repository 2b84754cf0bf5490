package significance_test

import (
	"context"
	"fmt"
	"log"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/significance"
)

func ExampleMatrix() {
	// Three metrics on 40 segments of 3 systems: one close to the human scores, one with some
	// noise, one without any relation.
	var tables []*correlate.Pairs
	for _, noise := range []int{1, 3, 40} {
		p := correlate.NewPairs(40, 3)
		for i := range p.Gold {
			p.Gold[i], p.GoldOK[i] = float64(-(i * i % 11)), true
			p.Metric[i], p.MetricOK[i] = p.Gold[i]+float64(noise*(i*37%19))/4, true
		}
		tables = append(tables, p)
	}
	kendall := correlate.Measure{Statistic: correlate.StatKendall}
	o := significance.Options{Resamples: 1000, Block: 100, Seed: 1}
	c, err := significance.Matrix(context.Background(), significance.MethodPermBoth, tables, kendall, 0.05, o)
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range c.Order {
		fmt.Printf("metric %d: tau-b %.3f, rank %d\n", k, c.Values[k], c.Ranks[k])
	}
	// Output:
	// metric 0: tau-b 0.739, rank 1
	// metric 1: tau-b 0.394, rank 2
	// metric 2: tau-b 0.047, rank 3
}

func ExampleHolm() {
	fmt.Println(significance.Holm([]float64{0.01, 0.04, 0.3}))
	// Output: [0.03 0.08 0.3]
}

func ExampleSystems_Compare() {
	// Edits and lengths of 60 segments of three systems; the last one makes fewer edits.
	s := &significance.Systems{
		Statistics:    make([][][]float64, 3),
		Score:         func(sums []float64, _ int) float64 { return 100 * sums[0] / sums[1] },
		LowerIsBetter: true,
	}
	for i := range 60 {
		for system, edits := range []int{4 + i*7%5, 4 + i*3%5, 3 + i*5%4} {
			s.Statistics[system] = append(s.Statistics[system], []float64{float64(edits), 20})
		}
	}
	o := significance.SystemOptions{Test: significance.PairedBootstrap, Seed: 12345, Alpha: 0.05, Baseline: 0}
	c, err := s.Compare(context.Background(), o)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range c.Pairs {
		fmt.Printf("system %d: rank %d, %+.1f, p = %.3f\n", p.A, c.Systems[p.A].Rank, p.Delta, p.P)
	}
	// Output:
	// system 1: rank 2, +0.0, p = 0.429
	// system 2: rank 1, -7.5, p = 0.001
}
