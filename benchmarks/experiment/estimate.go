package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// estimate is a statistic of a table, with the values of its resamples.
type estimate struct {
	Value     Number
	N         int
	Groups    int
	Dropped   int
	Epsilon   Number
	Resamples correlate.Resamples // without values if there are none
	Own       bool                // from a folder's own scores of systems
	Single    bool                // all its scores are in one resampled unit, which gives no interval
}

// unsampled says that a defined value has none of the requested resamples, because there
// were too many pairs.
func (e *estimate) unsampled(resamples int) bool {
	return resamples > 0 && e.Value.Defined() && len(e.Resamples.Values) == 0
}

// estimate computes a statistic of a table, once for equal scores.
func (r *run) estimate(ctx context.Context, t *table, s Statistic, resamples int) (*estimate, error) {
	key := keyOf(t.key(), t.data.describe(s), resamples, r.p.Bootstrap.Seed, t.data.unitsKey)
	return r.estimates.get(key, func() (*estimate, error) { return r.compute(ctx, t, s, resamples) })
}

// describe returns all that determines a statistic besides the scores.
func (d *data) describe(s Statistic) string {
	out := fmt.Sprint(s.Name(), s.Grouping, s.Level, s.ZeroUndefined)
	if groups, _, err := s.Level.Groups(d.places); err == nil && (s.Level == correlate.DocumentLevel || s.Level == correlate.DomainLevel) {
		out += fmt.Sprint(groups)
	}
	return out
}

// takesOwn reports whether a statistic uses a folder's own scores of systems. Tests need
// scores of segments.
func (r *run) takesOwn(t *table, s Statistic) bool {
	return t.own != nil && s.Level == correlate.SystemLevel && !s.Measure.Statistic.NeedsSegments() &&
		r.p.Pairing != EveryPair
}

// compute computes a statistic.
func (r *run) compute(ctx context.Context, t *table, s Statistic, resamples int) (*estimate, error) {
	p, err := t.prepared(s)
	own := r.takesOwn(t, s)
	if own {
		p, resamples = t.own, 0 // there are no segments to resample
	}
	if err != nil {
		return nil, err
	}
	est := &estimate{Epsilon: None(), Own: own}
	var res correlate.Result
	if units := 0; resamples > 0 {
		if units, err = t.data.units.Drawn(cmp.Or(t.from, t.Pairs)); err != nil {
			return nil, err
		}
		est.Single = units == 1
	}
	if resamples > 0 && !est.Single {
		b := correlate.Bootstrap{Resamples: resamples, Seed: r.p.Bootstrap.Seed, Units: t.data.units}
		if pace := r.pace; pace != nil {
			b.Done = func(n int) {
				pace.add(n, time.Now(), r.foresee, func(done int64) { r.progress(t.data.Name, "%d of %d resamples", done, pace.total) })
			}
		}
		if t.from != nil {
			if b.From, err = t.data.prepared(t.from, s); err != nil {
				return nil, err
			}
		}
		if res, est.Resamples, err = b.Resample(ctx, s.Measure, p); errors.Is(err, correlate.ErrTooManyPairs) {
			err = nil
		}
	} else {
		res, err = s.Measure.Of(p)
	}
	if err != nil {
		return nil, err
	}
	est.Value, est.N, est.Groups, est.Dropped = Number(res.Value), res.N, res.Groups, res.Dropped
	if s.Measure.Statistic.Calibrated() {
		est.Epsilon = Number(res.Epsilon)
	}
	if !est.Value.Defined() {
		est.Resamples, est.Single = correlate.Resamples{}, false
	}
	return est, nil
}

// prepared returns the table that a statistic is computed from.
func (t *table) prepared(s Statistic) (*correlate.Pairs, error) { return t.data.prepared(t.Pairs, s) }

func (d *data) prepared(p *correlate.Pairs, s Statistic) (*correlate.Pairs, error) {
	if s.Measure.Statistic.OfSystems() {
		return p, nil // it computes its own means
	}
	return p.At(s.Level, d.places)
}

// ties returns the share of the pairs of cells with the same score.
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
		c := correlate.CountPairs(row.Gold, row.Metric)
		tied += c.TiedMetric + c.TiedBoth
		pairs += c.Pairs()
	}
	return Number(float64(tied) / float64(pairs)), nil
}

// interval returns the interval of resamples, nil if there are none.
func (r *run) interval(values correlate.Resamples) *Range {
	return intervalOf(values, r.p.Bootstrap.Confidence)
}

func intervalOf(values correlate.Resamples, confidence float64) *Range {
	iv := computed(values, confidence)
	if iv == nil {
		return nil
	}
	return &Range{Low: Number(iv.Low), High: Number(iv.High), Undefined: iv.Undefined}
}

// computed is an interval before it is shown.
func computed(values correlate.Resamples, confidence float64) *correlate.Interval {
	if len(values.Values) == 0 {
		return nil
	}
	iv := values.Interval(confidence)
	if math.IsNaN(iv.Low) || math.IsNaN(iv.High) {
		return nil
	}
	return &iv
}
