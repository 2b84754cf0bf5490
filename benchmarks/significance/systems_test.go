package significance

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/metrics/bleu"
)

// meanScore is the score of systems whose statistic is the segment score.
func meanScore(sums []float64, segments int) float64 { return sums[0] / float64(segments) }

// ratio is a score such as TER's.
func ratio(sums []float64, _ int) float64 { return 100 * sums[0] / sums[1] }

// ofScores makes systems from their segment scores.
func ofScores(scores ...[]float64) *Systems {
	s := &Systems{Score: meanScore}
	for _, of := range scores {
		rows := make([][]float64, len(of))
		for i, v := range of {
			if !math.IsNaN(v) {
				rows[i] = []float64{v}
			}
		}
		s.Statistics = append(s.Statistics, rows)
	}
	return s
}

func compareSystems(t testing.TB, s *Systems, o SystemOptions) *SystemComparison {
	t.Helper()
	if o.Alpha == 0 {
		o.Alpha = 0.05
	}
	c, err := s.Compare(t.Context(), o)
	require.NoError(t, err)
	return c
}

// The file has sacreBLEU's statistics of four systems, the last equal to the first, and the
// results of its paired tests; see benchmarks/peers/systems_vectors.py.
func TestSystemsAreSacreBLEUs(t *testing.T) {
	raw, err := os.ReadFile("testdata/sacrebleu_systems.json")
	require.NoError(t, err)
	type result struct {
		Score, Mean, CI float64
		P               *float64
	}
	var want struct {
		Metrics map[string]struct {
			Statistics [][][]float64
			BS, AR     []result
		}
	}
	require.NoError(t, json.Unmarshal(raw, &want))
	m, err := bleu.New(bleu.Options{})
	require.NoError(t, err)
	scores := map[string]func([]float64, int) float64{
		"bleu": func(sums []float64, _ int) float64 { return m.CorpusScore(sums) },
		"ter":  ratio,
	}
	near := func(a, b, most float64) bool { return math.Abs(a-b) <= most }
	for name, of := range want.Metrics {
		s := &Systems{of.Statistics, scores[name], name == "ter"}
		for test, results := range map[SystemTest][]result{PairedBootstrap: of.BS, PairedRandomization: of.AR} {
			c := compareSystems(t, s, SystemOptions{Test: test, Seed: 12345})
			for i, w := range results {
				got := c.Systems[i]
				if !near(got.Score, w.Score, 1e-9) || test == PairedBootstrap && (!near(got.Interval.Mean, w.Mean, 1e-4) || !near(got.Interval.Half, w.CI, 1e-4)) {
					t.Errorf("%s, %v, system %d: %+v, want %+v", name, test, i, got, w)
				}
				if i > 0 && c.Pairs[i-1].P != *w.P {
					t.Errorf("%s, %v, system %d: p = %v, want %v", name, test, i, c.Pairs[i-1].P, *w.P)
				}
			}
		}
	}
	require.Len(t, want.Metrics, 2, "no vectors")
}

// By hand. Bootstrap: the mean difference of two segments, 3 and -1, is 3, 1 or -1 with
// probabilities 1/4, 1/2 and 1/4; the mean of |3|, |1| and |1| is 1.5, and only 3 exceeds
// it by more than the observed 1. Randomization: with random signs, the sum of 3, 1 and -1
// is ±5 in two of eight cases, and otherwise at most the observed 3.
func TestSystemsByHand(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.03 {
			t.Errorf("%s: %v, want about %v", what, got, want)
		}
	}
	p := compareSystems(t, ofScores([]float64{4, 1}, []float64{1, 2}), SystemOptions{Resamples: 20000, Seed: 1, Baseline: 1}).Pairs[0]
	near("bootstrap", p.P, 0.25)
	near("standard error", p.Error, math.Sqrt2)
	if p.A != 0 || p.B != 1 || p.Delta != 1 || p.ScoreA != 2.5 || p.Segments != 2 || p.Differing != 2 || p.Decisive != 0.5 || p.Corrected != 0.5 {
		t.Errorf("%+v", p)
	}
	p = compareSystems(t, ofScores([]float64{4, 1, 0}, []float64{1, 0, 1}), SystemOptions{Test: PairedRandomization, Resamples: 20000, Seed: 1, Baseline: EveryPair}).Pairs[0]
	near("randomization", p.P, 0.25)
	near("randomization, as large", p.Decisive, 0.75) // ±3 in four more cases

	nan := math.NaN()
	c := compareSystems(t, ofScores([]float64{1, 2, 6}, []float64{nan, 1, 5}, []float64{nan, nan, nan}, []float64{7, 7, 7}), SystemOptions{Resamples: 100, Seed: 1, Baseline: EveryPair})
	for i, want := range []SystemResult{{Score: 3, Segments: 3, Rank: 2}, {Score: 3, Segments: 2}, {Score: nan}, {Score: 7, Segments: 3, Rank: 1, RankLow: 1, RankHigh: 1}} {
		got := c.Systems[i]
		if got.Score != want.Score && !math.IsNaN(want.Score) || got.Segments != want.Segments || got.Rank != want.Rank || i > 1 && (got.RankLow != want.RankLow || got.RankHigh != want.RankHigh) {
			t.Errorf("system %d: %+v, want %+v", i, got, want)
		}
	}
	if p := c.Pairs[0]; p.Segments != 2 || p.Delta != 1 || p.ScoreA != 4 { // over the common segments
		t.Errorf("%+v", p)
	}
	if p := c.Pairs[1]; p.Segments != 0 || !math.IsNaN(p.P) || !math.IsNaN(p.Delta) || !math.IsNaN(p.Corrected) {
		t.Errorf("%+v", p)
	}
	if p := c.Pairs[2]; p.Delta != -4 || p.Corrected < p.Decisive || p.Decisive < p.P {
		t.Errorf("%+v", p)
	}
}

func anySystems() *rapid.Generator[*Systems] {
	return rapid.Custom(func(t *rapid.T) *Systems {
		s := &Systems{Score: ratio, LowerIsBetter: rapid.Bool().Draw(t, "lower")}
		segments := rapid.IntRange(1, 70).Draw(t, "segments")
		ragged := rapid.Bool().Draw(t, "ragged")
		for range rapid.IntRange(2, 4).Draw(t, "systems") {
			rows := make([][]float64, segments)
			for i := range rows {
				if !ragged || rapid.IntRange(0, 3).Draw(t, "has") > 0 {
					rows[i] = []float64{float64(rapid.IntRange(0, 9).Draw(t, "edits")), float64(rapid.IntRange(1, 9).Draw(t, "length"))}
				}
			}
			s.Statistics = append(s.Statistics, rows)
		}
		return s
	})
}

// Nothing depends on the order of systems, nor on which of a pair comes first.
func TestOrderOfSystems(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := anySystems().Draw(rt, "systems")
		o := SystemOptions{Test: SystemTest(rapid.IntRange(0, 1).Draw(rt, "test")), Resamples: 50, Seed: 7, Baseline: EveryPair}
		if !slices.ContainsFunc(s.Statistics, func(rows [][]float64) bool {
			return slices.ContainsFunc(rows, func(row []float64) bool { return row != nil })
		}) {
			return
		}
		c := compareSystems(t, s, o)
		last := len(s.Statistics) - 1
		back := &Systems{slices.Clone(s.Statistics), s.Score, s.LowerIsBetter}
		slices.Reverse(back.Statistics)
		turned := compareSystems(t, back, o)
		for _, p := range c.Pairs {
			if p.Segments == 0 {
				continue
			}
			if p.Decisive < p.P || p.Decisive < p.Least() || p.Differing > p.Segments {
				rt.Fatalf("%+v", p)
			}
			k := slices.IndexFunc(turned.Pairs, func(q SystemPair) bool { return q.A == last-p.B && q.B == last-p.A })
			q := turned.Pairs[k]
			if q.P != p.P || q.Decisive != p.Decisive || q.Differing != p.Differing || q.Delta != -p.Delta || q.Corrected != p.Corrected || math.Abs(q.Error-p.Error) > 1e-9 || q.Segments != p.Segments {
				rt.Fatalf("%+v, and the other way round %+v", p, q)
			}
		}
		for i, r := range c.Systems {
			q := turned.Systems[last-i]
			require.False(rt, q != r && r.Segments > 0, "system %d: %+v, and in another order %+v", i, r, q)
			if r.Rank > 0 && (r.RankLow < 1 || r.RankHigh < r.RankLow || r.RankHigh > len(c.Systems)) {
				rt.Fatalf("%+v", r)
			}
		}
	})
}

// Systems that differ only by chance: a comparison finds a difference in at most alpha of
// the runs, however few segments differ, and however large the steps between scores are.
func TestNoDifferenceFromChance(t *testing.T) {
	if testing.Short() {
		t.Skip("it does sums alone, for seconds")
	}
	const alpha, runs = 0.05, 100
	random := rand.New(rand.NewPCG(3, 3))
	finds := func(o SystemOptions, systems, segments, differing int, value func() float64) (falsely int) {
		for range runs {
			scores := make([][]float64, systems)
			for i := range scores {
				scores[i] = make([]float64, segments)
				for k := range differing {
					scores[i][k] = value()
				}
			}
			pairs := compareSystems(t, ofScores(scores...), o).Pairs
			if slices.ContainsFunc(pairs, func(p SystemPair) bool { return p.Corrected <= alpha }) {
				falsely++
			}
		}
		return falsely
	}
	for name, value := range map[string]func() float64{"any score": random.NormFloat64, "right or wrong": func() float64 { return float64(random.IntN(2)) }} {
		for _, differing := range []int{1, 5, 9, 20} {
			o := SystemOptions{Test: PairedRandomization, Resamples: 400, Seed: 1}
			n := finds(o, 2, 30, differing, value)
			if most := 13; n > most || differing < 6 && n > 0 { // 5 are expected; 14 have a probability of 0.0005
				t.Errorf("%s, %d segments differ: %d of %d runs find a difference", name, differing, n, runs)
			}
		}
	}
}

func TestSystemsErrors(t *testing.T) {
	s := ofScores([]float64{1, 2}, []float64{2, 1})
	for name, o := range map[string]SystemOptions{
		"alpha": {Alpha: 1}, "resamples": {Alpha: 0.05, Resamples: -1}, "baseline": {Alpha: 0.05, Baseline: 2}, "below": {Alpha: 0.05, Baseline: -2}, "test": {Alpha: 0.05, Test: 2},
	} {
		_, err := s.Compare(t.Context(), o)
		assert.Error(t, err, "%s: no error", name)
	}
	_, err := ofScores([]float64{}, []float64{}).Compare(t.Context(), SystemOptions{Alpha: 0.05})
	assert.Error(t, err, "no segment: no error")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []SystemTest{PairedBootstrap, PairedRandomization} {
		_, err := s.Compare(ctx, SystemOptions{Test: test, Alpha: 0.05})
		assert.ErrorIs(t, err, context.Canceled, "%v, cancelled", test)
		again, err := ParseSystemTest(test.String())
		assert.True(t, err == nil && again == test, "%v: %v, %v", test, again, err)
	}
}

// Drawn is called for every resample, also if systems lack segments.
func TestDrawn(t *testing.T) {
	s := ofScores([]float64{1, 2, 3, 4}, []float64{2, 3, math.NaN(), 1}, []float64{1, 1, 1, 1})
	for test, want := range map[SystemTest]int{PairedBootstrap: 2 * 50, PairedRandomization: 2 * (corpusResamples + 50)} {
		told := 0
		compareSystems(t, s, SystemOptions{Test: test, Resamples: 50, Baseline: EveryPair, Drawn: func(n, of int) {
			if told++; n != told || of != want {
				t.Fatalf("%v: told of %d of %d, want %d of %d", test, n, of, told, want)
			}
		}})
		assert.Equal(t, want, told, "%v: told", test)
	}
}
