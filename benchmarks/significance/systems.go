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
	"github.com/refract-eval/refract/internal/numeric"
)

// SystemTest names a test of whether the scores of two systems differ. Draws, seed and
// p-values equal those of sacreBLEU 2.6.
type SystemTest uint8

// The tests.
const (
	// PairedBootstrap draws segments with replacement (Koehn, 2004). The p-value is the share
	// of resamples, including the observed one, whose absolute difference exceeds the mean of
	// these by more than the observed difference. It is close to a one-sided test's: half of
	// what PairedRandomization gives.
	PairedBootstrap SystemTest = iota
	// PairedRandomization exchanges the two systems' outputs of a segment with probability 1/2
	// (approximate randomization; Riezler and Maxwell, 2005). The p-value is the share of
	// trials, including the observed one, whose absolute difference is larger than the
	// observed one.
	PairedRandomization
)

var systemTestNames = []string{"paired-bs", "paired-ar"}

// SystemTestNames returns the names that [ParseSystemTest] reads.
func SystemTestNames() []string { return slices.Clone(systemTestNames) }

// String returns the name that [ParseSystemTest] reads.
func (t SystemTest) String() string {
	return english.Name("SystemTest", int(t), systemTestNames)
}

// ParseSystemTest returns the test with a name. The error lists the names.
func ParseSystemTest(name string) (SystemTest, error) {
	i, err := english.Index("test of systems", name, systemTestNames)
	return SystemTest(i), err
}

// Resamples is sacreBLEU's number: 1,000 resamples of segments, 10,000 trials.
func (t SystemTest) Resamples() int {
	if t == PairedRandomization {
		return 10 * corpusResamples
	}
	return corpusResamples
}

// Systems holds the statistics behind the scores of systems under one setting.
type Systems struct {
	// Statistics[system][segment] are the numbers whose sums over segments Score turns into a
	// score, equally many for each; nil if the system has no score for the segment. For a mean
	// of segment scores, the score is the only statistic.
	Statistics [][][]float64
	// Score returns the score of a number of segments whose statistics have these sums. It is
	// called from any number of goroutines.
	Score         func(sums []float64, segments int) float64
	LowerIsBetter bool
}

// EveryPair as the baseline compares all systems with each other.
const EveryPair = -1

// SystemOptions are the settings of a comparison of systems.
type SystemOptions struct {
	Test SystemTest
	// Resamples of the test; 0 means sacreBLEU's number. Intervals use as many under
	// PairedBootstrap, and otherwise 1,000.
	Resamples int
	Seed      uint64  // sacreBLEU's is 12345
	Alpha     float64 // intervals cover 1 − Alpha
	Baseline  int     // index of the system compared with all others, or [EveryPair]
	// Drawn is called after each resample with the number so far and the total, by one
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
	Score    float64 // NaN without segments
	Segments int     // number of segments used
	Interval CorpusInterval
	// Rank is 1 more than the number of better systems, and 0 for a system without a segment
	// that another one has; RankLow and RankHigh are the ends of its interval over resamples.
	Rank, RankLow, RankHigh int
}

// SystemPair compares two systems over their common segments.
type SystemPair struct {
	A, B           int // indices of the systems
	Segments       int
	ScoreA, ScoreB float64
	Delta          float64 // ScoreA − ScoreB; NaN without segments
	Differing      int     // number of segments in which their statistics differ
	// P is sacreBLEU's p-value. If no segment differs it is the smallest possible, and with
	// few differing segments it is too small: base claims on Decisive.
	P float64
	// Decisive is P, but at least Least; under PairedRandomization it also counts the trials
	// whose difference equals the observed one.
	Decisive  float64
	Corrected float64        // Decisive after [Holm]'s correction for the number of pairs
	Error     float64        // standard error of Delta, by the bootstrap
	Interval  CorpusInterval // of Delta
}

// Least is the smallest two-sided p-value that a test over all exchanges of the differing
// segments can reach.
func (p *SystemPair) Least() float64 { return min(1, math.Exp2(1-float64(p.Differing))) }

// SystemComparison is the result of [Systems.Compare].
type SystemComparison struct {
	Systems []SystemResult
	// Pairs are all with A < B, or all systems A with the baseline B.
	Pairs []SystemPair
}

// Compare tests the systems against each other, or against a baseline. Systems with the
// same segments share the draws, so the result of a pair does not depend on which other
// systems there are.
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
		if o.Test == PairedRandomization && len(c.pairsOf(set)) > 0 {
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

// pairsOf returns the pairs that share a set of segments.
func (c *comparison) pairsOf(set string) []*testedPair {
	var pairs []*testedPair
	for i := range c.pairs {
		if c.pairs[i].set == set {
			pairs = append(pairs, &c.pairs[i])
		}
	}
	return pairs
}

// intervals is the number of resamples for intervals.
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

// comparison is the state of a comparison.
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

// draw computes all results for a set of segments: for the systems that have exactly these,
// for the pairs that share them, and the ranks if it is the union.
func (c *comparison) draw(ctx context.Context, set string) error {
	pairs := c.pairsOf(set)
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

// test computes the p-values of pairs.
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
		a, b := scores[t.position(p.A)], scores[t.position(p.B)]
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

// standardError returns the standard error of a value from its resamples. Undefined ones
// are left out; NaN for fewer than two others.
func standardError(resamples []float64) float64 {
	values := slices.DeleteFunc(slices.Clone(resamples), math.IsNaN)
	if len(values) < 2 {
		return math.NaN()
	}
	mean := numeric.Mean(values)
	for i, v := range values {
		values[i] = (v - mean) * (v - mean)
	}
	return math.Sqrt(numeric.Quotient(values, len(values)-1))
}

// bootstrapP returns sacreBLEU's p-value from the differences of resamples.
func bootstrapP(differences []float64, seen float64) float64 {
	absolute := make([]float64, len(differences))
	for i, d := range differences {
		absolute[i] = math.Abs(d)
	}
	mean, larger := numeric.Mean(absolute), 0
	for _, d := range absolute {
		if above(d-mean, seen) {
			larger++
		}
	}
	return share(larger, len(differences))
}

// above reports whether a difference is larger than the observed one. Those that differ
// only by rounding are equal.
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

// rankIntervals computes the ranks in resamples from the scores of all systems; NaN for
// those without a rank.
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

// ranks returns the ranks of scores, 0 for no score.
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
