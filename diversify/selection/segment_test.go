package selection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/selection"
)

func segment(id string, references []string, variants ...string) *refract.Segment {
	s := &refract.Segment{ID: id}
	for _, r := range references {
		s.References = append(s.References, refract.NewText(r))
	}
	for i, v := range variants {
		s.Variants = append(s.Variants, refract.Variant{Prompt: fmt.Sprint("p", i), Text: refract.NewText(v)})
	}
	return s
}

func ExampleSelector() {
	s := segment("1", []string{"The town was covered in snow."},
		"The town was all covered in snow.", "Snow lay upon the whole town.", "The town was covered in snow!")
	sel := &selection.Selector{Method: selection.ByFarthest, Similarity: selection.NGrams()}
	if err := sel.Select(context.Background(), []*refract.Segment{s}, 1); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Variants[0].Text.Value)
	for _, r := range s.Rejected {
		fmt.Printf("%s (%s): %s\n", r.Verdict, r.Detail, r.Text.Value)
	}
	// Output:
	// Snow lay upon the whole town.
	// not selected (place 2 by farthest over ngrams, 1 kept): The town was all covered in snow.
	// not selected (place 3 by farthest over ngrams, 1 kept): The town was covered in snow!
}

func selectors() []*selection.Selector {
	return []*selection.Selector{
		{Method: selection.ByOrder},
		{Method: selection.ByRandom, Seed: 7},
		{Method: selection.ByFarthest, Similarity: selection.NGrams()},
		{Method: selection.ByFacility, Similarity: selection.NGrams()},
	}
}

// For any texts, an order has each variant with text once, does not depend on other
// segments, and Keep loses no variant.
func TestOrdersAndKeep(t *testing.T) {
	text := rapid.OneOf(rapid.SampledFrom([]string{"", " ", "a b c", "a b c", "x y z"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		var segments []*refract.Segment
		for i := range rapid.IntRange(1, 4).Draw(t, "segments") {
			s := segment(fmt.Sprint(i), rapid.SliceOfN(text, 0, 3).Draw(t, "references"), rapid.SliceOfN(text, 0, 8).Draw(t, "variants")...)
			if len(s.Variants) > 0 && rapid.Bool().Draw(t, "missing") {
				s.Variants[0].Text = refract.Text{}
			}
			segments = append(segments, s)
		}
		for _, sel := range selectors() {
			orders, err := sel.Orders(t.Context(), segments)
			require.NoError(t, err)
			for i, s := range segments {
				var want []int
				for v := range s.Variants {
					if strings.TrimSpace(s.Variants[v].Text.Value) != "" {
						want = append(want, v)
					}
				}
				got := slices.Sorted(slices.Values(orders[i]))
				require.True(t, slices.Equal(got, want), "%s: %v, want an order of %v", sel, got, want)
				alone, err := sel.Orders(t.Context(), segments[i:i+1])
				if err != nil || !slices.Equal(alone[0], orders[i]) {
					t.Fatalf("%s: alone %v, among others %v (%v)", sel, alone, orders[i], err)
				}
				k := rapid.IntRange(-1, 9).Draw(t, "k")
				kept := *s
				selection.Keep(&kept, orders[i], k, sel.String())
				if n := max(0, min(k, len(want))); len(kept.Variants) != n || len(kept.Rejected) != len(s.Variants)-n {
					t.Fatalf("%s: kept %d and rejected %d of %d", sel, len(kept.Variants), len(kept.Rejected), len(s.Variants))
				}
				for _, v := range kept.Rejected {
					if v.Verdict != selection.NotSelected || v.Detail == "" {
						t.Fatalf("rejected as %q: %q", v.Verdict, v.Detail)
					}
				}
			}
		}
	})
}

func TestRandomDependsOnSeedAndSegment(t *testing.T) {
	variants := strings.Split("a b c d e f g h i j", " ")
	a, b := segment("a", nil, variants...), segment("b", nil, variants...)
	orders := func(seed uint64) [][]int {
		out, err := (&selection.Selector{Method: selection.ByRandom, Seed: seed}).Orders(t.Context(), []*refract.Segment{a, b})
		require.NoError(t, err)
		return out
	}
	one, again, two := orders(1), orders(1), orders(2)
	assert.True(t, slices.Equal(one[0], again[0]), "the same seed gives another order")
	if slices.Equal(one[0], one[1]) || slices.Equal(one[0], two[0]) {
		t.Errorf("orders %v and %v do not depend on the segment and the seed", one, two)
	}
}

// axis embeds a text as the direction of its first letter.
type axis struct{ calls int }

func (a *axis) Embed(_ context.Context, texts []string) ([][]float32, error) {
	a.calls++
	var out [][]float32
	for _, t := range texts {
		v := make([]float32, 26)
		v[t[0]-'a'] = 1
		v[25] = 0.1
		if strings.HasSuffix(t, "!") {
			return nil, errors.New("no server")
		}
		out = append(out, v)
	}
	return out, nil
}

func TestVectors(t *testing.T) {
	e := &axis{}
	sel := &selection.Selector{Method: selection.ByFarthest, Similarity: selection.Vectors(e)}
	segments := []*refract.Segment{
		segment("1", []string{"a"}, "a1", "b1", "a2", "c1", "b2"),
		segment("2", nil),
		segment("3", []string{"b"}, "b1", "a1"),
	}
	orders, err := sel.Orders(t.Context(), segments)
	require.NoError(t, err)
	if !slices.Equal(orders[0], []int{1, 3, 0, 2, 4}) || len(orders[1]) != 0 || !slices.Equal(orders[2], []int{1, 0}) {
		t.Errorf("orders %v", orders)
	}
	assert.Equal(t, 1, e.calls)
	segments[2].Variants[0].Text.Value = "b!"
	_, err = sel.Orders(t.Context(), segments)
	assert.ErrorContains(t, err, "farthest over embeddings: no server")
	_, err = (&selection.Selector{Method: selection.ByFacility}).Orders(t.Context(), segments)
	assert.Error(t, err, "no error without a similarity")
}

func TestOrdersStopWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := selectors()[2].Orders(ctx, []*refract.Segment{segment("1", nil, "a", "b")})
	assert.ErrorIs(t, err, context.Canceled)
}
