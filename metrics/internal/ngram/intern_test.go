package ngram

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
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
			require.Equal(t, id, in.ID([]byte(tok)), "ID(%q)", tok)
		}
	})
}

func TestTexts(t *testing.T) {
	var texts Texts[string]
	for range 2 {
		var read []string
		texts.Load([]string{"a", "b", "a", "", "b", ""}, func(s string, into *string) { read, *into = append(read, s), s })
		if !slices.Equal(texts.First, []int{0, 1, 0, 3, 1, 3}) || !slices.Equal(texts.Slot, []int{0, 1, 0, 2, 1, 2}) || !slices.Equal(read, []string{"a", "b", ""}) || !slices.Equal(texts.All, read) {
			t.Errorf("first %v, slot %v, read %q", texts.First, texts.Slot, read)
		}
	}
}
