package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/metrics"
)

// table holds the values of one setting together with the human scores.
type table struct {
	*correlate.Pairs
	data             *data
	minRefs, maxRefs int
	// own are a folder's own scores of systems, with the same human scores; nil if the scores
	// of systems are means over segments.
	own *correlate.Pairs
	// from is the table from whose units resamples draw; nil for the table itself.
	from *correlate.Pairs
	key  func() string // hash of the scores
}

func (d *data) newTable(p *correlate.Pairs, lo, hi int) *table {
	t := &table{Pairs: p, data: d, minRefs: lo, maxRefs: hi}
	t.key = sync.OnceValue(t.hash)
	return t
}

func (t *table) hash() string {
	b := make([]byte, 0, 17*len(t.Gold))
	for i := range t.Gold {
		flags := byte(0)
		if t.GoldOK[i] {
			flags |= 1
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(t.Gold[i]))
		}
		if t.MetricOK[i] {
			flags |= 2
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(t.Metric[i]))
		}
		b = append(b, flags)
	}
	var own []float64
	if t.own != nil {
		own = t.own.Metric
	}
	key := keyOf(t.Segments, t.Systems, sha256.Sum256(b), own, t.from != nil)
	return string(key[:])
}

// judged returns the number of cells with a human score, and how many of them the metric
// scored.
func (t *table) judged() (judged, scored int) {
	for i, ok := range t.GoldOK {
		if ok {
			judged++
			if t.MetricOK[i] {
				scored++
			}
		}
	}
	return judged, scored
}

// missing returns the number of cells without one of the two scores.
func (t *table) missing() int {
	_, scored := t.judged()
	return len(t.Gold) - scored
}

// within returns the table with the scores of only some segments.
func (t *table) within(segments []bool) *table {
	p := *t.Pairs
	p.MetricOK, p.GoldOK = slices.Clone(p.MetricOK), slices.Clone(p.GoldOK)
	for i := range p.Gold {
		in := segments[i/p.Systems]
		p.MetricOK[i], p.GoldOK[i] = p.MetricOK[i] && in, p.GoldOK[i] && in
	}
	return t.data.newTable(&p, t.minRefs, t.maxRefs)
}

// aligned returns two tables with only their common cells; the tables themselves if these
// are all.
func aligned(a, b *table) (x, y *table) {
	if slices.Equal(a.MetricOK, b.MetricOK) {
		return a, b
	}
	p, q := *a.Pairs, *b.Pairs
	p.MetricOK = slices.Clone(p.MetricOK)
	for i, ok := range b.MetricOK {
		p.MetricOK[i] = p.MetricOK[i] && ok
	}
	q.MetricOK = p.MetricOK
	x, y = a.data.newTable(&p, a.minRefs, a.maxRefs), b.data.newTable(&q, b.minRefs, b.maxRefs)
	x.from, y.from = a.from, b.from
	return x, y
}

// filling is the table of a setting, filled segment by segment.
type filling struct {
	*setting
	data    *data
	scores  correlate.Pairs
	reducer *refract.Reducer
	lo, hi  int // references behind a score
	part    refract.MetricScores
}

func (r *run) filling(d *data, s *setting) (*filling, error) {
	engine, err := refract.NewEngine([]refract.Setting{{Metric: s.series.metric, Aggregator: s.aggregator}}, refract.Options{Scope: refract.Averaged, Missing: r.p.Missing})
	if err != nil {
		return nil, err
	}
	f := &filling{setting: s, data: d, scores: *d.gold, reducer: engine.Reducer(), lo: math.MaxInt}
	f.scores.Metric, f.scores.MetricOK = make([]float64, len(d.gold.Gold)), make([]bool, len(d.gold.Gold))
	return f, nil
}

// add adds some segments.
func (f *filling) add(from, to int) error {
	of := f.series
	for i := from; i < to; i++ {
		ms := of.cellsOf(f.setting, i, f.data.counts[i], &f.part)
		if ms == nil {
			continue
		}
		for h, k := range f.data.at[i] {
			if k < 0 {
				continue
			}
			red, err := f.reducer.ReduceMatrix(ms, 0, h)
			if err != nil {
				return fmt.Errorf("%s %s: segment %q, system %q: %w", of.info.Name, f.aggregator.Name(), f.data.places[i].Segment, f.data.systems[k%f.scores.Systems], err)
			}
			if red.Status != metrics.Scored {
				continue
			}
			f.lo, f.hi = min(f.lo, red.References+of.stated), max(f.hi, red.References+of.stated)
			f.scores.Metric[k], f.scores.MetricOK[k] = float64(of.info.Direction)*red.Value, true
		}
	}
	return nil
}

// done makes the table.
func (f *filling) done() (err error) {
	t := f.data.newTable(&f.scores, min(f.lo, f.hi), f.hi)
	t.own, err = t.ownSystems(f.series.systems)
	f.table = t
	return err
}

// values puts the scores of a setting next to the human scores, unless nativesOf has done so.
func (r *run) values(d *data, s *setting) (*table, error) {
	if s.table != nil {
		return s.table, nil
	}
	f, err := r.filling(d, s)
	if err == nil {
		err = f.add(0, len(d.counts))
	}
	if err == nil {
		err = f.done()
	}
	return s.table, err
}

// ownSystems replaces the means by a folder's own scores of systems, if every system has
// one and they differ.
func (t *table) ownSystems(scores map[string]float64) (*correlate.Pairs, error) {
	if scores == nil {
		return nil, nil
	}
	means, err := t.At(correlate.SystemLevel, t.data.places)
	if err != nil {
		return nil, err
	}
	out := &correlate.Pairs{Segments: 1, Systems: t.Systems, Gold: means.Gold, GoldOK: means.GoldOK}
	differs := false
	for i, name := range t.data.systems {
		v, ok := scores[name]
		if !ok {
			return nil, nil
		}
		out.Metric, out.MetricOK = append(out.Metric, v), append(out.MetricOK, true)
		differs = differs || !means.MetricOK[i] || math.Abs(v-means.Metric[i]) > 1e-6*(1+math.Abs(v))
	}
	if !differs {
		return nil, nil
	}
	return out, nil
}
