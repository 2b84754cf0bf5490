package ter

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/metrics/internal/ngram"
)

// fastEdits counts edits with a given search, whose memory is reused.
func fastEdits(s *search, hyp, ref []string) int {
	v := ngram.NewInterner()
	h, r := ids(v, hyp), ids(v, ref)
	return s.edits(h, r, v.Len())
}

func ids(v *ngram.Interner, words []string) []int32 {
	var ids []int32
	for _, w := range words {
		ids = append(ids, int32(v.ID([]byte(w))))
	}
	return ids
}

// checkEdits compares with the oracle and tests properties of all pairs.
func checkEdits(t rapid.TB, s *search, hyp, ref []string) {
	t.Helper()
	got := fastEdits(s, hyp, ref)
	want := slowEdits(hyp, ref)
	assert.Equal(t, want, got, "%d edits, the oracle has %d\nhyp %q\nref %q", got, want, hyp, ref)
	assert.True(t, got <= max(len(hyp), len(ref)), "%d edits between %d and %d words", got, len(hyp), len(ref))
	if got < max(len(hyp)-len(ref), len(ref)-len(hyp)) {
		t.Errorf("%d edits cannot bridge %d and %d words", got, len(hyp), len(ref))
	}
	n := fastEdits(s, ref, ref)
	assert.Equal(t, 0, n, "%d edits between identical texts %q", n, ref)
}

func TestEditsAgainstOracle(t *testing.T) {
	var s search
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.IntRange(1, 12).Draw(t, "kinds")
		word := rapid.Map(rapid.IntRange(0, kinds), strconv.Itoa)
		hyp := rapid.SliceOfN(word, 0, 25).Draw(t, "hyp")
		ref := rapid.SliceOfN(word, 0, 25).Draw(t, "ref")
		checkEdits(t, &s, hyp, ref)
	})
}

// The texts exceed the beam and share runs in other places, like translations.
func TestEditsOfMovedRuns(t *testing.T) {
	var s search
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		n := 1 + rng.IntN(90)
		kinds := 1 + rng.IntN(200)
		hyp := make([]string, n)
		for i := range hyp {
			hyp[i] = strconv.Itoa(rng.IntN(kinds))
		}
		ref := slices.Clone(hyp)
		for range rng.IntN(4) {
			i := rng.IntN(len(ref))
			j := min(i+1+rng.IntN(13), len(ref))
			run := slices.Clone(ref[i:j])
			ref = slices.Delete(ref, i, j)
			ref = slices.Insert(ref, rng.IntN(len(ref)+1), run...)
			ref[rng.IntN(len(ref))] = "new"
		}
		if rng.IntN(3) == 0 {
			ref = ref[rng.IntN(len(ref)):]
		}
		checkEdits(t, &s, hyp, ref)
	}
}

// A round tries as many candidates as the oracle, also if the limit ends the round.
func TestCandidatesAgainstOracle(t *testing.T) {
	var s search
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.IntRange(1, 8).Draw(t, "kinds")
		word := rapid.Map(rapid.IntRange(0, kinds), strconv.Itoa)
		hyp := rapid.SliceOfN(word, 1, 25).Draw(t, "hyp")
		ref := rapid.SliceOfN(word, 1, 25).Draw(t, "ref")
		checked := rapid.OneOf(rapid.Just(0), rapid.IntRange(970, 999)).Draw(t, "checked")

		v := ngram.NewInterner()
		h, r := ids(v, hyp), ids(v, ref)
		s.words = append(s.words[:0], h...)
		s.index.reset(r, v.Len())
		s.beam.reset(len(h), r)
		s.beam.computePrefixes(s.words, 0)
		s.alignment.trace(&s.beam, s.words)
		s.findCandidates(checked)
		_, _, want := slowRound(hyp, ref, checked)
		assert.Len(t, s.candidates, want, "%d candidates, the oracle", len(s.candidates))
	})
}

// The round that reaches the thousandth candidate is not applied.
func TestEditsAtCandidateLimit(t *testing.T) {
	var s search
	rng := rand.New(rand.NewPCG(5, 6))
	var beyond, within int
	for n := 20; n <= 80; n += 12 {
		hyp := make([]string, n)
		for i := range hyp {
			hyp[i] = string(rune('a' + rng.IntN(3)))
		}
		ref := slices.Clone(hyp)
		rng.Shuffle(n, func(i, j int) { ref[i], ref[j] = ref[j], ref[i] })
		checkEdits(t, &s, hyp, ref)
		if _, _, tried := slowRound(hyp, ref, 0); tried >= maxCandidates {
			beyond++
		} else {
			within++
		}
	}
	if beyond == 0 || within == 0 {
		t.Errorf("%d texts beyond the limit and %d within; the test needs both", beyond, within)
	}
}

// A move over more than 50 words is not found.
func TestEditsAtMoveOffset(t *testing.T) {
	for _, test := range []struct{ between, want int }{{50, 1}, {51, 2}} {
		var words []string
		for i := range test.between {
			words = append(words, strconv.Itoa(i))
		}
		hyp := slices.Concat([]string{"moved"}, words)
		ref := slices.Concat(words, []string{"moved"})
		assert.Equal(t, test.want, fastEdits(new(search), hyp, ref), "moved by %d words", test.between)
	}
}
