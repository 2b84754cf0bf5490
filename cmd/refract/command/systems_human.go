package command

import (
	"context"
	"fmt"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/conclusions"
)

// judged estimates mean judgements of systems from few judged segments and all scores.
func (r *systemsRun) judged(ctx context.Context, e *env, args []string) error {
	if err := e.refuse("does nothing with --human: leave it out", func(k *known) bool { return k.notByHuman }); err != nil {
		return err
	}
	c := &comparison{
		scoringFlags: r.scoringFlags, dataset: experiment.Dataset{HumanLowerIsBetter: r.humanLower}, resampling: r.resampling,
		statistics: []correlate.Statistic{correlate.StatLabelsSaved}, levels: []correlate.Level{correlate.SegmentLevel}, groupings: []correlate.Grouping{correlate.None},
	}
	if !e.command.Flags().Changed("resamples") {
		c.Resamples = 1000
	}
	p, err := c.plan("", args)
	if err != nil {
		return err
	}
	if p.Preferred = !p.Strict; p.Preferred { // as in 'refract score'
		p.Aggregators = aggregate.Default("native", "max")
	}
	p.Labels = &experiment.Labels{Always: true, Against: r.baseline, Pairs: r.what == pairsTable}
	out, err := e.create(r.view.path)
	if err != nil {
		return err
	}
	return c.runner(e, args, p).show(ctx, func(res *experiment.Result) error {
		table, err := conclusions.Of(res).Table("labels")
		if err != nil {
			return err
		}
		for i := range res.Rows {
			row := &res.Rows[i]
			if row.Interval != nil {
				table.Note("%s: labels saved with many more segments than labels: %.3f [%.3f, %.3f]", row.Setting, float64(row.Value), float64(row.Interval.Low), float64(row.Interval.High))
			}
			table.Note("%s: %s", row.Setting, row.Signature)
		}
		c.describe(table, &res.Datasets[0])
		table.Notes = append(table.Notes, res.Notes...)
		if err := r.view.whole(out, table); err != nil {
			return fmt.Errorf("table: %w", err)
		}
		return nil
	})
}
