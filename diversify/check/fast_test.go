package check

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A text that needs no cleaning takes a short way, which finds what the long one
// finds.
func TestPlain(t *testing.T) {
	c, err := New(Config{Prompts: []string{"Change the order of the sentences:", "Say it again."}})
	if err != nil {
		t.Fatal(err)
	}
	pieces := []string{
		"The cat sat on the mat.", "A dog, too, was in the house.", "Who was it?", "Der Hund schläft im Haus.", "Кот сидел дома.", "猫在坐着。", "3.5 cats",
		"Sure.", "Here is a paraphrase.", "I hope this helps!", "Say it again.", "a", "A. ", "ii. ", "it's", "’", "'", "-", "--", ",", ".", "...", "!", "?", ";", " ", "  ", "，", "。",
		"assistantfinal", "or ", "Or The cat sat.", "Hence The", "xD", "1", "12", "Mr. ", "é", "ю", "Å", "ﬁ", "Ａ", "\u0301",
	}
	texts := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(t, "pieces"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
	})
	plain := 0
	rapid.Check(t, func(t *rapid.T) {
		raw, reference := texts.Draw(t, "raw"), texts.Draw(t, "ref")
		ref := newOriginal(reference)
		got, steps := c.clean(raw, ref)
		if c.isPlain(raw, ref) {
			plain++
		}
		if want, also := c.cleanAll(raw, newOriginal(reference)); got != want || !slices.Equal(steps, also) {
			t.Errorf("%q beside %q: %q %v by the short way, %q %v by the long one", raw, reference, got, steps, want, also)
		}
	})
	if plain == 0 {
		t.Error("no text took the short way")
	}
}
