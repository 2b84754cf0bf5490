package evidence

import (
	"slices"
	"testing"

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
