package ngram

import (
	"fmt"
	"slices"
	"testing"

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
	sparse := false
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
		if rapid.IntRange(0, 9).Draw(t, "many") == 0 { // short ones, which stay lists
			for i := range uint32(400) {
				refs = append(refs, []uint32{1e6 + i, 2e6 + i, 1e6 + i})
			}
			hyps = append(hyps, slices.Concat(refs[len(refs)-1], refs[len(refs)-7]))
		}
		for _, r := range refs {
			x.AddReference(r)
		}
		x.Seal()
		sparse = sparse || x.sparse
		for _, h := range hyps {
			x.AddHypothesis(h)
		}
		got := make([]int32, order)
		for h := range hyps {
			for r := range refs {
				x.Matches(got, h, r)
				for n := 1; n <= order; n++ {
					if want := clipped(counts(hyps[h], n), counts(refs[r], n)); got[n-1] != want {
						t.Fatalf("hyp %d ref %d order %d: %d matches, want %d", h, r, n, got[n-1], want)
					}
				}
			}
			x.UnionMatches(got, h)
			for n := 1; n <= order; n++ {
				most := map[string]int{}
				for _, r := range refs {
					for g, c := range counts(r, n) {
						most[g] = max(most[g], c)
					}
				}
				if want := clipped(counts(hyps[h], n), most); got[n-1] != want {
					t.Fatalf("hyp %d all refs order %d: %d matches, want %d", h, n, got[n-1], want)
				}
			}
		}
	})
	if !sparse {
		t.Error("no references stayed lists")
	}
}

// The memory of many short references grows with their number, not with its square.
func TestManyReferences(t *testing.T) {
	x := New(4)
	for i := range uint32(100_000) {
		x.AddReference([]uint32{i, i + 1, 7, i + 3, i, i + 5})
	}
	x.Seal()
	x.AddHypothesis([]uint32{50, 51, 7, 53, 50, 55})
	got := make([]int32, 4)
	if x.Matches(got, 0, 50); !slices.Equal(got, []int32{6, 5, 4, 3}) {
		t.Errorf("matches %v", got)
	}
	if size := 8*(cap(x.refs)+cap(x.union)+cap(x.hyps)) + 16*cap(x.parts) + 4*cap(x.blocks) + 12*cap(x.next); size > 200<<20 {
		t.Errorf("%d MB for 100,000 references", size>>20)
	}
}
