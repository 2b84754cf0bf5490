package correlate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrTooManyPairs says that a calibrated statistic has too many pairs of cells
// to be resampled.
var ErrTooManyPairs = errors.New("too many pairs of cells to resample with tie calibration; group by segment")

// resampledPairs is the largest number of pairs that are kept to be resampled.
const resampledPairs = 1 << 22

// calibratedRow holds the pairs of all vectors whose agreement a threshold of
// ties changes, in the order of their differences.
type calibratedRow struct {
	rows    []Row
	whole   bool // vectors are drawn whole
	tau     bool // the value is that of tau-23
	agree   []tiedPair
	changes []tiedPair
}

// tiedPair is a pair of elements of a vector.
type tiedPair struct {
	key   uint64
	row   int32
	left  int32 // units of the elements
	right int32
	gain  int8 // +1 where a tie makes it agree, -1 where it does no longer
}

// Resamplable says before any work whether the table can be resampled under the
// measure: the error is [ErrTooManyPairs] where a calibrated statistic has more
// than some millions of pairs of cells.
func (m Measure) Resamplable(p *Pairs) error {
	if m.Statistic != Stat23 && m.Statistic != StatAcc23 || p.level != nil {
		return nil
	}
	if err := fewPairs(m.Rows(p)); err != nil {
		return fmt.Errorf("resamples of %v: %w", m, err)
	}
	return nil
}

func fewPairs(rows []Row) error {
	pairs := 0
	for _, r := range rows {
		pairs += len(r.Gold) * (len(r.Gold) - 1) / 2
	}
	if pairs > resampledPairs {
		return fmt.Errorf("%d pairs: %w", pairs, ErrTooManyPairs)
	}
	return nil
}

func newCalibratedRow(rows []Row, whole bool) (*calibratedRow, error) {
	if err := fewPairs(rows); err != nil {
		return nil, err
	}
	c := &calibratedRow{rows: rows, whole: whole}
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
				c.changes = append(c.changes, pair)
			}
		}
	}
	slices.SortStableFunc(c.changes, func(a, b tiedPair) int { return cmp.Compare(a.key, b.key) })
	return c, nil
}

// weighted calibrates anew for the vectors in which each element of unit u
// is present weights[u] times; where whole vectors are drawn, for the vectors
// of which that of unit u is present weights[u] times.
func (c *calibratedRow) weighted(weights []int32, s *scratch) float64 {
	// share is what a pair of elements that are present once adds to the sum.
	share, _ := s.floats(len(c.rows), 0)
	vectors, sum := 0.0, 0.0
	for i, r := range c.rows {
		if c.whole {
			if n := len(r.unit); n >= 2 {
				share[i] = 2 / float64(n*(n-1))
				vectors += float64(weights[r.unit[0]])
			}
			continue
		}
		n := size(r.unit, weights)
		if n < 2 {
			continue
		}
		vectors++
		share[i] = 2 / float64(n*(n-1))
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
	value := best / vectors
	if c.tau {
		value = 2*value - 1
	}
	return value
}
