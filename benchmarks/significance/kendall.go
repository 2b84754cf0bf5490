package significance

import (
	"cmp"
	"math"
	"slices"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// kendallExchange gives the mean of tau-b over vectors. Long vectors are
// partitioned, short ones compared in bits.
type kendallExchange struct {
	zero bool
	rows []kendallRow
}

// kendallRow is one vector: its first element is at.
type kendallRow struct {
	at, n int
	long  *longRow // nil where bits are used
	bits  *bitRow
}

// mostBits is the size of the longest vector that is compared in bits.
const mostBits = 40

// newKendallExchange returns nil where a vector is too long for it.
func newKendallExchange(a, b []correlate.Row, zero bool) *kendallExchange {
	k := &kendallExchange{zero: zero}
	spreads := map[int]*spread{}
	at := 0
	for i := range a {
		n := len(a[i].Gold)
		row := kendallRow{at: at, n: n}
		at += n
		if n < 2 {
			continue
		}
		if n <= mostBits {
			if spreads[n] == nil {
				spreads[n] = newSpread(n)
			}
			row.bits = newBitRow(a[i].Gold, a[i].Metric, b[i].Metric, spreads[n])
		} else {
			row.long = newLongRow(a[i].Gold, a[i].Metric, b[i].Metric)
			if row.long == nil {
				return nil
			}
		}
		k.rows = append(k.rows, row)
	}
	return k
}

func (k *kendallExchange) values(mask []uint64, s *scratch) (float64, float64) {
	x, y := mean{zero: k.zero}, mean{zero: k.zero}
	for i := range k.rows {
		r := &k.rows[i]
		var v, w float64
		if r.bits != nil {
			v, w = r.bits.values(window(mask, r.at, r.n))
		} else {
			v, w = r.long.values(mask, r.at, s)
		}
		x.add(v)
		y.add(w)
	}
	return x.value(), y.value()
}

// window returns n bits of mask, at most 64, from bit at.
func window(mask []uint64, at, n int) uint64 {
	word, shift := at>>6, at&63
	w := mask[word] >> shift
	if shift+n > 64 {
		w |= mask[word+1] << (64 - shift)
	}
	return w & (1<<n - 1)
}

// longRow is a long vector. The scores of both metrics are sorted together,
// once: whatever is exchanged, the scores of the first metric are then a part of
// that order, and no resample sorts.
//
// Let s(e, f) be 1 where two of all these scores are concordant with their gold
// scores, -1 where they are discordant and 0 where one of the two is tied. The
// sum of s over the pairs within the first metric is what its tau-b needs. That
// of the second follows from it: the sums over all partners, T(e), of the first
// metric's scores add up to twice the first sum and the pairs across, those of
// the second to twice the second sum and the same pairs across. T does not
// depend on the exchange.
type longRow struct {
	n        int
	pairs    float64  // number of pairs
	apart    int64    // number of pairs not tied in gold
	root     float64  // square root of it
	entries  []entry  // in ascending order of the scores, then of the gold scores
	runs     []run    // of equal scores, where they are more than one
	balance  []int64  // T of the second score less that of the first, by element
	splitter splitter // counts concordant pairs
}

// entry is a score of one of the metrics.
type entry struct {
	element uint32 // 2·element, plus 1 if it is the second metric's
	code    uint32 // of its gold score, for the splitter
}

// run is a run of entries with the same score.
type run struct {
	from, to int32
	groups   []int32 // the ends of parts with the same gold score
}

// values returns tau-b of both metrics.
func (r *longRow) values(mask []uint64, at int, s *scratch) (float64, float64) {
	codes := s.buffer(0, r.n+1) // one more, to be written in vain
	var tied [2]int64           // pairs tied in a metric
	var tiedApart int64         // and of the first metric's, not in gold
	pos, from := 0, 0
	for i := range r.runs {
		run := &r.runs[i]
		pos = first(codes, pos, r.entries[from:run.from], mask, at)
		start, sameGold := pos, int64(0)
		from = int(run.from)
		for _, end := range run.groups {
			before := pos
			pos = first(codes, pos, r.entries[from:end], mask, at)
			sameGold += pairs(int64(pos - before))
			from = int(end)
		}
		n := int64(pos - start)
		tied[0] += pairs(n)
		tied[1] += pairs(int64(run.to-run.from) - n)
		tiedApart += pairs(n) - sameGold
	}
	pos = first(codes, pos, r.entries[from:], mask, at)
	concordant := r.splitter.ascending(codes[:pos], s)
	// Equal scores stand in the order of the gold scores, so that their pairs
	// were taken for concordant ones.
	one := 2*concordant - r.apart - tiedApart
	two := one + r.balanceOf(mask, at)/2
	return r.tau(one, tied[0]), r.tau(two, tied[1])
}

func pairs(n int64) int64 { return n * (n - 1) / 2 }

// first appends the codes of the entries that belong to the first metric.
func first(codes []uint32, pos int, entries []entry, mask []uint64, at int) int {
	for i := range entries {
		e := &entries[i]
		k := at + int(e.element>>1)
		second := (uint64(e.element) ^ mask[k>>6]>>(k&63)) & 1
		codes[pos] = e.code
		pos += int(second ^ 1)
	}
	return pos
}

// balanceOf is the sum of T over the second metric's scores less that over the
// first's.
func (r *longRow) balanceOf(mask []uint64, at int) int64 {
	var sum int64
	for i, b := range r.balance {
		k := at + i
		sign := -int64(mask[k>>6] >> (k & 63) & 1)
		sum += (b ^ sign) - sign
	}
	return sum
}

func (r *longRow) tau(difference, tied int64) float64 {
	untied := r.pairs - float64(tied)
	if untied == 0 || r.apart == 0 {
		return math.NaN()
	}
	return float64(difference) / math.Sqrt(untied) / r.root
}

// newLongRow returns nil for a vector that the splitter does not take.
func newLongRow(gold, a, b []float64) *longRow {
	n := len(gold)
	r := &longRow{n: n, pairs: float64(pairs(int64(n)))}
	ranks, counts := rankOf(gold)
	codes := r.splitter.plan(counts)
	if codes == nil {
		return nil
	}
	r.apart = pairs(int64(n))
	for _, c := range counts {
		r.apart -= pairs(int64(c))
	}
	r.root = math.Sqrt(float64(r.apart))

	type score struct {
		value   float64
		element uint32
		rank    int32
	}
	scores := make([]score, 0, 2*n)
	for i := range gold {
		scores = append(scores, score{a[i], uint32(2 * i), ranks[i]}, score{b[i], uint32(2*i + 1), ranks[i]})
	}
	slices.SortFunc(scores, func(x, y score) int {
		return cmp.Or(cmp.Compare(x.value, y.value), cmp.Compare(x.rank, y.rank), cmp.Compare(x.element, y.element))
	})
	r.entries = make([]entry, len(scores))
	order, ends := make([]int32, len(scores)), []int32(nil)
	for i, s := range scores {
		r.entries[i] = entry{s.element, codes[s.rank]}
		order[i] = s.rank
		if i+1 == len(scores) || scores[i+1].value != s.value {
			ends = append(ends, int32(i+1))
		}
	}
	from := int32(0)
	for _, to := range ends {
		if to-from > 1 {
			run := run{from: from, to: to}
			for i := from; i < to; i++ {
				if i+1 == to || order[i+1] != order[i] {
					run.groups = append(run.groups, i+1)
				}
			}
			r.runs = append(r.runs, run)
		}
		from = to
	}
	r.balance = make([]int64, n)
	for i, t := range partners(order, ends, len(counts)) {
		element := r.entries[i].element
		r.balance[element>>1] += t * (int64(element&1)*2 - 1)
	}
	return r
}

// rankOf returns the rank of each value among the distinct ones, and how often
// each of these occurs.
func rankOf(x []float64) (ranks []int32, counts []int) {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	var distinct []float64
	for _, v := range sorted {
		if len(distinct) == 0 || v != distinct[len(distinct)-1] {
			distinct = append(distinct, v)
			counts = append(counts, 0)
		}
		counts[len(counts)-1]++
	}
	ranks = make([]int32, len(x))
	for i, v := range x {
		at, _ := slices.BinarySearch(distinct, v)
		ranks[i] = int32(at)
	}
	return ranks, counts
}

// partners returns, for elements in ascending order of one of two vectors, the
// number of partners with which each is concordant less that with which it is
// discordant. ranks are those in the other vector, and ends are the ends of
// runs that are equal in the first.
func partners(ranks, ends []int32, distinct int) []int64 {
	out := make([]int64, len(ranks))
	// tree is a Fenwick tree over the ranks of the elements in other runs that
	// were passed.
	tree := make([]int64, distinct+1)
	pass := func(from, to int32, sign int64, seen int64) {
		for i := from; i < to; i++ {
			var upTo, below int64
			for k := ranks[i]; k > 0; k &= k - 1 {
				below += tree[k]
			}
			for k := ranks[i] + 1; k > 0; k &= k - 1 {
				upTo += tree[k]
			}
			out[i] += sign * (below - (seen - upTo))
		}
		for i := from; i < to; i++ {
			for k := ranks[i] + 1; int(k) < len(tree); k += k & -k {
				tree[k]++
			}
		}
	}
	from := int32(0)
	for _, to := range ends {
		pass(from, to, 1, int64(from))
		from = to
	}
	clear(tree)
	for i := len(ends) - 1; i >= 0; i-- {
		from := int32(0)
		if i > 0 {
			from = ends[i-1]
		}
		pass(from, ends[i], -1, int64(len(ranks))-int64(ends[i]))
	}
	return out
}
