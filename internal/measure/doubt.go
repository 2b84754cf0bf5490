// Package measure measures variants without a model: how likely one has lost the
// meaning of its reference ([Doubt]), and how different those of a segment are from
// each other ([Diversity]).
package measure

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
)

// DoubtLimit is where doubt begins: one in ten of the variants that gpt-3.5-turbo gave
// for Div-Ref's zh-en set and that pass all checks lies above it.
const DoubtLimit = 0.5

// doubtWeights are those of a logistic regression on labelled answers, none below 0. The
// first is such that DoubtLimit is where it is said to be.
var doubtWeights = [...]float64{-2.15, 13.99, 7.26, 3.15, 4.35, 7.42, 2.93, 2, 9.24}

// Doubt estimates, in [0, 1], how likely an answer has lost the meaning of the reference
// that it rewrites. It goes by words only: what is left out with nothing in its place,
// what is added or said again, names that are gone, and a denial that came. A rewriting
// puts as many other words in the place of the reference's, so words that are exchanged
// say little, unless they are nearly all. The forms of a word are known by their first
// letters, and scripts without spaces are read by the character.
func Doubt(reference, answer string) float64 {
	ref, got := contentOf(reference), contentOf(answer)
	lost, added, repeated := compare(ref, got)
	// Three words more, so that one word of a short text is not half of it.
	size := ref.total + 3
	gone := 0.0
	for _, name := range ref.names {
		if !slices.ContainsFunc(got.words, func(w string) bool { return w == name || alike(name, w) >= 0.7 }) {
			gone++
		}
	}
	denied := 0.0
	if got.denies && !ref.denies {
		denied = 1
	}
	sum := 0.0
	for i, feature := range [...]float64{
		1,
		min(repeated/size, 1),
		max(0, float64(repeatedPairs(got.words)-repeatedPairs(ref.words))) / float64(len(got.words)+5),
		min(max(0, added-lost)/size, 1.5),
		max(0, lost-added) / size,
		max(0, math.Log(float64(ref.chars+20)/float64(got.chars+20))),
		gone / float64(len(ref.names)+1),
		denied,
		max(0, min(lost, added)/size-0.45),
	} {
		sum += float64(doubtWeights[i] * feature)
	}
	// The estimate has no digits beyond these, and readers of JSON keep them all.
	return math.Round(1e4/(1+math.Exp(-sum))) / 1e4
}

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
	c := &content{chars: utf8.RuneCountInString(s), words: text.AppendWords(nil, s)}
	for _, w := range c.words {
		c.weights = append(c.weights, weight(w))
		c.total += weight(w)
		c.denies = c.denies || slices.Contains(denials, w) || strings.HasSuffix(w, "n't") || strings.HasSuffix(w, "n’t")
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

// denials are words that deny, in the languages of the built-in prompts.
var denials = strings.Fields("not no never none nobody nothing neither nor cannot without hardly" +
	" nicht kein keine keinen keiner keinem nie niemals niemand nichts ohne kaum" +
	" pas jamais rien aucun aucune nunca nadie nada ningún sin" +
	" не нет ни никогда никто ничего нельзя без 不 没 沒 无 無 未 别")

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

// alike tells how far two words are forms of one, in [0, 1]: the share of their letters
// that both begin with, where it is more than half.
func alike(a, b string) float64 {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if s := 2 * float64(n) / float64(len(a)+len(b)); n >= 3 && s > 0.55 {
		return s
	}
	return 0
}

// compare pairs each word of the reference with one of the answer: the same, or else the
// most alike. It returns the weights of what is lost, added, and added again.
func compare(ref, got *content) (lost, added, repeated float64) {
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
		lost += ref.weights[i] * (1 - most)
	}
	for j, v := range got.words {
		if taken[j] {
			continue
		}
		added += got.weights[j]
		if slices.Contains(ref.words, v) || slices.Contains(got.words[:j], v) {
			repeated += got.weights[j]
		}
	}
	return lost, added, repeated
}

// repeatedPairs counts the pairs of neighbouring words that were there before.
func repeatedPairs(words []string) int {
	seen := map[[2]string]bool{}
	for i := range max(0, len(words)-1) {
		seen[[2]string(words[i:i+2])] = true
	}
	return max(0, len(words)-1) - len(seen)
}
