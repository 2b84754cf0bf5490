package correlate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/refract-eval/refract/internal/numeric"
)

// MaxResamples bounds the resamples or permutations, because their values are held in
// memory. The ends of an interval have 3 reliable digits long before.
const MaxResamples = 1_000_000

// Units are what a resample draws, each with all its scores: the unit of each segment, from
// 0, as [Level.Groups] returns it for documents. Nil draws segments.
type Units []int32

// ofCells returns the unit of each cell of a table, and the number of units.
func (u Units) ofCells(p *Pairs) (of []int32, n int, err error) {
	if u != nil && len(u) != p.Segments {
		return nil, 0, fmt.Errorf("units of %d segments, want %d", len(u), p.Segments)
	}
	of = make([]int32, p.Segments*p.Systems)
	for i := range of {
		if of[i] = u.segment(i / p.Systems); of[i] < 0 {
			return nil, 0, fmt.Errorf("segment %d (from 0) is in no unit", i/p.Systems)
		}
		n = max(n, int(of[i])+1)
	}
	return of, n, nil
}

// ofGroups returns the unit of each row of a table of means, if each group of segments lies
// in one unit.
func (u Units) ofGroups(p *Pairs) (Units, bool) {
	of := slices.Repeat(Units{-1}, p.Segments)
	for i, group := range p.level.of {
		unit := u.segment(i)
		if of[group] >= 0 && of[group] != unit {
			return nil, false
		}
		of[group] = unit
	}
	return of, !slices.Contains(of, -1)
}

// OfRows returns the unit of each row of a table. A row of means that are of several units is
// a unit by itself, as all rows of its table then are.
func (u Units) OfRows(p *Pairs) (Units, error) {
	if _, _, err := u.ofCells(p.Under()); err != nil {
		return nil, err
	}
	if p.level != nil {
		if rows, ok := u.ofGroups(p); ok {
			return rows, nil
		}
		u = nil
	}
	rows := make(Units, p.Segments)
	for i := range rows {
		rows[i] = u.segment(i)
	}
	return rows, nil
}

// OfElements returns the unit of each element of the vectors that a measure makes of a table.
func (u Units) OfElements(rows []Row, p *Pairs) []int32 {
	of := []int32{}
	for _, r := range rows {
		for _, cell := range r.unit {
			of = append(of, u.segment(int(cell)/p.Systems))
		}
	}
	return of
}

// segment returns the unit of a segment.
func (u Units) segment(i int) int32 {
	if u == nil {
		return int32(i)
	}
	return u[i]
}

// pool lists the units that have a cell with both scores, and their effective number.
func pool(p *Pairs, unit []int32, units int) (out []int32, effective float64) {
	cells := make([]float64, units)
	for i, u := range unit {
		if p.paired(i) {
			cells[u]++
		}
	}
	var sum, squares float64
	for u, n := range cells {
		if n > 0 {
			out = append(out, int32(u))
			sum += n
			squares += n * n
		}
	}
	return out, max(sum*sum/squares, float64(min(2, len(out))))
}

// Drawn returns how many units a resample of a table draws.
func (u Units) Drawn(p *Pairs) (int, error) {
	of, n, err := u.ofCells(p)
	if err != nil {
		return 0, err
	}
	drawn, _ := pool(p, of, n)
	return len(drawn), nil
}

// Interval is a confidence interval of a statistic.
type Interval struct {
	Low, High float64 // NaN if the statistic is undefined in every resample, or there is one unit
	// Undefined is the number of resamples in which the statistic is undefined, for example
	// because a vector is constant. The interval covers the others; if many are undefined it
	// means little.
	Undefined int
}

// Contains reports whether a value lies within the interval, ends included. A nil interval
// contains nothing.
func (iv *Interval) Contains(v float64) bool { return iv != nil && iv.Low <= v && v <= iv.High }

// Resamples are the values of a measure in resamples, or differences of two.
type Resamples struct {
	Values []float64 // NaN where undefined
	// Units is the effective number of units that each resample draws (Kish, 1965): less than
	// their number if some have many more cells than others.
	Units float64
	// Bias corrects an interval for the noise that resampling adds to means: the normal quantile
	// of the share of values below the observed one (Efron, 1981). It is 0 but for Pearson's
	// correlation of means, since ranks do not bear it.
	Bias float64
}

// Less returns the differences to other resamples, which drew the same units; none if there
// are not as many.
func (r Resamples) Less(o Resamples) Resamples {
	if len(r.Values) != len(o.Values) {
		return Resamples{}
	}
	out := Resamples{Values: make([]float64, len(r.Values)), Units: r.Units}
	for i := range out.Values {
		out.Values[i] = r.Values[i] - o.Values[i]
	}
	return out
}

// Mean returns the means of the values of several, which drew from the same units, over those
// that are defined; none if one has none.
func Mean(of []Resamples) Resamples {
	var out Resamples
	for k, r := range of {
		if k == 0 {
			out = Resamples{Values: make([]float64, len(r.Values)), Units: r.Units}
		}
		if len(r.Values) != len(out.Values) {
			return Resamples{}
		}
		out.Units = min(out.Units, r.Units)
		out.Bias += r.Bias / float64(len(of))
	}
	for i := range out.Values {
		n := 0.0
		for _, r := range of {
			if v := r.Values[i]; !math.IsNaN(v) {
				out.Values[i] += v
				n++
			}
		}
		out.Values[i] /= n // NaN without any
	}
	return out
}

// Interval returns the expanded percentile interval (Hesterberg, 2015) that covers with a
// confidence inside (0, 1), such as 0.95: percentiles are taken further out for few units. Its
// ends are quantiles with linear interpolation. NaN values are left out and counted.
func (r Resamples) Interval(confidence float64) Interval {
	defined := slices.DeleteFunc(slices.Clone(r.Values), math.IsNaN)
	slices.Sort(defined)
	iv := Interval{math.NaN(), math.NaN(), len(r.Values) - len(defined)}
	if r.Units >= 2 { // one unit says nothing about others
		z := numeric.NormalQuantile(numeric.ExpandTail((1-confidence)/2, r.Units))
		iv.Low, iv.High = quantile(defined, numeric.NormalTail(z-2*r.Bias)), quantile(defined, 1-numeric.NormalTail(z+2*r.Bias))
	}
	return iv
}

// Bootstrap computes measures of resampled tables, for their intervals (Efron, 1979).
//
// A resample draws units with replacement, from those that have at least one pair of
// scores. Scores of one segment depend on each other, because easy segments are easy for
// all systems; resampling single cells would ignore this and give intervals that are too
// narrow. Segments of one document depend on each other, too.
//
// The r-th resamples of two tables draw the same units, if the same units have a pair of
// scores. So [Resamples.Less] is paired, and its interval is one of the difference.
//
// Each resample has its own random numbers, made from the seed and its number: the values
// are the same to the byte on any number of cores. The work is spread over GOMAXPROCS
// goroutines. The context is checked before each block of resamples, and its error is
// returned wrapped.
type Bootstrap struct {
	Resamples int // number of resamples, 1 to [MaxResamples]; 1,000 is usual
	Seed      uint64
	Units     Units
	// From is a table of the same segments and level, from whose units with a pair of scores
	// resamples draw; nil means the resampled table itself. Values of several tables that were
	// drawn from one can be averaged by resample.
	From *Pairs
	// Done, if it is not nil, is called with how many more resamples are done, from several
	// goroutines.
	Done func(n int)
}

// Resample returns the measure of a table, as [Measure.Of] does, and that of each resample,
// NaN if it is undefined. The means of a table of means are computed again from the segments
// drawn, or drawn as they are if each is of segments of one unit. The error is
// [ErrTooManyPairs] for a calibrated statistic of more than some millions of pairs of cells;
// the measure of the table is returned also then.
func (b Bootstrap) Resample(ctx context.Context, m Measure, p *Pairs) (Result, Resamples, error) {
	if err := m.Check(p); err != nil {
		return Result{}, Resamples{}, fmt.Errorf("bootstrap: %w", err)
	}
	if b.Resamples < 1 || b.Resamples > MaxResamples {
		return Result{}, Resamples{}, fmt.Errorf("bootstrap: %d resamples: want 1 to %d", b.Resamples, MaxResamples)
	}
	rs, err := newResampler(p, cmp.Or(b.From, p), m, b.Units)
	if err != nil {
		return m.unchecked(p), Resamples{}, fmt.Errorf("bootstrap of %v: %w", m, err)
	}
	values, err := b.values(ctx, rs)
	if err != nil {
		return Result{}, Resamples{}, fmt.Errorf("bootstrap of %v: %w", m, err)
	}
	res, out := rs.result(m, p), Resamples{Values: values, Units: rs.effective}
	if rs.biased && m.Statistic == StatPearson {
		out.Bias = bias(values, res.Value)
	}
	return res, out, nil
}

// bias is the normal quantile of the share of values below one, where equal ones count half.
func bias(values []float64, of float64) float64 {
	below, n := 0.5, 1.0 // so that none is infinite
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			continue
		case v < of:
			below++
		case v == of:
			below += 0.5
		}
		n++
	}
	return -numeric.NormalQuantile(below / n)
}

// values returns the statistic of each resample, in order.
func (b Bootstrap) values(ctx context.Context, rs *resampler) ([]float64, error) {
	values := make([]float64, b.Resamples)
	block := rs.together()
	drawn := rs.known.drawn(b, rs)
	if drawn != nil {
		for i, k := range rs.pairs {
			k.held = goldOf[*tieCounts](drawn, i, rs.vectors[i:i+1], rs.width)
		}
		for _, r := range rs.rows {
			if soft, ok := r.(*softTable); ok && len(soft.rows)*len(soft.rows)*b.Resamples/2 <= mostSoft {
				soft.held = goldOf[[]uint16](drawn, 0, soft.rows, 0)
			}
		}
	}
	err := Blocks(ctx, b.Resamples, block, func() func(from, to int) {
		var s scratch
		return func(from, to int) {
			if drawn == nil {
				rs.values(b.weights(rs, from, to), values[from:to], &s)
			} else {
				s.block.drawn = drawn.weights[from:to]
				rs.values(drawn.block(from, to, &s), values[from:to], &s)
			}
			if b.Done != nil {
				b.Done(to - from)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

// Blocks does n things in blocks, on all cores: each worker is for one goroutine, and does the
// things from one number up to, and without, another. The caller's goroutine makes them one by
// one. The context is checked before each block.
func Blocks(ctx context.Context, n, block int, worker func() func(from, to int)) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(runtime.GOMAXPROCS(0), (n+block-1)/block) {
		do := worker()
		group.Go(func() error {
			for {
				to := int(next.Add(int64(block)))
				from := to - block
				if from >= n {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				do(from, min(to, n))
			}
		})
	}
	return group.Wait()
}

// weights returns how often each unit is drawn in each resample: as many draws as there are
// units with a pair of scores, from these units.
func (b Bootstrap) weights(rs *resampler, from, to int) [][]int32 {
	var source rand.PCG
	out := make([][]int32, to-from)
	for i := range out {
		out[i] = make([]int32, rs.units)
		SeedResample(&source, b.Seed, from+i)
		random := rand.New(&source)
		for range rs.pool {
			out[i][rs.pool[random.Uint64N(uint64(len(rs.pool)))]]++
		}
	}
	return out
}

// SeedResample seeds a resample's own random numbers. It spreads the bits of its number
// (the last step of SplitMix64), because generators with similar states begin alike.
func SeedResample(source *rand.PCG, seed uint64, resample int) {
	z := uint64(resample) + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	source.Seed(seed, z^z>>31)
}

// quantile returns the quantile q of sorted values, with linear interpolation between
// neighbours (type 7 of Hyndman and Fan, 1996), or NaN if there are none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	share := at - float64(below)
	return sorted[below] + float64(share*(sorted[below+1]-sorted[below]))
}
