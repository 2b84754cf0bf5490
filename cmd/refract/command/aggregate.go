package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/matrix"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/report"
)

// aggregator is one run of refract aggregate.
type aggregator struct {
	settingFlags
	output
	per string
}

func (e *env) aggregateCommand() *cobra.Command {
	a := &aggregator{}
	cmd := &cobra.Command{
		Use:   "aggregate MATRIX",
		Short: "Aggregate a stored matrix, without scoring again",
		Long: `Aggregate the cells that 'refract score --per cell -o MATRIX' stored, in JSON
Lines or Parquet. The score of a system is the mean over segments: a matrix
holds no corpus statistics.`,
		Example: `  refract aggregate matrix.parquet -a single,max,mean,softmax:t=5
  refract aggregate matrix.jsonl -a best:k=3 --per segment -f jsonl`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(cmd.Context(), e, args[0]) },
	}
	a.registerAggregates(cmd, "single,max,mean, and native where it is stored")
	a.output.register(cmd)
	cmd.Flags().StringVar(&a.per, "per", "system", "segment or system")
	complete(cmd, "per", "segment", "system")
	return cmd
}

func (a *aggregator) run(ctx context.Context, e *env, path string) error {
	if a.per != "system" && a.per != "segment" {
		return usagef("--per %q: want segment or system", a.per)
	}
	aggs, asked := a.aggregators, len(a.aggregators) > 0
	if !asked {
		aggs = aggregators("single", "max", "mean", "native")
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
	return a.reduce(ctx, in, aggs, asked, out)
}

// reduce streams the matrix. What is in it is known with its first segment.
func (a *aggregator) reduce(ctx context.Context, in *matrix.Reader, aggs []aggregate.Aggregator, asked bool, out *atomicfile.File) error {
	var add func(*refract.SegmentScores) error
	var finish func() error
	for seg, err := range in.Segments(ctx) {
		if err != nil {
			return err
		}
		if add == nil {
			settings, err := storedSettings(in.Metrics(), aggs, asked)
			if err != nil {
				return err
			}
			eng, err := refract.NewEngine(settings, refract.Options{Scope: refract.Averaged, Missing: a.missing})
			if err != nil {
				return err
			}
			if add, finish, err = a.sinkOf(eng, out); err != nil {
				return err
			}
		}
		if err := add(seg); err != nil {
			return err
		}
	}
	return finish()
}

func (a *aggregator) sinkOf(eng *refract.Engine, out *atomicfile.File) (add func(*refract.SegmentScores) error, finish func() error, err error) {
	if a.per == "segment" {
		w, err := a.table(out, segmentColumns(), report.Options{})
		if err != nil {
			return nil, nil, err
		}
		rows := newSegmentRows(w, eng, "")
		return rows.write, w.Close, nil
	}
	acc := eng.Systems()
	return acc.Add, func() error { return newSystemScores(acc, eng.Settings()).write(&a.output, out) }, nil
}

// storedSettings crosses the metrics of a matrix with aggregators.
func storedSettings(infos []matrix.Info, aggs []aggregate.Aggregator, asked bool) ([]refract.Setting, error) {
	var order []metrics.Metric
	for _, info := range infos {
		m, err := matrix.NewMetric(info)
		if err != nil {
			return nil, err
		}
		order = append(order, m)
	}
	return cross(order, aggs, asked, func(m metrics.Metric) error {
		if info := m.(*matrix.Metric).Stored; !info.HasNative() {
			return fmt.Errorf("the matrix has no native scores of %s; they are stored by 'refract score --per cell -a native'", info.Name)
		}
		return nil
	})
}
