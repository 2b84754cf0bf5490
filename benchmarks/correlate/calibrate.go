package correlate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Calibration is the best threshold of ties for a metric.
type Calibration struct {
	Acc23 float64 // mean over vectors at the threshold; NaN without a pair
	// Epsilon is the threshold: metric scores that differ by at most this are tied.
	Epsilon float64
}

// Calibrate finds the one threshold of ties for all vectors with the largest mean of
// [PairCounts.Acc23] over the vectors that have a pair (Deutsch et al., 2023, "Ties
// Matter"). It tries 0 and every difference of metric scores within a vector, and takes the
// smallest of equally good ones.
func Calibrate(rows []Row) Calibration {
	agree, changes := tieChanges(rows, true, nil)
	return calibrated(rows, agree, changes)
}

// calibrated finds the threshold from what [tieChanges] returns.
func calibrated(rows []Row, agree []int64, changes []rankItem) Calibration {
	// The weight of a pair is the unit divided by the number of the vector's pairs, so the
	// mean over vectors is the sum of the weights of the pairs that agree.
	unit, vectors, sum := commonUnit(rows), 0.0, 0.0
	weights := make([]float64, len(rows))
	for k, r := range rows {
		if n := len(r.Gold); n >= 2 {
			vectors++
			weights[k] = unit / float64(n*(n-1)/2)
			sum += weights[k] * float64(agree[k])
		}
	}
	best := Calibration{Acc23: sum}
	for i, c := range changes {
		if w := weights[c.index>>1]; c.index&1 == 0 {
			sum += w
		} else {
			sum -= w
		}
		if last := i+1 == len(changes) || changes[i+1].key != c.key; last && sum > best.Acc23 {
			best = Calibration{sum, math.Float64frombits(c.key)}
		}
	}
	best.Acc23 /= unit * vectors // NaN without vectors
	return best
}

// tieChanges returns how many pairs of each vector agree without a threshold, and at which
// thresholds a tie changes that, in their order. The index of a change is twice the number of its
// vector, and 1 more if agreement ends there. If vectors are not whole, it is the number of an
// element instead, and other that of the other one; add gets those of pairs that agree.
func tieChanges(rows []Row, whole bool, add func(i, j int32)) (agree []int64, changes []rankItem) {
	agree = make([]int64, len(rows))
	number := int64(0)
	for _, r := range rows {
		c := CountPairs(r.Gold, r.Metric)
		number += c.Concordant + c.TiedGold
	}
	changes = make([]rankItem, 0, number) // 2 GB for the largest number of pairs
	first := int32(0)
	for k, r := range rows {
		for i := range r.Gold {
			for j := range i {
				one, other := int32(k), int32(0)
				if !whole {
					one, other = first+int32(i), first+int32(j)
				}
				gold, metric := cmp.Compare(r.Gold[i], r.Gold[j]), cmp.Compare(r.Metric[i], r.Metric[j])
				ends := int32(0)
				if gold == metric {
					ends = 1
					if agree[k]++; add != nil {
						add(one, other)
					}
				}
				if metric != 0 && gold != -metric { // otherwise a tie changes nothing
					changes = append(changes, rankItem{math.Float64bits(math.Abs(r.Metric[i] - r.Metric[j])), 2*one + ends, other})
				}
			}
		}
		first += int32(len(r.Gold))
	}
	return agree, sortItems(changes)
}

// commonUnit is a common multiple of the vectors' numbers of pairs, if it is small: with
// it, the weights of pairs are integers and their sums exact.
func commonUnit(rows []Row) float64 {
	const most = 1 << 20
	unit := uint64(1)
	for _, r := range rows {
		if n := uint64(len(r.Gold)); n >= 2 && unit <= most {
			unit = leastCommonMultiple(unit, n*(n-1)/2)
		}
	}
	return float64(unit)
}

func leastCommonMultiple(a, b uint64) uint64 {
	gcd, rest := a, b
	for rest != 0 {
		gcd, rest = rest, gcd%rest
	}
	return a / gcd * b
}

// ErrTooManyPairs says that a calibrated statistic has too many pairs of cells.
var ErrTooManyPairs = errors.New("too many pairs of cells for tie calibration; group by segment")

// The largest numbers of pairs that are kept: to find one threshold, and to find one in
// each resample.
const (
	calibratedPairs = 1 << 27
	resampledPairs  = 1 << 22
)

// calibratedRow holds the pairs of all vectors whose agreement depends on the threshold of
// ties, in the order of their differences.
type calibratedRow struct {
	rows        []Row
	unit        float64 // in which pairs are counted, chosen so that sums are exact if possible
	changes     []tieChange
	agree       []tieChange   // pairs that agree without a threshold
	whole       []int64       // instead, of each vector, how many agree, if vectors are drawn whole
	chunks      []changeChunk // then, of the changes
	calibration Calibration   // then
}

// tieChange is a pair of elements; if vectors are drawn whole, one stands for the vector.
type tieChange struct {
	one, other int32
	ends, last bool // agreement ends there; the next change has a larger difference
}

// changeChunk is a part of the changes, up to an end. For each vector it has by how much more pairs
// agree at the end, and at most within.
type changeChunk struct {
	end int
	of  []chunkVector
}

type chunkVector struct{ vector, net, most int32 }

// Resamplable says before any work whether the table can be resampled under the measure:
// the error is [ErrTooManyPairs] if a calibrated statistic has more than some millions of
// pairs of cells.
func (m Measure) Resamplable(p *Pairs) error {
	if !m.Statistic.Calibrated() || p.level != nil {
		return nil
	}
	if err := fewPairs(m.Rows(p), resampledPairs); err != nil {
		return fmt.Errorf("resamples of %v: %w", m, err)
	}
	return nil
}

func fewPairs(rows []Row, most int) error {
	pairs := 0
	for _, r := range rows {
		pairs += len(r.Gold) * (len(r.Gold) - 1) / 2
	}
	if pairs > most {
		return fmt.Errorf("%d pairs: %w", pairs, ErrTooManyPairs)
	}
	return nil
}

// newCalibratedRow takes vectors of which each, or each element, is drawn; in units, if not 0.
func newCalibratedRow(rows []Row, whole bool, unit float64) (*calibratedRow, error) {
	if err := fewPairs(rows, resampledPairs); err != nil {
		return nil, err
	}
	c := &calibratedRow{rows: rows, unit: unit}
	agree, changes := tieChanges(rows, whole, func(one, other int32) {
		if !whole {
			c.agree = append(c.agree, tieChange{one: one, other: other})
		}
	})
	c.changes = make([]tieChange, len(changes))
	for i, x := range changes {
		c.changes[i] = tieChange{x.index >> 1, x.other, x.index&1 == 1, i+1 == len(changes) || changes[i+1].key != x.key}
	}
	if whole {
		c.whole, c.unit = agree, commonUnit(rows)
		c.calibration = calibrated(rows, agree, changes)
		c.cut()
	}
	return c, nil
}

// cut makes chunks that have several changes of each vector.
func (c *calibratedRow) cut() {
	const changesOfVector = 8
	place, start := make([]int, len(c.rows)), 0 // 1 more than that of a vector in the chunk
	var of []chunkVector
	for i, x := range c.changes {
		if place[x.one] == 0 {
			of = append(of, chunkVector{vector: x.one})
			place[x.one] = len(of)
		}
		v := &of[place[x.one]-1]
		if v.net++; x.ends {
			v.net -= 2
		}
		v.most = max(v.most, v.net)
		if x.last && i-start >= changesOfVector*len(c.rows) || i+1 == len(c.changes) {
			c.chunks = append(c.chunks, changeChunk{i + 1, slices.Clone(of)})
			of, start = of[:0], i+1
			clear(place)
		}
	}
}

// weighted recalibrates for vectors in which each element of unit u occurs weights[u]
// times. If whole vectors are drawn, the vector of unit u occurs weights[u] times.
func (c *calibratedRow) weighted(weights []int32, s *scratch) float64 {
	if c.whole != nil {
		return c.weightedWhole(weights, s)
	}
	elements := 0
	for _, r := range c.rows {
		elements += len(r.unit)
	}
	one, other := s.floats(elements, elements) // a pair adds a product
	vectors, sum, first := 0.0, 0.0, 0
	for _, r := range c.rows {
		if n := size(r.unit, weights); n >= 2 {
			vectors++
			share := 2 * c.unit / float64(n*(n-1))
			for i, u := range r.unit {
				w := float64(weights[u])
				one[first+i], other[first+i] = share*w, w
				sum += share * w * (w - 1) / 2 // pairs of copies agree
			}
		}
		first += len(r.unit)
	}
	for i := range c.agree {
		sum += one[c.agree[i].one] * other[c.agree[i].other]
	}
	return bestSum(c.changes, one, other, sum, sum) / c.unit / vectors
}

// weightedWhole passes over the chunks first, and then over the changes of those that may have the
// best threshold.
func (c *calibratedRow) weightedWhole(weights []int32, s *scratch) float64 {
	of, bounds := s.floats(len(c.rows), 2*len(c.chunks))
	vectors, sum := 0.0, 0.0
	for i, r := range c.rows {
		if n := len(r.unit); n >= 2 {
			w := float64(weights[r.unit[0]])
			vectors += w
			of[i] = 2 * c.unit / float64(n*(n-1)) * w
			sum += of[i] * float64(c.whole[i])
		}
	}
	best := sum
	for k, chunk := range c.chunks {
		net, most := 0.0, 0.0
		for _, v := range chunk.of {
			w := of[v.vector]
			net += w * float64(v.net)
			most += w * float64(v.most)
		}
		bounds[2*k], bounds[2*k+1] = sum, sum+most
		sum += net
		best = max(best, sum)
	}
	from := 0
	for k, chunk := range c.chunks {
		if bounds[2*k+1] > best {
			best = bestSum(c.changes[from:chunk.end], of, []float64{1}, bounds[2*k], best)
		}
		from = chunk.end
	}
	return best / c.unit / vectors
}

// bestSum is the largest sum after a change, or the best so far.
func bestSum(changes []tieChange, one, other []float64, sum, best float64) float64 {
	for i := range changes {
		x := &changes[i]
		if v := one[x.one] * other[x.other]; x.ends {
			sum -= v
		} else {
			sum += v
		}
		if x.last && sum > best {
			best = sum
		}
	}
	return best
}
