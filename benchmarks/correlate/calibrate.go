package correlate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Calibration is the threshold of ties that suits a metric best.
type Calibration struct {
	Acc23 float64 // the mean over vectors at the threshold; NaN without a pair
	// Epsilon is the threshold: metric scores at most this far apart are tied.
	Epsilon float64
}

// Calibrate finds the one threshold of ties for all vectors that gives the
// largest mean of [PairCounts.Acc23] over the vectors that have a pair
// (Deutsch et al., 2023, "Ties Matter"). It tries 0 and every difference of metric scores within a vector, and takes the
// smallest of equally good ones.
//
// It looks at every pair a few times and keeps none: the pairs are counted by
// the leading bits of their differences, and then by more bits where the best
// threshold can lie.
func Calibrate(rows []Row) Calibration {
	c := newCalibrator(rows)
	if len(c.rows) == 0 {
		return Calibration{Acc23: math.NaN()}
	}
	key, sum := c.search(16) // the exponent and five bits of the fraction
	return Calibration{
		Acc23:   sum / c.unit / float64(len(c.rows)),
		Epsilon: math.Float64frombits(key),
	}
}

// calibrator holds the vectors that have a pair. A pair has weight, the unit
// over the number of the vector's pairs, so that the mean over vectors is the
// sum of the weights of the pairs that agree.
type calibrator struct {
	rows []calibrationRow
	unit float64
}

// calibrationRow is a vector in ascending order of the metric scores, with the
// gold scores as ranks.
type calibrationRow struct {
	metric []float64
	gold   []int32
	weight float64
}

func newCalibrator(rows []Row) *calibrator {
	c := &calibrator{unit: commonUnit(rows)}
	for _, r := range rows {
		n := len(r.Gold)
		if n < 2 {
			continue
		}
		ranks, _ := denseRanks(r.Gold)
		row := calibrationRow{weight: c.unit / float64(n*(n-1)/2)}
		for _, i := range ascending(r.Metric) {
			row.metric = append(row.metric, r.Metric[i])
			row.gold = append(row.gold, ranks[i])
		}
		c.rows = append(c.rows, row)
	}
	return c
}

// commonUnit is a common multiple of the numbers of pairs of vectors, where it is
// small: over it, the weights of pairs are integers and their sums exact.
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

// atZero returns the sum of the weights of the pairs that agree when equal
// metric scores alone are tied.
func (c *calibrator) atZero() float64 {
	var sum float64
	for i := range c.rows {
		r := &c.rows[i]
		gold := make([]float64, len(r.gold))
		for k, g := range r.gold {
			gold[k] = float64(g)
		}
		counts := CountPairs(gold, r.metric)
		sum += r.weight * float64(counts.Concordant+counts.TiedBoth)
	}
	return sum
}

// span is a range of keys, which are the bits of differences: their order is
// that of the differences.
type span struct {
	first, last uint64
	start       float64 // sum of weights just below the span
}

// bucket adds up the pairs whose differences have the same leading bits.
type bucket struct {
	net   float64 // change of the sum when all of them are tied
	gain  float64 // of the pairs that then agree, alone
	pairs int64
}

// search returns the key of the best threshold and the sum of the weights
// there. It begins with buckets of the first width bits of the keys.
func (c *calibrator) search(width int) (key uint64, best float64) {
	const (
		keyBits    = 63 // differences have no sign
		mostBucket = 1 << 18
	)
	best = c.atZero()
	f := &finder{shift: keyBits, spans: []span{{first: 1, last: 1<<keyBits - 1, start: best}}}
	for len(f.spans) > 0 {
		buckets := f.split(width)
		c.count(f, buckets)
		key, best = f.prune(buckets, key, best)
		width = min(f.shift, max(4, bits.Len(uint(mostBucket/max(1, len(f.spans))))-1))
	}
	return key, best
}

// finder holds the spans in which the best threshold can still lie, and finds
// the span of a key in one table per split.
type finder struct {
	shift  int // bits of a key that the splits have not looked at
	spans  []span
	splits []split
}

type split struct {
	shift, width int
	next         []int32 // span of each bucket, -1 where it was given up
}

// split prepares buckets of that many more bits.
func (f *finder) split(width int) []bucket {
	f.shift -= width
	f.splits = append(f.splits, split{shift: f.shift, width: width})
	return make([]bucket, len(f.spans)<<width)
}

// bucket returns the bucket of a key, or -1 where it is in none.
func (f *finder) bucket(key uint64) int {
	at := 0
	for i := range f.splits {
		s := &f.splits[i]
		at = at<<s.width | int(key>>s.shift&(1<<s.width-1))
		if i == len(f.splits)-1 {
			return at
		}
		if at = int(s.next[at]); at < 0 {
			return -1
		}
	}
	return at
}

// prune turns the buckets that can hold a better threshold into the spans, and
// returns the best one that is the end of a bucket. That may not be the
// difference of any pair until a bucket is a single key.
func (f *finder) prune(buckets []bucket, key uint64, best float64) (uint64, float64) {
	s := &f.splits[len(f.splits)-1]
	mask := uint64(1)<<s.shift - 1
	bound := func(b int) (first, last uint64) {
		in := f.spans[b>>s.width].first &^ (1<<(s.shift+s.width) - 1)
		first = in | uint64(b&(1<<s.width-1))<<s.shift
		return first, first | mask
	}
	for b, sum := 0, 0.0; b < len(buckets); b++ {
		if b&(1<<s.width-1) == 0 {
			sum = f.spans[b>>s.width].start
		}
		if sum += buckets[b].net; sum < best || buckets[b].pairs == 0 {
			continue
		}
		if _, last := bound(b); sum > best || last < key {
			best, key = sum, last
		}
	}
	// A bucket up to the best end can hold a smaller threshold as good.
	s.next = make([]int32, len(buckets))
	var spans []span
	sum := 0.0
	for b := range buckets {
		if b&(1<<s.width-1) == 0 {
			sum = f.spans[b>>s.width].start
		}
		first, last := bound(b)
		s.next[b] = -1
		most := sum + buckets[b].gain
		if buckets[b].pairs > 0 && s.shift > 0 && (most > best || most == best && first <= key) {
			s.next[b] = int32(len(spans))
			spans = append(spans, span{first: first, last: last, start: sum})
		}
		sum += buckets[b].net
	}
	f.spans = spans
	return key, best
}

// count adds the pairs to their buckets.
func (c *calibrator) count(f *finder, buckets []bucket) {
	first, once := f.splits[0], len(f.splits) == 1
	for r := range c.rows {
		row := &c.rows[r]
		for i, low := range row.metric {
			metric, gold := row.metric[i+1:], row.gold[i+1:]
			own := row.gold[i]
			for j, v := range metric {
				if v == low || gold[j] < own {
					continue // tied from the start, or discordant: a tie changes nothing
				}
				key := math.Float64bits(v - low)
				at := int(key >> first.shift)
				if !once {
					if at = f.bucket(key); at < 0 {
						continue
					}
				}
				b := &buckets[at]
				b.pairs++
				if gold[j] == own {
					b.net += row.weight
					b.gain += row.weight
				} else {
					b.net -= row.weight
				}
			}
		}
	}
}

// ErrTooManyPairs says that a calibrated statistic has too many pairs of cells
// to be resampled.
var ErrTooManyPairs = errors.New("too many pairs of cells to resample with tie calibration; group by segment")

// resampledPairs is the largest number of pairs that are kept to be resampled.
const resampledPairs = 1 << 22

// calibratedRow holds the pairs of all vectors whose agreement a threshold of
// ties changes, in the order of their differences.
type calibratedRow struct {
	rows    []Row
	whole   bool    // vectors are drawn whole
	unit    float64 // in which pairs are counted, such that the sums are exact where that is possible
	agree   []tiedPair
	changes []tiedPair
}

// tiedPair is a pair of elements of a vector.
type tiedPair struct {
	key   uint64
	row   int32
	left  int32 // units of the elements
	right int32
	gain  int8  // +1 where a tie makes it agree, -1 where it does no longer
	order int32 // among all changes, as they were found
}

// Resamplable says before any work whether the table can be resampled under the
// measure: the error is [ErrTooManyPairs] where a calibrated statistic has more
// than some millions of pairs of cells.
func (m Measure) Resamplable(p *Pairs) error {
	if !m.Statistic.Calibrated() || p.level != nil {
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
