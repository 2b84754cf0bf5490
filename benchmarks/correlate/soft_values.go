package correlate

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/refract-eval/refract/internal/numeric"
)

// permutations is the number of permutations for a p-value.
const permutations = 1000

// softScores are scores of systems, for p-values of their differences.
//
// After an exchange, the difference of two systems is at least the observed one if the first has no
// larger sum than the second over the exchanged segments. So a permutation needs one sum of each
// system, and none of each pair. Scores become whole numbers, above the lowest of their segment, so
// that one addition adds those of several systems: a word has two lanes, or one if there are many
// segments. Where two sums are so near that this rounding could decide, they are computed from the
// scores.
type softScores struct {
	of       [][]float64   // of each system
	largest  float64       // magnitude
	segments int           // that sums may cover
	width    int           // of a lane, in bits
	numbers  [][]fourWords // of each segment, for some systems each
	near     float64       // by how much a segment's difference may be wrong, as a whole number
}

// fourWords has numbers of up to eight systems: the first four in the lower lanes.
type fourWords [4]uint64

func newSoftScores(rows []Row, scores func(Row) []float64) *softScores {
	var of [][]float64
	for _, r := range rows {
		of = append(of, scores(r))
	}
	if len(of) == 0 {
		return &softScores{}
	}
	return prepareSoft(of, len(of[0])+len(of[0])/8)
}

// fit returns scores whose sums may cover so many segments.
func (s *softScores) fit(segments int) *softScores {
	if segments <= s.segments {
		return s
	}
	return prepareSoft(s.of, segments)
}

func prepareSoft(of [][]float64, segments int) *softScores {
	const narrow, wide, margin, few = 1<<31 - 1<<28, 1 << 60, 1 << 28, 1 << 12
	s := &softScores{of: of, segments: segments, width: 32}
	lowest, span := slices.Clone(of[0]), 0.0
	for _, scores := range of {
		for i, v := range scores {
			lowest[i], s.largest = min(lowest[i], v), max(s.largest, math.Abs(v))
		}
	}
	for _, scores := range of {
		for i, v := range scores {
			span = max(span, v-lowest[i])
		}
	}
	n := float64(segments)
	number := func(v, low float64) uint64 { return 0 }
	if by := float64(numeric.WholeScale(slices.Concat(of...), int64(segments))); by > 0 && span*by*n < narrow {
		number = func(v, low float64) uint64 { return uint64(math.Round(v*by) - math.Round(low*by)) }
	} else if span > 0 {
		scale := narrow / n / span
		wrong := func() float64 { return 1.125 + rounding*s.largest*scale } // of two roundings, and of what counts as equal
		if segments > few || !(wrong()*n < margin/2) {
			s.width, scale = 64, wide/n/span
		}
		if s.near = wrong(); scale > 0 && !math.IsInf(scale, 1) {
			number = func(v, low float64) uint64 { return uint64(math.Round((v - low) * scale)) }
		} else {
			s.near = math.Inf(1)
		}
	}
	for systems := range slices.Chunk(of, 256/s.width) {
		numbers := make([]fourWords, len(lowest))
		for k, scores := range systems {
			for i, v := range scores {
				numbers[i][k%4] |= number(v, lowest[i]) << (k / 4 * s.width)
			}
		}
		s.numbers = append(s.numbers, numbers)
	}
	return s
}

// differ reports whether some of the scores of segments are not the same.
func (s *softScores) differ(order []int32) bool {
	return slices.ContainsFunc(order, func(i int32) bool {
		return slices.ContainsFunc(s.of, func(of []float64) bool { return of[i] != s.of[0][order[0]] })
	})
}

// rounding is the share of the magnitudes of two systems' scores up to which their sums count as
// equal: in another order they differ in their last digits.
const rounding = 1e-12

// pValues returns, for each pair of systems in the order (0,1), (0,2), …, the p-value of the first
// being better, times the number of permutations: in how many it has no larger sum.
func (s *softScores) pValues(order []int32, m *masks) []uint16 {
	margin := uint64(0) // differences of sums of whole numbers up to this may be rounding
	if s.near > 0 {
		margin = uint64(min(s.near*float64(len(order))+2, 1<<61))
	}
	ones := uint64(1)
	if s.width == 32 {
		ones |= 1 << 32
	}
	top, certain, possible := ones<<(s.width-1), ones*(margin+1), ones*(margin-1)
	sums := s.sums(order, m)
	out := make([]uint16, 0, len(sums)*(len(sums)-1)/2)
	for i, x := range sums {
		for j := i + 1; j < len(sums); j++ {
			y := sums[j][:len(x)]
			var larger, perhaps uint64 // in either half
			for k, v := range x {
				less := v | top - y[k] // no lane borrows from the next
				larger += (less - certain) & top >> 31
				perhaps += (less + possible) & top >> 31
			}
			n := int(larger&math.MaxUint32 + larger>>32)
			if larger != perhaps && !slices.Equal(s.of[i], s.of[j]) {
				for k, v := range x {
					less := v | top - y[k]
					unsure := ((less - certain) ^ (less + possible)) & top
					for ; unsure != 0; unsure &= unsure - 1 {
						if s.larger(s.of[i], s.of[j], order, m, (64*k+bits.TrailingZeros64(unsure))/s.width) {
							n++
						}
					}
				}
			}
			out = append(out, uint16(permutations-n))
		}
	}
	return out
}

// larger reports whether the first of two systems has the larger sum over exchanged segments.
func (s *softScores) larger(x, y []float64, order []int32, m *masks, permutation int) bool {
	sum := 0.0
	for k := range m.words {
		segments := order[k*maskBits:]
		for set := m.words[k][permutation]; set != 0; set &= set - 1 {
			at := segments[bits.TrailingZeros64(set)]
			sum += x[at] - y[at]
		}
	}
	if sum <= 0 || sum > rounding*s.largest*float64(len(order)) {
		return sum > 0
	}
	size := 0.0
	for _, at := range order {
		size += math.Abs(x[at]) + math.Abs(y[at])
	}
	return sum > rounding/2*size
}

// sums returns, per system, the sums over the exchanged segments in each permutation: as many in a
// word as it has lanes.
func (s *softScores) sums(order []int32, m *masks) (out [][]uint64) {
	words, tables := new([permutations]fourWords), new(maskTables)
	lanes, mask := 64/s.width, uint64(math.MaxUint64)>>(64-s.width)
	for _, numbers := range s.numbers {
		clear(words[:])
		m.add(words, tables, numbers, order)
		for k := range min(256/s.width, len(s.of)-len(out)) {
			of := make([]uint64, permutations/lanes)
			for p := range words {
				of[p/lanes] |= words[p][k%4] >> (k / 4 * s.width) & mask << (p % lanes * s.width)
			}
			out = append(out, of)
		}
	}
	return out
}

// masks says which segments each permutation exchanges.
type masks struct {
	segments int
	words    [][permutations]uint64 // of each maskBits segments
}

// Sums of each maskGroup segments are computed once for all their masks, and as many of these are
// looked up at once as a word has.
const (
	maskGroup  = 7
	maskGroups = 8
	maskBits   = maskGroup * maskGroups
)

// maskTables are the sums of segments for each mask of some groups of them.
type maskTables [maskGroups][1 << maskGroup]fourWords

// add adds the numbers of the exchanged segments.
func (m *masks) add(to *[permutations]fourWords, tables *maskTables, numbers []fourWords, order []int32) {
	for k := range m.words {
		segments := order[k*maskBits : min((k+1)*maskBits, len(order))]
		for i, at := range segments {
			addSegment(&tables[i/maskGroup], i%maskGroup, &numbers[at])
		}
		tables.addTo(to, &m.words[k])
	}
}

// addSegment adds the i-th segment of a group to the sums of those before.
func addSegment(sums *[1 << maskGroup]fourWords, i int, numbers *fourWords) {
	a, b, c, d := numbers[0], numbers[1], numbers[2], numbers[3]
	with := sums[1<<i:][:1<<i]
	for mask, w := range sums[:len(with)] {
		with[mask] = fourWords{w[0] + a, w[1] + b, w[2] + c, w[3] + d}
	}
}

// addTo adds the sums of the masks of each permutation.
func (t *maskTables) addTo(to *[permutations]fourWords, masks *[permutations]uint64) {
	const all = 1<<maskGroup - 1
	for p, m := range masks {
		o := &to[p]
		a, b, c, d := &t[0][m&all], &t[1][m>>7&all], &t[2][m>>14&all], &t[3][m>>21&all]
		o0 := o[0] + a[0] + b[0] + c[0] + d[0]
		o1 := o[1] + a[1] + b[1] + c[1] + d[1]
		o2 := o[2] + a[2] + b[2] + c[2] + d[2]
		o3 := o[3] + a[3] + b[3] + c[3] + d[3]
		a, b, c, d = &t[4][m>>28&all], &t[5][m>>35&all], &t[6][m>>42&all], &t[7][m>>49&all]
		o[0] = o0 + a[0] + b[0] + c[0] + d[0]
		o[1] = o1 + a[1] + b[1] + c[1] + d[1]
		o[2] = o2 + a[2] + b[2] + c[2] + d[2]
		o[3] = o3 + a[3] + b[3] + c[3] + d[3]
	}
}

// coins are mt-metrics-eval's random bits, which decide exchanges: those of the first permutation
// of all segments, then those of the second.
type coins struct {
	mu     sync.Mutex
	random *NumPyRandom
	words  []uint64
	last   *masks
}

func newCoins() *coins { return &coins{random: NewNumPyRandom(4)} }

// masks returns the exchanges of so many segments.
func (c *coins) masks(segments int) *masks {
	words, last := c.toss(segments)
	if last != nil && last.segments == segments {
		return last
	}
	m := &masks{segments, make([][permutations]uint64, (segments+maskBits-1)/maskBits)}
	for k := range m.words {
		from := k * maskBits
		some := uint64(1)<<min(maskBits, segments-from) - 1
		for p := range permutations {
			at := p*segments + from
			m.words[k][p] = (words[at>>6]>>(at&63) | words[at>>6+1]<<(64-at&63)) & some
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = m
	return m
}

// toss returns at least as many bits as so many segments need, and the last masks.
func (c *coins) toss(segments int) ([]uint64, *masks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.words) <= permutations*segments/64+1 {
		var word uint64
		for i := range 64 {
			word |= uint64(1^exchange(c.random)) << i
		}
		c.words = append(c.words, word)
	}
	return c.words, c.last
}

// exchange returns the next random bit, which decides an exchange: a number of 24 bits in
// [0, 1), rounded.
func exchange(random *NumPyRandom) uint8 {
	if random.Uint32()>>8 > 1<<23 { // exactly one half rounds to the even 0
		return 1
	}
	return 0
}
