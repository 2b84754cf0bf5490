package experiment

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/matrix"
	"github.com/refract-eval/refract/metrics"
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

// nativeScores are the scores of a segment's hypotheses against some of its references.
type nativeScores struct {
	columns []int
	values  []float64 // nil if nothing could be scored
	status  []metrics.Status
}

// nativesOf scores each list of a segment's references once, however many settings use it.
func (r *run) nativesOf(ctx context.Context, d *data, s *series, settings []*setting) error {
	if s.natives == nil {
		s.natives = map[string]*nativeScores{}
	}
	asked, unknown := make([][]*nativeScores, len(d.segments)), false
	for _, t := range settings {
		if t.series != s || t.whole || !t.aggregator.Native() || !s.info.NeedsReferences {
			continue
		}
		for i, columns := range t.set {
			key := nativeKey(i, columns)
			switch {
			case s.natives[key] != nil:
			case len(columns) == d.segments[i].NumReferences() && slices.IsSorted(columns) && s.cells[i].Native != nil:
				s.natives[key] = &nativeScores{columns, s.cells[i].Native, s.cells[i].NativeStatus}
			default:
				s.natives[key], unknown = &nativeScores{columns: columns}, true
				asked[i] = append(asked[i], s.natives[key])
			}
		}
	}
	switch {
	case !unknown:
		return nil
	case s.own:
		return fmt.Errorf("native scores of %s exist only against all references", s.info.Name)
	}
	if p, ok := s.metric.(metrics.Preparer); ok {
		if _, ok := p.NewWorkspace().(selective); ok {
			workspaces := sync.Pool{New: func() any { return p.NewWorkspace() }}
			return parallel(ctx, len(asked), func(_ context.Context, i int) error {
				if len(asked[i]) > 0 {
					w := workspaces.Get().(selective)
					scoreAgainst(w, d.segments[i], asked[i])
					workspaces.Put(w)
				}
				return nil
			})
		}
	}
	native, err := aggregate.Parse(matrix.Native)
	if err != nil {
		return err
	}
	engine, err := r.engine([]refract.Setting{{Metric: s.metric, Aggregator: native}}, true, false)
	if err != nil {
		return err
	}
	var segments []*refract.Segment
	for i, of := range asked {
		for _, n := range of {
			segments = append(segments, only(d.segments[i], n.columns))
		}
	}
	all, n := slices.Concat(asked...), 0
	return engine.Run(ctx, refract.InMemory(segments), func(of *refract.SegmentScores) error {
		all[n].values, all[n].status = of.Metrics[0].Native, of.Metrics[0].NativeStatus
		n++
		return nil
	})
}

// selective is a workspace with native scores against some of the loaded references, so that
// it reads the texts of a segment once for all choices of them.
type selective interface {
	metrics.Workspace
	// NativeAgainst appends one score per hypothesis, against the references with these
	// indices, at least one.
	NativeAgainst(dst []float64, references []int) []float64
}

// scoreAgainst fills in native scores of a segment.
func scoreAgainst(w selective, seg *refract.Segment, asked []*nativeScores) {
	var b metrics.Block
	var hypotheses []int // those in the block
	for h := range seg.Hypotheses {
		if t := seg.Hypotheses[h].Text; t.Valid {
			b.Hypotheses, hypotheses = append(b.Hypotheses, t.Value), append(hypotheses, h)
		}
	}
	all := seg.AllReferences(nil)
	loaded := make([]int, len(all)) // place of each column in the block
	for c, t := range all {
		if t.Valid {
			loaded[c] = len(b.References)
			b.References = append(b.References, t.Value)
		}
	}
	w.Load(b)
	for _, of := range asked {
		var against []int
		for _, c := range of.columns {
			if all[c].Valid {
				against = append(against, loaded[c])
			}
		}
		if len(against) == 0 || len(hypotheses) == 0 {
			continue
		}
		of.values = make([]float64, len(seg.Hypotheses))
		of.status = slices.Repeat([]metrics.Status{metrics.MissingHypothesis}, len(seg.Hypotheses))
		for i, v := range w.NativeAgainst(nil, against) {
			of.values[hypotheses[i]], of.status[hypotheses[i]] = v, metrics.Scored
		}
	}
}

// cellsOf returns the scores from which the values of a setting are computed, using the
// memory of part; nil if the setting has no reference for the segment.
func (s *series) cellsOf(t *setting, i int, seg *refract.Segment, part *refract.MetricScores) *refract.MetricScores {
	native, n := t.aggregator.Native() && !t.whole, seg.NumReferences()
	if !s.info.NeedsReferences || n == 0 || !native && len(t.set[i]) == n {
		return &s.cells[i]
	}
	if !t.set.subset(part, &s.cells[i], i) {
		return nil
	}
	if native {
		of := s.natives[nativeKey(i, t.set[i])]
		part.Native, part.NativeStatus = of.values, of.status
	}
	return part
}
