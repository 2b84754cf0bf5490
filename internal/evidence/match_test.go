package evidence

import (
	"slices"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/page"
)

// marked writes the stretches of a text with their orders, such as "1:the".
func marked(text string, grams []page.Gram) []string {
	runes := []rune(text)
	var out []string
	for _, g := range grams {
		out = append(out, string(rune('0'+g.N))+":"+string(runes[g.Start:g.End]))
	}
	return out
}

func matched(t interface{ Fatal(...any) }, a, b string) (x, y []page.Gram) {
	m := newMatcher()
	aw, ok := m.words(a)
	bw, okB := m.words(b)
	if !ok || !okB {
		t.Fatal("a text is too long")
	}
	return m.match(aw, bw)
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		a, b     string
		inA, inB []string
		why      string
	}{
		{"the cat sat", "a cat sat down", []string{"2:cat sat"}, []string{"2:cat sat"}, "a pair"},
		{"the the the", "the cat", []string{"1:the"}, []string{"1:the"}, "clipped as BLEU clips"},
		{"The cat", "the cat", []string{"1:cat"}, []string{"1:cat"}, "case counts"},
		{"a b c d e", "x a b c d e", []string{"4:a b c d e"}, []string{"4:a b c d e"}, "longer than the longest n-gram"},
		{"Es regnet, ja.", "ja, es regnet.", []string{"1:regnet, ja."}, []string{"1:ja,", "1:regnet."}, "marks are words"},
		{"我喜欢猫", "他喜欢狗", []string{"2:喜欢"}, []string{"2:喜欢"}, "Han characters"},
		{"naïve 👩‍👩‍👧 x", "👩‍👩‍👧 naïve", []string{"1:naïve 👩‍👩‍👧"}, []string{"1:👩‍👩‍👧 naïve"}, "offsets in runes"},
		{"", "a", nil, nil, "nothing"},
		{"a", "b", nil, nil, "nothing in common"},
	} {
		x, y := matched(t, c.a, c.b)
		if gx, gy := marked(c.a, x), marked(c.b, y); !slices.Equal(gx, c.inA) || !slices.Equal(gy, c.inB) {
			t.Errorf("%s: %q and %q, want %q and %q", c.why, gx, gy, c.inA, c.inB)
		}
	}
}

func TestLongTextsAreNotCompared(t *testing.T) {
	long := ""
	for range longestCompared + 1 {
		long += "a "
	}
	if _, ok := newMatcher().words(long); ok {
		t.Error("a text of too many words is compared")
	}
}

// Spans are in order and within the text, the same words are marked in both
// texts, and equal texts match as a whole.
func TestMatchProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gen := rapid.OneOf(rapid.StringOfN(rapid.RuneFrom([]rune("ab ,猫")), 0, 30, -1), rapid.String())
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		x, y := matched(t, a, b)
		check(t, a, x)
		check(t, b, y)
		m := newMatcher()
		aw, _ := m.words(a)
		bw, _ := m.words(b)
		count := func(words []word, grams []page.Gram) map[int32]int {
			n := map[int32]int{}
			for _, w := range words {
				if slices.ContainsFunc(grams, func(g page.Gram) bool { return g.Start <= w.Start && w.End <= g.End }) {
					n[w.id]++
				}
			}
			return n
		}
		// A word is marked at least as often as both have it, for a longer
		// n-gram may stand elsewhere than the first of its words.
		in, of := count(aw, x), map[int32]int{}
		for _, w := range bw {
			of[w.id]++
		}
		all := map[int32]int{}
		for _, w := range aw {
			all[w.id]++
		}
		for id, n := range all {
			if in[id] < min(n, of[id]) {
				t.Fatalf("a word that both have %d times is marked %d times", min(n, of[id]), in[id])
			}
			if of[id] == 0 && in[id] > 0 {
				t.Fatal("a word that the other text lacks is marked")
			}
		}
		if same, _ := matched(t, a, a); len(aw) > 0 && (same[0].Start != aw[0].Start || same[len(same)-1].End != aw[len(aw)-1].End) {
			t.Fatalf("a text matches itself in %v", same)
		}
	})
}

func check(t *rapid.T, text string, grams []page.Gram) {
	end := 0
	for _, g := range grams {
		if g.Start < end || g.End <= g.Start || g.End > utf8.RuneCountInString(text) || g.N < 1 || g.N > longestGram {
			t.Fatalf("stretches %v of %q", grams, text)
		}
		end = g.End
	}
}
