package ngram

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestInternerEqualsMap(t *testing.T) {
	in := NewInterner()
	rapid.Check(t, func(t *rapid.T) {
		in.Reset()
		want := map[string]uint32{}
		tokens := rapid.SliceOf(rapid.StringMatching(`[ab\x00]{0,20}`)).Draw(t, "tokens")
		for _, tok := range tokens {
			id, ok := want[tok]
			if !ok {
				id = uint32(len(want))
				want[tok] = id
			}
			if got := in.ID([]byte(tok)); got != id {
				t.Fatalf("ID(%q) = %d, want %d", tok, got, id)
			}
		}
	})
}

func TestInternerGrows(t *testing.T) {
	in := NewInterner()
	for round := range 2 {
		for i := range 5000 {
			tok := []byte{byte(i), byte(i >> 8), 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x'}[:2+round*8]
			if got := in.ID(tok); got != uint32(i) {
				t.Fatalf("round %d: id %d, want %d", round, got, i)
			}
		}
		in.Reset()
	}
}

func TestDistinct(t *testing.T) {
	texts := []string{"a", "b", "a", "", "b", ""}
	want := []int{0, 1, 0, 3, 1, 3}
	if got := Distinct(nil, texts); !slices.Equal(got, want) {
		t.Errorf("Distinct = %v, want %v", got, want)
	}
	var many []string
	for range 20 {
		many = append(many, texts...)
	}
	got := Distinct(nil, many)
	for i := range many {
		if got[i] != want[i%len(want)] {
			t.Fatalf("text %d: first is %d, want %d", i, got[i], want[i%len(want)])
		}
	}
}
