package evidence

import (
	"github.com/rivo/uniseg"

	"github.com/refract-eval/refract/internal/page"
)

// longestGram is the order up to which n-grams are matched, that of BLEU.
const longestGram = 4

// longestCompared is the number of words up to which a text is compared.
const longestCompared = 4000

// word is a word of a text: its number among all words seen, and where it
// stands, in runes.
type word struct {
	id int32
	page.Span
}

// matcher finds the n-grams that texts share. Words are those of Unicode's
// rules (UAX #29), in which a Han character or a punctuation mark is a word of
// its own; white space is none. Case counts. An n-gram of 1 to 4 words matches
// as often as both texts have it, as BLEU clips its counts, the earlier ones
// first.
type matcher struct {
	ids    map[string]int32
	counts map[gram]int // of the text that another one is compared with
}

func newMatcher() *matcher { return &matcher{map[string]int32{}, map[gram]int{}} }

// words splits a text. It is false for a text that is too long to compare.
func (m *matcher) words(text string) ([]word, bool) {
	var out []word
	state, at := -1, 0
	for text != "" {
		var w string
		w, text, state = uniseg.FirstWordInString(text, state)
		begin := at
		blank := true
		for _, r := range w {
			at++
			blank = blank && (r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\u00a0' || r == '\u3000' || r == '\u2028' || r == '\u2029')
		}
		if blank {
			continue
		}
		if len(out) == longestCompared {
			return nil, false
		}
		id, ok := m.ids[w]
		if !ok {
			id = int32(len(m.ids) + 1)
			m.ids[w] = id
		}
		out = append(out, word{id, page.Span{Start: begin, End: at}})
	}
	return out, true
}

// gram is up to longestGram words, 0 where it has fewer.
type gram [longestGram]int32

func gramAt(words []word, at, n int) gram {
	var g gram
	for i := range n {
		g[i] = words[at+i].id
	}
	return g
}

// match returns the n-grams that two texts share, as stretches of both.
func (m *matcher) match(output, reference []word) (inOutput, inReference []page.Gram) {
	a, b := make([]int, len(output)), make([]int, len(reference))
	for n := 1; n <= longestGram; n++ {
		if !m.clip(output, reference, n, a) {
			break // what is longer is not shared either
		}
		m.clip(reference, output, n, b)
	}
	return stretches(output, a), stretches(reference, b)
}

// clip sets to n the orders of those words of a that lie in an n-gram which b
// has as well, each n-gram at most as often as b has it. It is false where
// there is none.
func (m *matcher) clip(a, b []word, n int, orders []int) bool {
	clear(m.counts)
	for i := 0; i+n <= len(b); i++ {
		m.counts[gramAt(b, i, n)]++
	}
	found := false
	for i := 0; i+n <= len(a); i++ {
		g := gramAt(a, i, n)
		if m.counts[g] == 0 {
			continue
		}
		m.counts[g]--
		found = true
		for k := i; k < i+n; k++ {
			orders[k] = n
		}
	}
	return found
}

// stretches joins neighbouring words of the same order.
func stretches(words []word, orders []int) []page.Gram {
	var out []page.Gram
	for i := 0; i < len(words); {
		j := i + 1
		for j < len(words) && orders[j] == orders[i] {
			j++
		}
		if orders[i] > 0 {
			out = append(out, page.Gram{Span: page.Span{Start: words[i].Start, End: words[j-1].End}, N: orders[i]})
		}
		i = j
	}
	return out
}
