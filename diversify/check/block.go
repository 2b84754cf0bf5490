package check

import (
	"math/bits"
	"strings"
	"unicode"

	"github.com/refract-eval/refract/diversify/internal/words"
)

// block is a row of parts, from one to before another, that may be the rewriting.
type block struct{ from, to int }

// blocks are the rows of parts that may be the rewriting by their size.
func (v *view) blocks(o *original) (out []block) {
	n := len(v.parts)
	for i := range n {
		chars := 0
		for j := i; j < n && !(v.parts[j].echo && n > 1); j++ {
			chars += v.parts[j].fit.chars
			if chars > 3*o.chars+60 && j > i && (i > 0 || j < n-1) {
				break
			}
			if 5*chars >= o.chars || i == 0 && j == n-1 {
				out = append(out, block{i, j + 1})
			}
		}
	}
	return out
}

// mostSaid is how many words of the reference are told apart.
const mostSaid = 64

// aspects are what a block shows, as numbers. Which is where, only forest.txt knows.
type aspects []float64

func (x *aspects) add(values ...float64) { *x = append(*x, values...) }

func (x *aspects) counts(values ...int) {
	for _, v := range values {
		*x = append(*x, float64(v))
	}
}

func (x *aspects) is(values ...bool) {
	for _, yes := range values {
		if yes {
			*x = append(*x, 1)
		} else {
			*x = append(*x, 0)
		}
	}
}

// share is n of all, where there may be none.
func share(n, all int) float64 { return float64(n) / float64(max(1, all)) }

// spread is of what several parts score.
type spread struct{ least, most, sum, above, below float64 }

const (
	unscored  = 9 // is more than any part scores
	mostScore = 6 // and less than -mostScore, tells no more
)

func newSpread() spread { return spread{least: unscored, most: -unscored} }

func (s *spread) add(v float64) {
	v = max(-mostScore, min(mostScore, v))
	s.least, s.most, s.sum = min(s.least, v), max(s.most, v), s.sum+v
	s.above += max(v, 0)
	s.below += min(v, 0)
}

// side is what a block or the rest of its text has: its fit, scores, and words of the lexicon.
type side struct {
	fit        fit
	score, lex spread
}

func newSide() side { return side{score: newSpread(), lex: newSpread()} }

func (s *side) add(p *part) {
	s.fit = s.fit.add(p.fit)
	s.score.add(p.raw)
	s.lex.add(p.lex)
}

// describe appends what a block shows, beside what is around it and the reference.
func (v *view) describe(o *original, b block, x aspects) aspects {
	kept, gone := newSide(), newSide()
	best, before := 0.0, 0.0 // how well another part corresponds, and one in front
	echoes, echoed := false, false
	for i := range v.parts {
		switch p := &v.parts[i]; {
		case i >= b.from && i < b.to:
			kept.add(p)
		case p.echo:
			echoes, echoed = echoes || i < b.from, echoed || i >= b.to
		default:
			gone.add(p)
			q := o.quality(p.fit)
			best = max(best, q)
			if i < b.from {
				before = max(before, q)
			}
		}
	}
	for _, f := range [...]fit{kept.fit, gone.fit} {
		x.counts(f.talk, f.own, f.shared, f.words, f.chars, f.task, f.sorry, f.polite, f.stops, f.names, f.common)
		x.add(share(f.talk, f.words+1), share(f.own, f.words+1), share(f.shared, f.words+1), share(f.chars, o.chars))
	}
	said := o.content()
	all := min(mostSaid, len(said.keys))
	x.add(share(bits.OnesCount64(kept.fit.said), all), share(bits.OnesCount64(gone.fit.said&^kept.fit.said), all),
		share(bits.OnesCount64(gone.fit.said&kept.fit.said), all), share(kept.fit.shared, said.words))
	x.add(o.quality(kept.fit), best, before)
	first, last := &v.parts[b.from], &v.parts[b.to-1]
	x.add(kept.score.least, kept.score.most, kept.score.sum, first.raw, last.raw, gone.score.least, gone.score.most, gone.score.above, gone.score.below)
	x.add(kept.lex.least, kept.lex.most, kept.lex.sum, first.lex, last.lex, gone.lex.least, gone.lex.most, gone.lex.sum)
	v.edge(b.from-1, &x)
	v.edge(b.to, &x)
	n := len(v.parts)
	x.counts(n, b.from, n-b.to, b.to-b.from, int(first.kind), int(last.kind))
	x.is(last.line, echoes, echoed, b.from == v.from && b.to == v.to, v.other)
	t := strings.TrimSpace(v.text[first.begin:last.end])
	o.form(t, &x)
	units, _ := o.units()
	x.counts(b.to-b.from-units, units, o.chars, said.words, said.names)
	pairs, _, some := o.neighbours(t)
	x.counts(pairs)
	x.add(share(pairs, some))
	x.counts(denials(o.lowered(t))-denials(o.w.lower()), v.heads())
	x.is(endingOf(v.text).complete())
	x.is(kept.fit.shared == 0, kept.fit.shared == 0 && o.kin(t), o.foreign(kept.fit), o.dense, kept.fit.lead)
	return x
}

// neighbours counts the pairs of words of a text that stand side by side in the reference too, the
// words that it has, and all.
func (o *original) neighbours(t string) (pairs, known, words int) {
	ref := o.content()
	var was uint8
	eachWord(o.lowered(t), func(_ class, key []byte, _ bool) {
		at := ref.keys[string(key)]
		words++
		if at > 0 {
			known++
		}
		if at < mostSaid {
			pairs += int(ref.follow[was] >> at & 1)
			was = at
		} else {
			was = 0
		}
	})
	return pairs, known, words
}

// denials counts the words of a text in lower case that deny.
func denials(low []byte) (n int) {
	for w := range wordsOf(low) {
		if !isDense(firstRune(string(w))) {
			if words.Denies(string(w)) {
				n++
			}
			continue
		}
		for _, r := range string(w) {
			if words.Denies(string(r)) {
				n++
			}
		}
	}
	return n
}

// heads counts the heads of a text.
func (v *view) heads() (n int) {
	for _, p := range v.parts {
		if p.kind == head {
			n++
		}
	}
	return n
}

// edge adds what the part beside a block shows.
func (v *view) edge(i int, x *aspects) {
	if i < 0 || i >= len(v.parts) {
		x.add(-1, -unscored, -unscored, 0, 0)
		return
	}
	p := &v.parts[i]
	x.add(float64(p.kind), p.raw, p.lex)
	x.is(p.line, endsLead(strings.TrimSpace(v.text[:p.end])))
}

// form adds how a text begins and ends, and which marks it has, beside the reference.
func (o *original) form(t string, x *aspects) {
	differ := func(is func(rune) bool, r, of rune) {
		switch {
		case is(r) == is(of):
			x.add(0)
		case is(r):
			x.add(1)
		default:
			x.add(-1)
		}
	}
	differ(unicode.IsUpper, firstRune(t), firstRune(o.text))
	differ(unicode.IsLower, firstRune(t), firstRune(o.text))
	differ(isStop, lastRune(t), lastRune(o.text))
	differ(isQuote, firstRune(t), firstRune(o.text))
	differ(isQuote, lastRune(t), lastRune(o.text))
	x.is(endsLead(t), endingOf(t).complete())
	for _, mark := range [...]string{"?", "!", ":", "\n", "(", "\""} {
		x.counts(strings.Count(t, mark) - strings.Count(o.text, mark))
	}
}
