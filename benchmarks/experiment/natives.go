package experiment

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
)

// nativeKey identifies a native score by the references of a segment.
func nativeKey(segment int, columns []int) string {
	b := binary.AppendUvarint(make([]byte, 0, len(columns)+binary.MaxVarintLen64), uint64(segment))
	for _, c := range columns {
		b = binary.AppendUvarint(b, uint64(c))
	}
	return string(b)
}

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

// nativeBlock is how many segments' native scores are in memory at once.
const nativeBlock = 128

// nativesOf makes the tables of settings with native scores against chosen references, and scores
// each list of a segment's references once, however many of them use it. Scores of a metric that
// makes calls are kept for other settings, too.
func (r *run) nativesOf(ctx context.Context, d *data, s *series, settings []*setting) error {
	var tables []*filling
	for _, t := range settings {
		if t.series == s && !t.whole && t.aggregator.Native() && s.info.NeedsReferences {
			f, err := r.filling(d, t)
			if err != nil {
				return err
			}
			tables = append(tables, f)
		}
	}
	if len(tables) == 0 {
		return nil
	}
	score, kept := r.nativeScorer(s)
	if s.natives == nil {
		s.natives = map[string]*nativeScores{}
	}
	for from := 0; from < len(d.segments); from += nativeBlock {
		to := min(from+nativeBlock, len(d.segments))
		asked, unknown := make([][]*nativeScores, to-from), false // of the block
		for i := from; i < to; i++ {
			for _, t := range tables {
				columns := t.columns(i)
				key := nativeKey(i, columns)
				switch {
				case s.natives[key] != nil:
				case len(columns) == d.segments[i].NumReferences() && slices.IsSorted(columns) && s.cells[i].Native != nil:
					s.natives[key] = &nativeScores{columns, s.cells[i].Native, s.cells[i].NativeStatus}
				default:
					s.natives[key], unknown = &nativeScores{columns: columns}, true
					asked[i-from] = append(asked[i-from], s.natives[key])
				}
			}
		}
		switch {
		case !unknown:
		case s.own:
			return fmt.Errorf("native scores of %s exist only against all references", s.info.Name)
		default:
			if err := score(ctx, d.segments[from:to], asked); err != nil {
				return err
			}
		}
		err := parallel(ctx, len(tables), func(_ context.Context, k int) error { return tables[k].add(from, to) })
		if err != nil {
			return err
		}
		if !kept {
			clear(s.natives)
		}
	}
	for _, t := range tables {
		if err := t.done(); err != nil {
			return err
		}
	}
	return nil
}

// nativeScorer returns what scores lists of references of some segments, and whether their scores
// are worth keeping.
func (r *run) nativeScorer(s *series) (score func(context.Context, []*refract.Segment, [][]*nativeScores) error, kept bool) {
	if p, ok := s.metric.(metrics.Preparer); ok {
		if _, ok := p.NewWorkspace().(selective); ok {
			workspaces := sync.Pool{New: func() any { return p.NewWorkspace() }}
			return func(ctx context.Context, segments []*refract.Segment, asked [][]*nativeScores) error {
				return parallel(ctx, len(asked), func(_ context.Context, i int) error {
					if len(asked[i]) > 0 {
						w := workspaces.Get().(selective)
						scoreAgainst(w, segments[i], asked[i])
						workspaces.Put(w)
					}
					return nil
				})
			}, false
		}
	}
	return func(ctx context.Context, segments []*refract.Segment, asked [][]*nativeScores) error {
		engine, err := r.engine([]refract.Setting{{Metric: s.metric, Aggregator: aggregate.Native}}, true, false)
		if err != nil {
			return err
		}
		var chosen []*refract.Segment
		for i, of := range asked {
			for _, n := range of {
				chosen = append(chosen, only(segments[i], n.columns))
			}
		}
		all, n := slices.Concat(asked...), 0
		return engine.Run(ctx, refract.InMemory(chosen), func(of *refract.SegmentScores) error {
			all[n].values, all[n].status = of.Metrics[0].Native, of.Metrics[0].NativeStatus
			n++
			return nil
		})
	}, true
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
// memory of part; nil if the setting has no reference for the segment, which has n.
func (s *series) cellsOf(t *setting, i, n int, part *refract.MetricScores) *refract.MetricScores {
	native := t.aggregator.Native() && !t.whole
	if !s.info.NeedsReferences || n == 0 {
		return s.cells[i]
	}
	columns := t.columns(i)
	if !native && len(columns) == n {
		return s.cells[i]
	}
	if !subset(columns, part, s.cells[i]) {
		return nil
	}
	if native {
		of := s.natives[nativeKey(i, columns)]
		part.Native, part.NativeStatus = of.values, of.status
	}
	return part
}
