package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/matrix"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics"
)

// aggregator is one run of refract aggregate.
type aggregator struct {
	settingFlags
	scoreView
	scope scopeFlag
}

func (e *env) aggregateCommand() *cobra.Command {
	a := &aggregator{}
	cmd := &cobra.Command{
		Use:   "aggregate MATRIX",
		Short: "Aggregate a stored matrix, without scoring again",
		Long: `Aggregate the cells that 'refract score --per cell' stored, without scoring again.

The score of a system is the mean over segments: only 'refract score' makes
corpus scores.`,
		Example: `  refract score jsonl:expanded.jsonl -m chrf --per cell -o matrix.parquet
  refract aggregate matrix.parquet -a single,max,mean,best:k=3`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(cmd.Context(), e, args[0]) },
	}
	a.registerAggregates(cmd, "single,max,mean, and native where it is stored")
	a.output.register(cmd)
	cmd.Flags().StringVar(&a.per, "per", "system", "segment or system")
	oneOf(cmd, "per", "segment", "system")
	a.scope.register(cmd)
	return cmd
}

func (a *aggregator) run(ctx context.Context, e *env, path string) error {
	if a.scope.Scope == refract.Pooled {
		return usagef("--system corpus: a matrix holds only scores of segments; 'refract score --system corpus' scores the corpus")
	}
	in, err := matrix.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := e.create(a.path)
	if err != nil {
		return err
	}
	var to *sink
	ended := map[int]int{} // segments, by metric
	for seg, err := range in.Segments(ctx) {
		if err != nil {
			return err
		}
		if to == nil { // what is in the matrix is known with its first segment
			eng, err := a.engine(e, in.Metrics())
			if err != nil {
				return err
			}
			if to, err = a.sink(eng, out, nil, false); err != nil {
				return err
			}
		}
		for k := range seg.Metrics {
			if slices.Contains(seg.Metrics[k].Status, metrics.Ended) {
				ended[k]++
			}
		}
		if err := to.add(seg); err != nil {
			return err
		}
	}
	failed := &refract.Incomplete{}
	for k, info := range in.Metrics() {
		if n := ended[k]; n > 0 {
			failed.Metrics = append(failed.Metrics, info.Name)
			failed.Errs = append(failed.Errs, fmt.Errorf("%s: did not score %s of the matrix; score them again", info.Name, english.Count(n, "segment")))
		}
	}
	if err := to.end(ctx, failed); err != nil || len(failed.Errs) == 0 {
		return err
	}
	if err := e.commit(); err != nil {
		return err
	}
	return failed // once what the others say is written
}

// engine crosses the metrics of a matrix with aggregators.
func (a *aggregator) engine(e *env, infos []matrix.Info) (*refract.Engine, error) {
	aggs, asked := a.aggregators, len(a.aggregators) > 0
	if !asked {
		aggs = aggregate.Default("single", "max", "mean", "native")
	}
	var order []metrics.Metric
	for _, info := range infos {
		m, err := matrix.NewMetric(info)
		if err != nil {
			return nil, err
		}
		order = append(order, m)
	}
	settings, err := cross(order, aggs, asked, func(m metrics.Metric) error {
		if info := m.(*matrix.Metric).Stored; !info.HasNative() {
			return fmt.Errorf("the matrix has no native scores of %s; store them with 'refract score --per cell -a native'", info.Name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	e.noteWorstReferences(settings)
	return refract.NewEngine(settings, refract.Options{Scope: refract.Averaged, Missing: a.missing})
}
