package experiment

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/metrics"
)

// table holds the values of one setting beside the human scores.
type table struct {
	*correlate.Pairs
	data             *data
	minRefs, maxRefs int
	key              string // hash of the scores
}

func (d *data) newTable(p *correlate.Pairs, lo, hi int) *table {
	t := &table{Pairs: p, data: d, minRefs: lo, maxRefs: hi}
	h := newDigest("table")
	h.number(uint64(p.Segments))
	h.number(uint64(p.Systems))
	var b []byte
	for i := range p.Gold {
		flags := byte(0)
		if p.GoldOK[i] {
			flags |= 1
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p.Gold[i]))
		}
		if p.MetricOK[i] {
			flags |= 2
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p.Metric[i]))
		}
		b = append(b, flags)
	}
	h.h.Write(b)
	t.key = hex.EncodeToString(h.h.Sum(nil)[:16])
	return t
}

// judged is the number of cells with a human score, and scored that of those
// which also have one of the metric.
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

// within returns the table with the scores of some segments alone.
func (t *table) within(segments []bool) *table {
	p := *t.Pairs
	p.MetricOK, p.GoldOK = slices.Clone(p.MetricOK), slices.Clone(p.GoldOK)
	for i := range p.Gold {
		in := segments[i/p.Systems]
		p.MetricOK[i], p.GoldOK[i] = p.MetricOK[i] && in, p.GoldOK[i] && in
	}
	return t.data.newTable(&p, t.minRefs, t.maxRefs)
}

// aligned returns two tables of the cells that both have. They are the tables
// themselves where these are all.
func aligned(a, b *table) (x, y *table, err error) {
	if slices.Equal(a.MetricOK, b.MetricOK) {
		return a, b, nil
	}
	p, q := *a.Pairs, *b.Pairs
	p.MetricOK = slices.Clone(p.MetricOK)
	for i, ok := range b.MetricOK {
		p.MetricOK[i] = p.MetricOK[i] && ok
	}
	q.MetricOK = p.MetricOK
	return a.data.newTable(&p, a.minRefs, a.maxRefs), b.data.newTable(&q, b.minRefs, b.maxRefs), nil
}

// values makes the table of a metric and an aggregator over a choice of
// references.
func (r *run) values(ctx context.Context, d *data, m metrics.Metric, a aggregate.Aggregator, set columnsOf) (*table, error) {
	info := m.Info()
	native := a.Native() && info.NeedsReferences
	var cells []refract.MetricScores
	var err error
	if native {
		cells, err = r.nativeOnce(ctx, d, m, set)
	} else {
		cells, err = r.cellsOnce(ctx, d, m)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", info.Name, err)
	}
	p := *d.gold
	p.Metric, p.MetricOK = make([]float64, len(p.Gold)), make([]bool, len(p.Gold))
	lo, hi := math.MaxInt, 0
	engine, err := refract.NewEngine([]refract.Setting{{Metric: m, Aggregator: a}}, refract.Options{Scope: refract.Averaged, Missing: r.e.Missing})
	if err != nil {
		return nil, err
	}
	reducer := engine.Reducer()
	for i, s := range d.segments {
		ms := cells[i]
		some := true
		switch {
		case native:
		case info.NeedsReferences && s.NumReferences() > 0:
			ms, some = Subset(&ms, set[i])
		}
		if !some {
			continue
		}
		for h := range s.Hypotheses {
			at, compared := d.column[s.Hypotheses[h].System]
			if !compared {
				continue
			}
			var red refract.Reduced
			if native {
				red, err = nativeValue(&ms, s, set[i], r.e.Missing, h)
			} else {
				red, err = reducer.ReduceMatrix(&ms, 0, h)
			}
			if err != nil {
				return nil, fmt.Errorf("%s %s: segment %q, system %q: %w", info.Name, a.Name(), s.ID, s.Hypotheses[h].System, err)
			}
			if red.Status != metrics.Scored {
				continue
			}
			lo, hi = min(lo, red.References), max(hi, red.References)
			k := p.Index(i, at)
			p.Metric[k], p.MetricOK[k] = float64(info.Direction)*red.Value, true
		}
	}
	return d.newTable(&p, min(lo, hi), hi), nil
}

// nativeValue is the reduction of a native score.
func nativeValue(ms *refract.MetricScores, s *refract.Segment, columns []int, p aggregate.Policy, h int) (refract.Reduced, error) {
	all := s.AllReferences(nil)
	out := refract.Reduced{Value: ms.Values[h], Status: ms.Status[h]}
	for _, c := range columns {
		if all[c].Valid {
			out.References++
		} else {
			out.Missing++
		}
	}
	if out.Missing > 0 || out.Status != metrics.Scored {
		switch p {
		case aggregate.Fail:
			return out, aggregate.ErrMissing
		case aggregate.Propagate:
			out.Status = metrics.Failed
		}
	}
	return out, nil
}

// estimate is a statistic of a table, with the values of its resamples.
type estimate struct {
	Value         Number `json:"value"`
	N             int    `json:"n"`
	Groups        int    `json:"groups"`
	Dropped       int    `json:"dropped"`
	MissingMetric int    `json:"missing_metric"`
	MissingGold   int    `json:"missing_gold"`
	Epsilon       Number `json:"epsilon"`
	Bits          []byte `json:"resamples"` // little endian; none where there are none

	resamples []float64
}

// estimate takes a statistic of a table, from the store where it has it.
func (r *run) estimate(ctx context.Context, t *table, s Statistic, resamples int) (*estimate, error) {
	key := newDigest("statistic")
	key.text(t.key)
	key.statistic(t.data, s)
	key.number(uint64(resamples))
	key.number(r.e.Bootstrap.Seed)
	name := key.sum()
	if est := r.estimates[name]; est != nil {
		return est, nil
	}
	est := &estimate{}
	found, err := r.Store.read("statistic", name, est)
	if err != nil {
		r.warn("%v", err)
		est = &estimate{}
	}
	if found && len(est.Bits)%8 == 0 {
		for b := est.Bits; len(b) > 0; b = b[8:] {
			est.resamples = append(est.resamples, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
		r.usage.ReusedStatistics++
	} else {
		if est, err = r.compute(ctx, t, s, resamples); err != nil {
			return nil, err
		}
		for _, v := range est.resamples {
			est.Bits = binary.LittleEndian.AppendUint64(est.Bits, math.Float64bits(v))
		}
		if err := r.Store.write("statistic", name, est); err != nil {
			return nil, err
		}
		est.Bits = nil
		r.usage.ComputedStatistics++
	}
	r.estimates[name] = est
	return est, nil
}

// statistic hashes all that decides a statistic beside the scores.
func (d *digest) statistic(of *data, s Statistic) {
	d.text(s.Name())
	d.text(s.Grouping.String())
	d.text(s.Level.String())
	d.text(fmt.Sprint(s.ZeroUndefined, s.Threshold))
	if groups, _, err := s.Level.Groups(of.places); err == nil && s.Level != correlate.SegmentLevel {
		for _, g := range groups {
			d.number(uint64(g))
		}
	}
}

// compute takes a statistic.
func (r *run) compute(ctx context.Context, t *table, s Statistic, resamples int) (*estimate, error) {
	p, err := t.prepared(s)
	if err != nil {
		return nil, err
	}
	res, err := s.Measure.Of(p)
	if err != nil {
		return nil, err
	}
	est := &estimate{
		Value: Number(res.Value), N: res.N, Groups: res.Groups, Dropped: res.Dropped,
		MissingMetric: res.MissingMetric, MissingGold: res.MissingGold, Epsilon: None(),
	}
	if s.Measure.Statistic.Calibrated() {
		est.Epsilon = Number(res.Epsilon)
	}
	if resamples > 0 && est.Value.Defined() {
		if r.bootstrap[resamples] == nil {
			r.bootstrap[resamples] = correlate.NewBootstrap(correlate.BootstrapOptions{
				Resamples: resamples, Confidence: r.e.Bootstrap.Confidence, Seed: r.e.Bootstrap.Seed,
			})
		}
		est.resamples, err = r.bootstrap[resamples].Resample(ctx, s.Measure, p)
		if errors.Is(err, correlate.ErrTooManyPairs) {
			r.warn("%s: no interval: %v", s.Label(), err)
		} else if err != nil {
			return nil, err
		}
	}
	if s.Preference {
		est.Value = (1 + est.Value) / 2
		est.N /= 2 // choices, of two texts each
		for i, v := range est.resamples {
			est.resamples[i] = (1 + v) / 2
		}
	}
	return est, nil
}

// prepared returns the table that the measure of a statistic is taken of.
func (t *table) prepared(s Statistic) (*correlate.Pairs, error) {
	if s.Preference {
		return t.decided()
	}
	if s.Measure.Statistic.OfSystems() {
		return t.Pairs, nil // it makes its own means
	}
	return t.At(s.Level, t.data.places)
}

// decided returns the table without the segments in which people have no
// preference.
func (t *table) decided() (*correlate.Pairs, error) {
	if t.Systems != 2 {
		return nil, fmt.Errorf("preference needs pairs of texts, and there are %d systems", t.Systems)
	}
	p := *t.Pairs
	p.GoldOK = slices.Clone(p.GoldOK)
	for i := 0; i < len(p.Gold); i += 2 {
		if p.GoldOK[i] != p.GoldOK[i+1] || p.Gold[i] == p.Gold[i+1] {
			p.GoldOK[i], p.GoldOK[i+1] = false, false
		}
	}
	return &p, nil
}

// ties is the share of the pairs of cells that have the same score.
func (t *table) ties(s Statistic) (Number, error) {
	if !s.ofCells() {
		return None(), nil
	}
	p, err := t.prepared(s)
	if err != nil {
		return None(), err
	}
	var tied, pairs int64
	for _, row := range s.Measure.Rows(p) {
		c := correlate.CountPairs(row.Gold, row.Metric, 0)
		tied += c.TiedMetric + c.TiedBoth
		pairs += c.Pairs()
	}
	return Number(float64(tied) / float64(pairs)), nil
}

// interval is the interval of resamples, nil where there are none.
func (r *run) interval(values []float64) *Interval {
	if len(values) == 0 {
		return nil
	}
	iv := correlate.Percentiles(values, r.e.Bootstrap.Confidence)
	if math.IsNaN(iv.Low) || math.IsNaN(iv.High) {
		return nil
	}
	return &Interval{Number(iv.Low), Number(iv.High), iv.Undefined}
}

// differences of two resamples, which are of the same segments.
func differences(a, b []float64) []float64 {
	if len(a) == 0 || len(a) != len(b) {
		return nil
	}
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}
