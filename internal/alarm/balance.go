package alarm

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what is dropped and added.
const (
	mostDropped = 0.42
	mostAdded   = 0.5
	leastAdded  = 4 // words: as many make a short text polite
)

// balance finds words that are lost with none in their place, and words that are new in
// the place of none. A rewriting puts about as many other words in the place of those of
// the reference, so that exchanged words say nothing.
//
// alike is the share of the words of the shorter text that the other one has too.
func balance(ref, got *words) (dropped, added string, alike float64) {
	lost, missing := unmatched(ref.list, got.list)
	more, extra := unmatched(got.list, ref.list)
	weight, _ := unmatched(ref.list, nil)
	size := 3 + weight // so that one word of a short text is not half of it
	if alike = 1 - lost/(weight+0.1); len(got.list) < len(ref.list) {
		weight, _ = unmatched(got.list, nil)
		alike = 1 - more/(weight+0.1)
	}
	longer := math.Log(float64(utf8.RuneCountInString(got.text)+20) / float64(utf8.RuneCountInString(ref.text)+20))
	if (lost-more)/size+max(0, -longer)/2 > mostDropped {
		dropped = list(missing)
	}
	if more-lost > leastAdded && (more-lost)/size+max(0, longer)/3 > mostAdded {
		added = list(extra)
	}
	return dropped, added, alike
}

// list shows the first words.
func list(words []string) string {
	if len(words) > 4 {
		words = append(words[:4:4], "…")
	}
	return strings.Join(words, " ")
}

// unmatched returns the words that another text lacks, each once for each time that it
// stands there too often, and their weight. Forms of a word are one.
func unmatched(list, other []string) (lost float64, out []string) {
	taken := make([]bool, len(other))
next:
	for _, w := range list {
		for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, alike} {
			for j, v := range other {
				if !taken[j] && same(w, v) {
					taken[j] = true
					continue next
				}
			}
		}
		if lost += weight(w); weight(w) >= 0.5 {
			out = append(out, w)
		}
	}
	return lost, out
}

// alike reports whether two words are forms of one: they begin with the same letters, and
// have at most two others, or three in longer words.
func alike(a, b string) bool {
	n := common([]byte(a), []byte(b))
	return n >= 3 && 2*float64(n) > 0.55*float64(len(a)+len(b))
}

// common counts what two words begin with.
func common[T byte | rune](a, b []T) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// weight is what a word tells: the words that only hold a sentence together are short in
// most languages. A character of a script without spaces is half a word.
func weight(word string) float64 {
	n := 0
	for _, r := range word {
		switch {
		case unicode.IsDigit(r):
			return 1
		case r >= 0x2e80:
			return 0.5
		}
		n++
	}
	return [...]float64{1, 0.1, 0.1, 0.3, 0.6, 1}[min(n, 5)]
}
