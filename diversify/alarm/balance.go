package alarm

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Thresholds for dropped and added words.
const (
	mostDropped = 0.42
	mostAdded   = 0.5
	leastAdded  = 4 // up to 4 added words may only make a short text more polite
)

// balance finds words that were removed but not replaced, and words that were added but replace
// nothing. A rewriting usually replaces words by about as many others, so replaced words raise
// no alarm here.
//
// alike is the share of the shorter text's words that the longer one has too.
func balance(ref, got *words) (dropped, added string, alike float64) {
	lost, missing := unmatched(ref.list(), got.list())
	more, extra := unmatched(got.list(), ref.list())
	weight, _ := unmatched(ref.list(), nil)
	size := 3 + weight // so that one word of a short text is not half of it
	if alike = 1 - lost/(weight+0.1); len(got.list()) < len(ref.list()) {
		weight, _ = unmatched(got.list(), nil)
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

// list formats the first few words for a message.
func list(words []string) string {
	if len(words) > 4 {
		words = append(words[:4:4], "…")
	}
	return strings.Join(words, " ")
}

// unmatched returns the words of list that other lacks, and their total weight. A word that
// list has three times and other once is returned twice. Forms of one word count as equal.
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

// alike reports whether two words look like forms of one word: they share at least their first
// three bytes, and more than 55 % of their mean length.
func alike(a, b string) bool {
	n := common([]byte(a), []byte(b))
	return n >= 3 && 2*float64(n) > 0.55*float64(len(a)+len(b))
}

// common returns the length of the common prefix.
func common[T byte | rune](a, b []T) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// weight estimates how much a word says by its length, because function words are short in most
// languages. A character of a script without spaces counts as half a word.
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
