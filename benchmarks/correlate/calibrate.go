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
	// The weight of a pair is the unit divided by the number of the vector's pairs, so the
	// mean over vectors is the sum of the weights of the pairs that agree.
	unit, vectors, sum := commonUnit(rows), 0.0, 0.0
	all, number := make([]PairCounts, len(rows)), int64(0)
	for i, r := range rows {
		all[i] = CountPairs(r.Gold, r.Metric)
		number += all[i].Concordant + all[i].TiedGold
	}
	changes := make([]change, 0, number) // 2 GB for the largest number of pairs
	for k, r := range rows {
		n := len(r.Gold)
		if n < 2 {
			continue
		}
		vectors++
		weight := unit / float64(n*(n-1)/2)
		sum += weight * float64(all[k].Concordant+all[k].TiedBoth)
		for i := range r.Gold {
			for j := range i {
				switch gold, metric := cmp.Compare(r.Gold[i], r.Gold[j]), cmp.Compare(r.Metric[i], r.Metric[j]); {
				case metric == 0 || gold == -metric: // a tie changes nothing
				case gold == metric:
					changes = append(changes, change{math.Abs(r.Metric[i] - r.Metric[j]), -weight})
				default:
					changes = append(changes, change{math.Abs(r.Metric[i] - r.Metric[j]), weight})
				}
			}
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.difference, b.difference), cmp.Compare(a.net, b.net))
	})
	best := Calibration{Acc23: sum}
	for i, c := range changes {
		sum += c.net
		if last := i+1 == len(changes) || changes[i+1].difference != c.difference; last && sum > best.Acc23 {
			best = Calibration{sum, c.difference}
		}
	}
	best.Acc23 /= unit * vectors // NaN without vectors
	return best
}

// change is how the sum of weights changes at a threshold of this difference.
type change struct{ difference, net float64 }

// commonUnit is a common multiple of the vectors' numbers of pairs, if it is small: with
// it, the weights of pairs are integers and their sums exact.
func commonUnit(rows []Row) float64 {
	const most = 1 << 20
	unit, first, same := uint64(1), uint64(0), true
	for _, r := range rows {
		n := uint64(len(r.Gold))
		if n < 2 {
			continue
		}
		pairs := n * (n - 1) / 2
		if first == 0 {
			first = pairs
		}
		same = same && pairs == first
		if unit <= most {
			unit = leastCommonMultiple(unit, pairs)
		}
	}
	if same && first > 0 {
		unit = first
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
	rows    []Row
	whole   bool    // vectors are drawn whole
	unit    float64 // in which pairs are counted, chosen so that sums are exact if possible
	agree   []tiedPair
	changes []tiedPair
}

// tiedPair is a pair of elements of a vector.
type tiedPair struct {
	key   uint64
	row   int32
	left  int32 // units of the elements
	right int32
	gain  int8  // +1 if a tie makes it agree, -1 if a tie ends agreement
	order int32 // position among all changes, in the order found
}

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

func newCalibratedRow(rows []Row, whole bool) (*calibratedRow, error) {
	if err := fewPairs(rows, resampledPairs); err != nil {
		return nil, err
	}
	c := &calibratedRow{rows: rows, whole: whole, unit: 1}
	for row, r := range rows {
		for i := range r.Gold {
			for j := range i {
				gold, metric := cmp.Compare(r.Gold[i], r.Gold[j]), cmp.Compare(r.Metric[i], r.Metric[j])
				pair := tiedPair{row: int32(row), left: r.unit[i], right: r.unit[j]}
				if gold == metric {
					c.agree = append(c.agree, pair)
				}
				if metric == 0 || gold == -metric {
					continue // a tie changes nothing
				}
				pair.key = math.Float64bits(math.Abs(r.Metric[i] - r.Metric[j]))
				pair.gain = 1
				if gold == metric {
					pair.gain = -1
				}
				pair.order = int32(len(c.changes))
				c.changes = append(c.changes, pair)
			}
		}
	}
	slices.SortFunc(c.changes, func(a, b tiedPair) int {
		if a.key == b.key {
			return cmp.Compare(a.order, b.order)
		}
		return cmp.Compare(a.key, b.key)
	})
	return c, nil
}

// weighted recalibrates for vectors in which each element of unit u occurs weights[u]
// times. If whole vectors are drawn, the vector of unit u occurs weights[u] times.
func (c *calibratedRow) weighted(weights []int32, s *scratch) float64 {
	// share is what a pair of elements that occur once adds to the sum.
	share, _ := s.floats(len(c.rows), 0)
	vectors, sum := 0.0, 0.0
	for i, r := range c.rows {
		if c.whole {
			if n := len(r.unit); n >= 2 {
				share[i] = 2 * c.unit / float64(n*(n-1))
				vectors += float64(weights[r.unit[0]])
			}
			continue
		}
		n := size(r.unit, weights)
		if n < 2 {
			continue
		}
		vectors++
		share[i] = 2 * c.unit / float64(n*(n-1))
		for _, u := range r.unit { // pairs of copies agree
			w := float64(weights[u])
			sum += share[i] * w * (w - 1) / 2
		}
	}
	times := func(p *tiedPair) float64 {
		w := float64(weights[p.left])
		if !c.whole {
			w *= float64(weights[p.right])
		}
		return w * share[p.row]
	}
	for i := range c.agree {
		sum += times(&c.agree[i])
	}
	best := sum
	for i := range c.changes {
		p := &c.changes[i]
		sum += float64(p.gain) * times(p)
		if i+1 == len(c.changes) || c.changes[i+1].key != p.key {
			best = max(best, sum)
		}
	}
	return best / c.unit / vectors
}
