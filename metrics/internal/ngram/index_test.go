package ngram

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// counts is the plain way: a map of every n-gram to its count.
func counts(tokens []uint32, n int) map[string]int {
	m := map[string]int{}
	for i := 0; i+n <= len(tokens); i++ {
		m[fmt.Sprint(tokens[i:i+n])]++
	}
	return m
}

func clipped(hyp, ref map[string]int) int32 {
	sum := 0
	for g, c := range hyp {
		sum += min(c, ref[g])
	}
	return int32(sum)
}

func TestMatchesEqualPlainCounting(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) []uint32 {
		// Few distinct tokens make repetitions; some exceed the root's direct table.
		limit := rapid.SampledFrom([]uint32{1, 2, 4, 30, 400}).Draw(t, "alphabet")
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) uint32 {
			return rapid.Uint32Range(0, limit).Draw(t, "token") * 77
		}), 0, 60).Draw(t, "tokens")
	})
	indexes := map[int]*Index{}
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.IntRange(0, 8).Draw(t, "order")
		// The same index is reused, as the scorers do.
		x := indexes[order]
		if x == nil {
			x = New(order)
			indexes[order] = x
		}
		x.Reset()
		refs := rapid.SliceOfN(text, 0, 5).Draw(t, "refs")
		hyps := rapid.SliceOfN(text, 1, 5).Draw(t, "hyps")
		if rapid.IntRange(0, 9).Draw(t, "many") == 0 { // more than are counted at once
			for i := range uint32(2 * half) {
				refs = append(refs, slices.Repeat([]uint32{i, 77}, int(i)/9))
				hyps = append(hyps, slices.Repeat([]uint32{77, i % 40}, int(i)/7))
			}
		}
		for _, r := range refs {
			x.AddReference(r)
		}
		for _, h := range hyps {
			x.AddHypothesis(h)
		}
		x.Count()
		for n := 1; n <= order; n++ {
			of := make([]map[string]int, len(refs))
			for r := range refs {
				of[r] = counts(refs[r], n)
			}
			for h := range hyps {
				hyp := counts(hyps[h], n)
				for r := range refs {
					require.Equal(t, clipped(hyp, of[r]), x.Matches(h, r)[n-1], "hyp %d ref %d order %d", h, r, n)
				}
			}
		}
		checkUnion(t, x, order, hyps, refs)
		if len(refs) > 0 {
			var some [][]uint32
			chosen := rapid.SliceOfN(rapid.IntRange(0, len(refs)-1), 1, 2*half).Draw(t, "chosen")
			for _, r := range chosen {
				some = append(some, refs[r])
			}
			x.Unite(chosen)
			checkUnion(t, x, order, hyps, some)
		}
	})
}

// checkUnion compares the matches against all references with plain counting.
func checkUnion(t *rapid.T, x *Index, order int, hyps, refs [][]uint32) {
	for n := 1; n <= order; n++ {
		most := map[string]int{}
		for _, r := range refs {
			for g, c := range counts(r, n) {
				most[g] = max(most[g], c)
			}
		}
		for h := range hyps {
			got, want := x.UnionMatches(h)[n-1], clipped(counts(hyps[h], n), most)
			require.Equal(t, want, got, "hyp %d, %d references, order %d", h, len(refs), n)
		}
	}
}

// The memory of many short references grows with their number, not with its square.
func TestManyReferences(t *testing.T) {
	x := New(4)
	for i := range uint32(100_000) {
		x.AddReference([]uint32{i, i + 1, 7, i + 3, i, i + 5})
	}
	x.AddHypothesis([]uint32{50, 51, 7, 53, 50, 55})
	x.Count()
	got := x.Matches(0, 50)
	assert.True(t, slices.Equal(got, []int32{6, 5, 4, 3}), "matches %v", got)
	size := 4*(cap(x.matches)+cap(x.refs.tokens)) + 8*cap(x.refs.ends)
	assert.True(t, size <= 20<<20, "%d MB for 100,000 references", size>>20)
}
