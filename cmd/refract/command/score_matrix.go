package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/matrix"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics"
)

// storedRun is one run of refract score --matrix.
type storedRun struct {
	settingFlags
	scoreView
	per string
}

// ofMatrix is the run that the flags of refract score describe, of which most say how to score.
func (s *scoreRun) ofMatrix(flags *pflag.FlagSet, args []string) (*storedRun, error) {
	useful := []string{"matrix", "aggregate", "missing", "per", "system", "format", "output", "width", "verbose", "quiet", "progress", "config", "offline"}
	var other *pflag.Flag
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(useful, f.Name) {
			other = f
		}
	})
	switch {
	case len(args) > 0:
		return nil, usagef("--matrix %s holds the segments too: leave %s out", s.matrix, args[0])
	case other != nil:
		return nil, usagef("--%s says how to score, and --matrix takes the scores that are stored: leave one of them out", other.Name)
	case s.task.per != "system" && s.task.per != "segment":
		return nil, usagef("--matrix with --per %s: scores of a matrix are shown per segment or system", s.task.per)
	case s.scoring.scope.Scope == refract.Pooled:
		return nil, usagef("--system corpus: a matrix holds only scores of segments; without --matrix, 'refract score --system corpus' scores the corpus")
	}
	return &storedRun{settingFlags: s.scoring.settingFlags, scoreView: s.view, per: s.task.per}, nil
}

// run aggregates the stored cells. The score of a system is the mean over segments.
func (s *storedRun) run(ctx context.Context, e *env, path string) error {
	in, err := matrix.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := e.create(s.path)
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
			eng, err := s.engine(e, in.Metrics())
			if err != nil {
				return err
			}
			if to, err = s.sink(s.per, eng, out, nil, false); err != nil {
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
	return failed // after the scores of the other metrics are written
}

// engine crosses the metrics of a matrix with aggregators.
func (s *storedRun) engine(e *env, infos []matrix.Info) (*refract.Engine, error) {
	aggs, asked := s.aggregators, len(s.aggregators) > 0
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
	return refract.NewEngine(settings, refract.Options{Scope: refract.Averaged, Missing: s.missing})
}
