package doubt

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/internal/words"
)

// content is a text as its words, each with its weight.
type content struct {
	chars   int
	words   []string
	weights []float64
	total   float64
	names   []string // words with a capital letter within a sentence, in lower case
	denies  bool
}

func contentOf(s string) *content {
	s = strings.TrimSpace(s)
	c := &content{chars: utf8.RuneCountInString(s), words: words.Append(nil, s)}
	c.weights = make([]float64, len(c.words))
	for i, w := range c.words {
		c.weights[i] = weight(w)
		c.total += c.weights[i]
		c.denies = c.denies || words.Denies(w)
	}
	begins := true
	for w := range strings.FieldsSeq(s) {
		bare := strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) })
		if r, n := utf8.DecodeRuneInString(bare); !begins && len(bare) > n && unicode.IsUpper(r) {
			c.names = append(c.names, text.Lower(bare))
		}
		last, _ := utf8.DecodeLastRuneInString(w)
		begins = strings.ContainsRune(".!?:\"”»“", last)
	}
	return c
}

// weight is what a word tells: the words that only hold a sentence together
// are short in most languages. A character of a script without spaces is half
// a word.
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
	switch n {
	case 1, 2:
		return 0.1
	case 3:
		return 0.3
	case 4:
		return 0.6
	}
	return 1
}

// alike tells how far two words are forms of one, in [0, 1]: the share of
// their letters that both begin with, where it is more than half.
func alike(a, b string) float64 {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n < 3 {
		return 0
	}
	if s := 2 * float64(n) / float64(len(a)+len(b)); s > 0.55 {
		return s
	}
	return 0
}

// change is what an answer makes of its reference, by weight of words.
type change struct{ lost, added, repeated float64 }

// compare pairs each word of the reference with one of the answer: the same,
// or else the most alike.
func compare(ref, got *content) change {
	var c change
	taken, paired := make([]bool, len(got.words)), make([]bool, len(ref.words))
	for i, w := range ref.words {
		for j, v := range got.words {
			if v == w && !taken[j] {
				taken[j], paired[i] = true, true
				break
			}
		}
	}
	for i, w := range ref.words {
		if paired[i] {
			continue
		}
		best, most := -1, 0.0
		for j, v := range got.words {
			if s := alike(w, v); s > most && !taken[j] {
				best, most = j, s
			}
		}
		if best >= 0 {
			taken[best] = true
		}
		c.lost += ref.weights[i] * (1 - most)
	}
	for j, v := range got.words {
		if taken[j] {
			continue
		}
		c.added += got.weights[j]
		if slices.Contains(ref.words, v) || slices.Contains(got.words[:j], v) {
			c.repeated += got.weights[j]
		}
	}
	return c
}

// said counts the pairs of neighbouring words that were there before.
func said(words []string) int {
	n := 0
	seen := make(map[[2]string]bool, len(words))
	for i := range max(0, len(words)-1) {
		pair := [2]string(words[i : i+2])
		if seen[pair] {
			n++
		}
		seen[pair] = true
	}
	return n
}
