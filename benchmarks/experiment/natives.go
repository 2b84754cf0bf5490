package experiment

import (
	"context"
	"fmt"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/matrix"
)

// nativeKey identifies a native score by the references of a segment.
func nativeKey(segment int, columns []int) string { return fmt.Sprint(segment, columns) }

// scoreNatives computes native scores against chosen references, which do not follow from
// scores against single ones. A metric that fails here ends without stopping the others.
func (r *run) scoreNatives(ctx context.Context, d *data, settings []*setting) error {
	for _, s := range slices.Clone(d.series) {
		err := r.nativesOf(ctx, d, s, settings)
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil || len(d.series) == 1:
			return err
		}
		r.ended(d, &refract.Incomplete{Metrics: []string{s.info.Name}, Errs: []error{err}})
		d.series = slices.DeleteFunc(d.series, func(other *series) bool { return other == s })
	}
	return nil
}

// nativesOf scores each list of a segment's references once, however many settings use it,
// one engine at a time.
func (r *run) nativesOf(ctx context.Context, d *data, s *series, settings []*setting) error {
	r.natives.Lock()
	defer r.natives.Unlock()
	var segments []*refract.Segment
	var keys []string
	asked := map[string]bool{}
	for _, t := range settings {
		if t.series != s || t.whole || !t.aggregator.Native() || !s.info.NeedsReferences {
			continue
		}
		for i, kept := range t.set.keep(d.segments) {
			key := nativeKey(i, t.set[i])
			if _, known := s.natives.Load(key); known || asked[key] {
				continue
			}
			if len(t.set[i]) < d.segments[i].NumReferences() || !slices.IsSorted(t.set[i]) || s.cells[i].Native == nil {
				asked[key], keys, segments = true, append(keys, key), append(segments, kept)
			} else {
				s.natives.Store(key, &s.cells[i])
			}
		}
	}
	if len(segments) == 0 {
		return nil
	}
	if s.own {
		return fmt.Errorf("native scores of %s exist only against all references", s.info.Name)
	}
	native, err := aggregate.Parse(matrix.Native)
	if err != nil {
		return err
	}
	engine, err := r.engine([]refract.Setting{{Metric: s.metric, Aggregator: native}}, true, false)
	if err != nil {
		return err
	}
	n := 0
	return engine.Run(ctx, dataset.InMemory(segments), func(of *refract.SegmentScores) error {
		s.natives.Store(keys[n], &of.Metrics[0])
		n++
		return nil
	})
}

// cellsOf returns the scores from which the values of a setting are computed.
func (s *series) cellsOf(t *setting, segment int) *refract.MetricScores {
	if t.aggregator.Native() && s.info.NeedsReferences && !t.whole {
		ms, _ := s.natives.Load(nativeKey(segment, t.set[segment]))
		return ms.(*refract.MetricScores)
	}
	return &s.cells[segment]
}
