package experiment

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/report"
)

// estimate is a statistic of a table, with the values of its resamples.
type estimate struct {
	Value         report.Number `json:"value"`
	N             int           `json:"n"`
	Groups        int           `json:"groups"`
	Dropped       int           `json:"dropped"`
	MissingMetric int           `json:"missing_metric"`
	MissingGold   int           `json:"missing_gold"`
	Epsilon       report.Number `json:"epsilon"`
	Bits          []byte        `json:"resamples"` // little endian; none where there are none

	resamples []float64
	own       bool // of a folder's own scores of systems
}

// unsampled says that a defined value has none of the resamples asked for: there
// were too many pairs.
func (e *estimate) unsampled(resamples int) bool {
	return resamples > 0 && e.Value.Defined() && len(e.resamples) == 0
}

// once is what is computed once, by its key, whoever asks first.
type once[T any] struct {
	mu   sync.Mutex
	made map[string]func() (T, error)
}

func (o *once[T]) get(key string, make_ func() (T, error)) (T, error) {
	o.mu.Lock()
	f := o.made[key]
	if f == nil {
		if o.made == nil {
			o.made = map[string]func() (T, error){}
		}
		f = sync.OnceValues(make_)
		o.made[key] = f
	}
	o.mu.Unlock()
	return f()
}

// estimate takes a statistic of a table, from the store where it has it.
func (r *run) estimate(ctx context.Context, t *table, s Statistic, resamples int) (*estimate, error) {
	key := newDigest("statistic")
	key.text(t.key())
	key.statistic(t.data, s)
	key.number(uint64(resamples))
	key.number(r.p.Bootstrap.Seed)
	name := key.sum()
	return r.estimates.get(name, func() (*estimate, error) {
		est, err := kept(r, "statistic", name, (*estimate).unpack, func() (*estimate, error) { return r.compute(ctx, t, s, resamples) })
		if err != nil {
			return nil, err
		}
		est.Bits, est.own = nil, r.takesOwn(t, s)
		return est, nil
	})
}

// unpack reads the stored resamples. It is false where they are damaged.
func (e *estimate) unpack() bool {
	for b := e.Bits; len(b) >= 8; b = b[8:] {
		e.resamples = append(e.resamples, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return len(e.Bits)%8 == 0
}

// kept returns a value of the store, or computes and stores it. whole says of a
// stored one whether it is all there; nil believes it.
func kept[T any](r *run, kind, name string, whole func(*T) bool, compute func() (*T, error)) (*T, error) {
	value := new(T)
	found, err := r.Store.read(kind, name, value)
	if err != nil {
		r.warn("%v", err)
	}
	if found && (whole == nil || whole(value)) {
		r.count(func(u *Usage) { u.ReusedStatistics++ })
		return value, nil
	}
	if value, err = compute(); err != nil {
		return nil, err
	}
	r.count(func(u *Usage) { u.ComputedStatistics++ })
	return value, r.Store.write(kind, name, value)
}

// statistic hashes all that decides a statistic beside the scores.
func (d *digest) statistic(of *data, s Statistic) {
	d.text(s.Name())
	d.text(s.Grouping.String())
	d.text(s.Level.String())
	d.text(fmt.Sprint(s.ZeroUndefined, s.Threshold))
	if groups, _, err := s.Level.Groups(of.places); err == nil && (s.Level == correlate.DocumentLevel || s.Level == correlate.DomainLevel) {
		for _, g := range groups {
			d.number(uint64(g + 1))
		}
	}
}

// takesOwn says whether a statistic is of a folder's own scores of systems.
// Tests and soft accuracy need scores of segments.
func (r *run) takesOwn(t *table, s Statistic) bool {
	return t.own != nil && s.Level == correlate.SystemLevel && s.Measure.Statistic != correlate.StatSoftAccuracy && r.p.Pairing != EveryPair
}

// compute takes a statistic.
func (r *run) compute(ctx context.Context, t *table, s Statistic, resamples int) (*estimate, error) {
	p, err := t.prepared(s)
	if r.takesOwn(t, s) {
		p, resamples = t.own, 0 // there are no segments to resample
	}
	if err != nil {
		return nil, err
	}
	res, err := s.Measure.Of(p)
	if err != nil {
		return nil, err
	}
	est := &estimate{
		Value: report.Number(res.Value), N: res.N, Groups: res.Groups, Dropped: res.Dropped,
		MissingMetric: res.MissingMetric, MissingGold: res.MissingGold, Epsilon: report.None(),
	}
	if s.Measure.Statistic.Calibrated() {
		est.Epsilon = report.Number(res.Epsilon)
	}
	if resamples > 0 && est.Value.Defined() {
		bootstrap, _ := r.bootstraps.get(strconv.Itoa(resamples), func() (*correlate.Bootstrap, error) {
			return correlate.NewBootstrap(correlate.BootstrapOptions{
				Resamples: resamples, Confidence: r.p.Bootstrap.Confidence, Seed: r.p.Bootstrap.Seed,
			}), nil
		})
		est.resamples, err = bootstrap.Resample(ctx, s.Measure, p)
		if err != nil && !errors.Is(err, correlate.ErrTooManyPairs) {
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
	if r.Store != nil {
		for _, v := range est.resamples {
			est.Bits = binary.LittleEndian.AppendUint64(est.Bits, math.Float64bits(v))
		}
	}
	return est, nil
}

// prepared returns the table that the measure of a statistic is taken of.
func (t *table) prepared(s Statistic) (*correlate.Pairs, error) {
	switch {
	case s.Preference:
		return t.decided()
	case s.Measure.Statistic.OfSystems():
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
func (t *table) ties(s Statistic) (report.Number, error) {
	if !s.ofCells() {
		return report.None(), nil
	}
	p, err := t.prepared(s)
	if err != nil {
		return report.None(), err
	}
	var tied, pairs int64
	for _, row := range s.Measure.Rows(p) {
		c := correlate.CountPairs(row.Gold, row.Metric, 0)
		tied += c.TiedMetric + c.TiedBoth
		pairs += c.Pairs()
	}
	return report.Number(float64(tied) / float64(pairs)), nil
}

// interval is the interval of resamples, nil where there are none.
func (r *run) interval(values []float64) *report.Range {
	return intervalOf(values, r.p.Bootstrap.Confidence)
}

func intervalOf(values []float64, confidence float64) *report.Range {
	if len(values) == 0 {
		return nil
	}
	iv := correlate.Percentiles(values, confidence)
	if math.IsNaN(iv.Low) || math.IsNaN(iv.High) {
		return nil
	}
	return &report.Range{Low: report.Number(iv.Low), High: report.Number(iv.High), Undefined: iv.Undefined}
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
