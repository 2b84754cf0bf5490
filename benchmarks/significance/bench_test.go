package significance

import (
	"testing"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

func BenchmarkPermBoth(b *testing.B) {
	tables := simulated(1875, 14, 8, 8.1)
	for _, c := range []struct {
		name string
		m    correlate.Measure
	}{
		{"kendall", correlate.Measure{Statistic: correlate.StatKendall}},
		{"kendall by segment", correlate.Measure{Statistic: correlate.StatKendall, Grouping: correlate.BySegment}},
		{"kendall by system", correlate.Measure{Statistic: correlate.StatKendall, Grouping: correlate.BySystem}},
		{"pearson", correlate.Measure{Statistic: correlate.StatPearson}},
		{"spearman", correlate.Measure{Statistic: correlate.StatSpearman}},
		{"acc23 by segment", correlate.Measure{Statistic: correlate.StatAcc23, Grouping: correlate.BySegment}},
	} {
		b.Run(c.name, func(b *testing.B) {
			if _, err := Compare(b.Context(), MethodPermBoth, tables[0], tables[1], c.m, Options{Resamples: b.N, Seed: 1}); err != nil {
				b.Fatal(err)
			}
		})
	}
}
