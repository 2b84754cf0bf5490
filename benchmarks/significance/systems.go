package significance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/exact"
)

// SystemTest names a test of whether the scores of two systems differ. Draws,
// seed and p-values are those of sacreBLEU 2.6.
type SystemTest uint8

// The tests.
const (
	// PairedBootstrap draws segments with replacement (Koehn, 2004). The p-value
	// is the share of resamples whose absolute difference is above the mean of
	// these by more than the difference seen, what was seen being one more. It
	// is near that of a one-sided test: half of what PairedRandomization gives.
	PairedBootstrap SystemTest = iota
	// PairedRandomization exchanges what the two systems made of a segment, with a
	// probability of one half (approximate randomization; Riezler and Maxwell,
	// 2005). The p-value is the share of trials whose absolute difference is larger
	// than the one seen, that being one more.
	PairedRandomization
)

var systemTestNames = []string{"paired-bs", "paired-ar"}

// SystemTestNames returns the names that [ParseSystemTest] reads.
func SystemTestNames() []string { return slices.Clone(systemTestNames) }

// String returns the name that [ParseSystemTest] reads.
func (t SystemTest) String() string {
	if int(t) < len(systemTestNames) {
		return systemTestNames[t]
	}
	return fmt.Sprintf("SystemTest(%d)", uint8(t))
}

// ParseSystemTest returns the test of a name. The error lists the names.
func ParseSystemTest(name string) (SystemTest, error) {
	i, err := english.Index("test of systems", name, systemTestNames)
	return SystemTest(i), err
}

// Resamples is how many sacreBLEU takes: 1,000 of segments, 10,000 trials.
func (t SystemTest) Resamples() int {
	if t == PairedRandomization {
		return 10 * corpusResamples
	}
	return corpusResamples
}

// Systems are what the scores of systems under one setting are made of.
type Systems struct {
	// Statistics[system][segment] are the numbers whose sums over segments Score
	// makes a score of, as many for each; nil where the system has no score of the
	// segment. A mean of segment scores has these as its only statistic.
	Statistics [][][]float64
	// Score is the score of so many segments whose statistics add up to sums. It
	// is called from any number of goroutines.
	Score         func(sums []float64, segments int) float64
	LowerIsBetter bool
}

// EveryPair as the baseline has all systems compared with each other.
const EveryPair = -1

// SystemOptions are the settings of a comparison of systems.
type SystemOptions struct {
	Test SystemTest
	// Resamples of the test, 0 for as many as sacreBLEU takes. Intervals are of
	// as many under PairedBootstrap, and else of 1,000.
	Resamples int
	Seed      uint64  // sacreBLEU's is 12345
	Alpha     float64 // intervals cover 1 − Alpha
	Baseline  int     // index of the system that all others are compared with, or [EveryPair]
	// Drawn is told after each resample how many there are so far, and in all: by one
	// goroutine at a time. It may be nil.
	Drawn func(n, of int)
}

func (o *SystemOptions) check(systems int) error {
	o.Resamples = cmp.Or(o.Resamples, o.Test.Resamples())
	switch {
	case int(o.Test) >= len(systemTestNames):
		return errors.New("unknown test of systems")
	case o.Resamples < 1 || o.Resamples > correlate.MaxResamples:
		return fmt.Errorf("%d resamples: want 1 to %d", o.Resamples, correlate.MaxResamples)
	case !(o.Alpha > 0 && o.Alpha < 1):
		return fmt.Errorf("alpha %v is not between 0 and 1, such as 0.05", o.Alpha)
	case o.Baseline < EveryPair || o.Baseline >= systems:
		return fmt.Errorf("the baseline is system %d of %d", o.Baseline, systems)
	}
	return nil
}

// SystemResult is the score of one system.
type SystemResult struct {
	Score    float64 // NaN without a segment
	Segments int     // that it stands on
	Interval CorpusInterval
	// Rank is 1 more than the number of better systems, and 0 for a system that
	// lacks a segment which another has; RankLow and RankHigh are the ends of its
	// interval over resamples.
	Rank, RankLow, RankHigh int
}

// SystemPair compares two systems over the segments that both have.
type SystemPair struct {
	A, B           int // indices of the systems
	Segments       int
	ScoreA, ScoreB float64
	Delta          float64 // ScoreA − ScoreB; NaN without a segment
	Differing      int     // segments in which their statistics differ
	// P is sacreBLEU's p-value. Where no segment differs it is the smallest that
	// there is, and with few of them too small: a claim rests on Decisive.
	P float64
	// Decisive is P, but no less than Least; under PairedRandomization it counts
	// the trials whose difference is as large as the one seen, too.
	Decisive  float64
	Corrected float64        // Decisive after [Holm]'s correction for the number of pairs
	Error     float64        // standard error of Delta, by the bootstrap
	Interval  CorpusInterval // of Delta
}

// Least is the smallest two-sided p-value that a test over all exchanges of the
// segments that differ can reach.
func (p *SystemPair) Least() float64 { return min(1, math.Exp2(1-float64(p.Differing))) }

// SystemComparison is what [Systems.Compare] finds.
type SystemComparison struct {
	Systems []SystemResult
	// Pairs are all with A < B, or all systems A with the baseline B.
	Pairs []SystemPair
}

// Compare tests the systems against each other, or against a baseline. Systems
// that have the same segments share the draws, so that the result of a pair does
// not depend on which other systems there are.
func (s *Systems) Compare(ctx context.Context, o SystemOptions) (*SystemComparison, error) {
	if err := o.check(len(s.Statistics)); err != nil {
		return nil, fmt.Errorf("comparison of systems: %w", err)
	}
	c := &comparison{Systems: s, o: o, sets: newCoverage(s.Statistics), results: make([]SystemResult, len(s.Statistics))}
	if c.sets.union == "" {
		return nil, errors.New("comparison of systems: there is no segment")
	}
	for a := range s.Statistics {
		for b := range s.Statistics {
			if o.Baseline == EveryPair && a < b || o.Baseline == b && a != b {
				c.pairs = append(c.pairs, testedPair{SystemPair{A: a, B: b, P: math.NaN(), Decisive: math.NaN(), Corrected: math.NaN(), Error: math.NaN()}, c.sets.both(a, b)})
			}
		}
	}
	sets := append(slices.Clone(c.sets.of), c.sets.union)
	for i := range c.pairs {
		sets = append(sets, c.pairs[i].set)
	}
	slices.Sort(sets)
	sets = slices.Compact(sets)
	for _, set := range sets {
		c.total += c.intervals()
		if o.Test == PairedRandomization && len(c.of(set)) > 0 {
			c.total += c.o.Resamples
		}
	}
	for _, set := range sets {
		if err := c.draw(ctx, set); err != nil {
			return nil, err
		}
	}
	return c.result(), nil
}

// of are the pairs that share a set of segments.
func (c *comparison) of(set string) []*testedPair {
	var pairs []*testedPair
	for i := range c.pairs {
		if c.pairs[i].set == set {
			pairs = append(pairs, &c.pairs[i])
		}
	}
	return pairs
}

// intervals is how many resamples they are of.
func (c *comparison) intervals() int {
	if c.o.Test == PairedBootstrap {
		return c.o.Resamples
	}
	return corpusResamples
}

// drawn counts a resample.
func (c *comparison) drawn() {
	if c.n++; c.o.Drawn != nil {
		c.o.Drawn(c.n, c.total)
	}
}

// comparison is a comparison in the making.
type comparison struct {
	*Systems
	o       SystemOptions
	sets    *coverage
	pairs   []testedPair
	results []SystemResult

	n, total int // resamples so far, and in all
}

type testedPair struct {
	SystemPair
	set string // of segments
}

// draw finds what there is to know of a set of segments: of the systems that have
// just these, of the pairs that share them, and the ranks if it is the union.
func (c *comparison) draw(ctx context.Context, set string) error {
	pairs := c.of(set)
	var systems []int
	for i := range c.results {
		in := func(p *testedPair) bool { return p.A == i || p.B == i }
		if c.sets.of[i] == set || set == c.sets.union || slices.ContainsFunc(pairs, in) {
			systems = append(systems, i)
		}
	}
	t := newSample(c.Systems, systems, segmentsOf(set))
	t.drawn = c.drawn
	scores, err := t.bootstrap(ctx, c.intervals(), c.o.Seed)
	if err != nil {
		return err
	}
	for k, i := range systems {
		if r := &c.results[i]; c.sets.of[i] == set {
			r.Score, r.Segments, r.Interval = t.seen(i), t.segments, interval(scores[k], 1-c.o.Alpha)
		}
	}
	if set == c.sets.union {
		c.rankIntervals(scores)
	}
	return c.test(ctx, t, pairs, scores)
}

// test finds the p-values of pairs.
func (c *comparison) test(ctx context.Context, t *sample, pairs []*testedPair, scores [][]float64) error {
	if t.segments == 0 {
		for _, p := range pairs {
			p.ScoreA, p.ScoreB, p.Delta = math.NaN(), math.NaN(), math.NaN()
		}
		return nil
	}
	for _, p := range pairs {
		p.Segments = t.segments
		p.ScoreA, p.ScoreB = t.seen(p.A), t.seen(p.B)
		p.Delta = p.ScoreA - p.ScoreB
		p.Differing = t.differing(p.A, p.B)
		a, b := scores[t.at(p.A)], scores[t.at(p.B)]
		differences := make([]float64, len(a))
		for i := range a {
			differences[i] = a[i] - b[i]
		}
		p.Error, p.Interval = standardError(differences), interval(differences, 1-c.o.Alpha)
		if c.o.Test == PairedBootstrap {
			p.P = bootstrapP(differences, math.Abs(p.Delta))
			p.Decisive = max(p.P, p.Least())
		}
	}
	if c.o.Test == PairedBootstrap || len(pairs) == 0 {
		return nil
	}
	return t.exchange(ctx, pairs, c.o.Resamples, c.o.Seed)
}

// standardError is that of a value, by its resamples. Those in which it is
// undefined are left out; NaN of fewer than two others.
func standardError(resamples []float64) float64 {
	values := slices.DeleteFunc(slices.Clone(resamples), math.IsNaN)
	if len(values) < 2 {
		return math.NaN()
	}
	mean := exact.Mean(values)
	for i, v := range values {
		values[i] = (v - mean) * (v - mean)
	}
	return math.Sqrt(exact.Quotient(values, len(values)-1))
}

// bootstrapP is sacreBLEU's p-value of the differences of resamples.
func bootstrapP(differences []float64, seen float64) float64 {
	absolute := make([]float64, len(differences))
	for i, d := range differences {
		absolute[i] = math.Abs(d)
	}
	mean, larger := exact.Mean(absolute), 0
	for _, d := range absolute {
		if above(d-mean, seen) {
			larger++
		}
	}
	return share(larger, len(differences))
}

// above reports whether a difference is larger than the one seen. Those that
// differ by rounding alone are equal.
func above(difference, seen float64) bool { return difference > seen*(1+1e-9) }

func (c *comparison) result() *SystemComparison {
	out := &SystemComparison{Systems: c.results}
	seen := make([]float64, len(c.results))
	for i := range seen {
		if seen[i] = math.NaN(); c.sets.of[i] == c.sets.union {
			seen[i] = c.results[i].Score
		}
	}
	for i, rank := range c.ranks(seen) {
		c.results[i].Rank = rank
	}
	ps := make([]float64, len(c.pairs))
	for i := range c.pairs {
		ps[i] = c.pairs[i].Decisive
	}
	for i, corrected := range Holm(ps) {
		c.pairs[i].Corrected = corrected
		out.Pairs = append(out.Pairs, c.pairs[i].SystemPair)
	}
	return out
}

// rankIntervals finds the ranks in resamples, of the scores of all systems: NaN
// of those without a rank.
func (c *comparison) rankIntervals(drawn [][]float64) {
	scores, ranks := make([]float64, len(drawn)), make([][]int, len(drawn))
	for r := range drawn[0] {
		for i := range drawn {
			if scores[i] = math.NaN(); c.sets.of[i] == c.sets.union {
				scores[i] = drawn[i][r]
			}
		}
		for i, rank := range c.ranks(scores) {
			if rank > 0 {
				ranks[i] = append(ranks[i], rank)
			}
		}
	}
	for i, of := range ranks {
		if len(of) == 0 {
			continue
		}
		slices.Sort(of)
		cut := tail(len(of), 1-c.o.Alpha)
		c.results[i].RankLow, c.results[i].RankHigh = of[cut], of[len(of)-1-cut]
	}
}

// ranks are those of scores, 0 where there is none.
func (c *comparison) ranks(scores []float64) []int {
	out := make([]int, len(scores))
	for i, x := range scores {
		if math.IsNaN(x) {
			continue
		}
		out[i] = 1
		for _, y := range scores {
			if y > x && !c.LowerIsBetter || y < x && c.LowerIsBetter {
				out[i]++
			}
		}
	}
	return out
}
