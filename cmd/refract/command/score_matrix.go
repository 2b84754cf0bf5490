package command

import (
	"context"
	"fmt"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/matrix"
	"github.com/refract-eval/refract/metrics"
)

// ofMatrix aggregates the cells of a stored matrix. The score of a system is the mean over
// segments.
func (s *scoreFlags) ofMatrix(ctx context.Context, e *env, args []string) error {
	if len(args) > 0 {
		return usagef("--matrix %s holds the segments too: leave %s out", s.matrix, args[0])
	}
	err := e.refuse("says how to score, and --matrix takes the scores that are stored: leave one of them out",
		func(k *known) bool { return k.section != commonFlags && !k.withMatrix })
	switch {
	case err != nil:
		return err
	case s.per != "system" && s.per != "segment":
		return usagef("--matrix with --per %s: scores of a matrix are shown per segment or system", s.per)
	case s.scoring.scope == refract.Pooled:
		return usagef("--system corpus: a matrix holds only scores of segments; without --matrix, 'refract score --system corpus' scores the corpus")
	}
	in, err := matrix.Open(s.matrix)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := e.create(s.view.path)
	if err != nil {
		return err
	}
	var to *sink
	for seg, err := range in.Segments(ctx) {
		if err != nil {
			return err
		}
		if to == nil { // what is in the matrix is known with its first segment
			eng, err := s.storedEngine(e, in.Metrics())
			if err != nil {
				return err
			}
			if to, err = s.view.sink(s.per, eng, out, nil, false); err != nil {
				return err
			}
		}
		if err := to.add(seg); err != nil {
			return err
		}
	}
	failed := in.Ended()
	if err := to.end(ctx, failed); err != nil || failed == nil {
		return err
	}
	if err := e.commit(); err != nil {
		return err
	}
	return failed // after the scores of the other metrics are written
}

// storedEngine crosses the metrics of a matrix with aggregators.
func (s *scoreFlags) storedEngine(e *env, infos []matrix.Info) (*refract.Engine, error) {
	var order []metrics.Metric
	for _, info := range infos {
		m, err := matrix.NewMetric(info)
		if err != nil {
			return nil, err
		}
		order = append(order, m)
	}
	aggs, asked := s.scoring.aggregatorsOr(compared...)
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
	return refract.NewEngine(settings, refract.Options{Scope: refract.Averaged, Missing: s.scoring.missing})
}
