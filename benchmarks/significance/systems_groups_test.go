package significance

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
)

// Groups are sums: one of several segments, one of a single segment, and one that a system
// lacks in part.
func TestGrouped(t *testing.T) {
	s := (&Systems{
		Statistics: [][][]float64{{{1, 2}, {3, 4}, {5, 6}, nil}, {{7, 8}, nil, nil, nil}},
		Score:      func(sums []float64, segments int) float64 { return sums[0] / float64(segments) },
	}).Grouped([]int{0, 1, 0, 2})
	want := [][][]float64{{{6, 8, 2}, {3, 4, 1}, nil}, {nil, nil, nil}}
	assert.Empty(t, cmp.Diff(want, s.Statistics))
	got := s.Score([]float64{9, 12, 3}, 2)
	assert.True(t, got == 3, "the score is %v, want that of three segments: 3", got)
}

// Systems of equal quality, whose difference varies by document: a test by document finds a
// difference as often as alpha says, and its interval excludes 0 as often. By segment, both
// do so far more often.
func TestNoDifferenceOfDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("it does sums alone, for seconds")
	}
	const sets, documents, alpha = 300, 30, 0.05
	random := rand.New(rand.NewPCG(5, 5))
	found, outside := map[string]float64{}, map[string]float64{}
	for range sets {
		var a, b []float64
		var of []int
		for document := range documents {
			shared := random.NormFloat64()
			for range 1 + random.IntN(12) {
				difficulty := 3 * random.NormFloat64()
				a, b = append(a, difficulty+shared+random.NormFloat64()), append(b, difficulty)
				of = append(of, document)
			}
		}
		s := ofScores(a, b)
		for by, s := range map[string]*Systems{"segment": s, "document": s.Grouped(of)} {
			p := compareSystems(t, s, SystemOptions{Test: PairedRandomization, Resamples: 199, Seed: 1, Alpha: alpha}).Pairs[0]
			if p.P <= alpha {
				found[by] += 1. / sets
			}
			if ci := p.Interval; ci.Mean-ci.Half > 0 || ci.Mean+ci.Half < 0 {
				outside[by] += 1. / sets
			}
		}
	}
	t.Logf("p up to %v: %v; outside of the interval: %v", alpha, found, outside)
	if found["document"] < 0.03 || found["document"] > 0.07 {
		t.Errorf("by document, p is up to %v in %.3f of the sets", alpha, found["document"])
	}
	if outside["document"] < 0.03 || outside["document"] > 0.10 {
		t.Errorf("by document, 0 is outside of the interval in %.3f of the sets", outside["document"])
	}
	if found["segment"] < 0.2 || outside["segment"] < 0.2 {
		t.Errorf("by segment it would be no false finding: %v, %v", found["segment"], outside["segment"])
	}
}
