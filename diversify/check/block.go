package check

import (
	"math/bits"
	"strings"
	"unicode"
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

// describe appends what a row of parts shows, and what is around it.
func (v *view) describe(o *original, s block, x []float64) []float64 {
	put := func(values ...float64) { x = append(x, values...) }
	yes := func(is ...bool) {
		for _, b := range is {
			if b {
				x = append(x, 1)
			} else {
				x = append(x, 0)
			}
		}
	}
	n := len(v.parts)
	kept, gone := fit{}, fit{}
	const none = 9
	keptScores, goneScores := rangeOf{least: none, most: -none}, rangeOf{least: none, most: -none}
	keptLex, goneLex := rangeOf{least: none, most: -none}, rangeOf{least: none, most: -none}
	best, before := 0.0, 0.0
	echoBefore, echoBehind := false, false
	for i := range v.parts {
		p := &v.parts[i]
		switch {
		case i >= s.from && i < s.to:
			kept = kept.add(p.fit)
			keptScores.add(p.raw)
			keptLex.add(p.lex)
		case p.echo:
			echoBefore, echoBehind = echoBefore || i < s.from, echoBehind || i >= s.to
		default:
			gone = gone.add(p.fit)
			goneScores.add(p.raw)
			goneLex.add(p.lex)
			q := o.quality(p.fit)
			best = max(best, q)
			if i < s.from {
				before = max(before, q)
			}
		}
	}
	for _, f := range [...]fit{kept, gone} {
		put(float64(f.talk), float64(f.own), float64(f.shared), float64(f.words), float64(f.chars), float64(f.task), float64(f.sorry), float64(f.polite),
			float64(f.stops), float64(f.names), float64(f.common))
		words := float64(f.words + 1)
		put(float64(f.talk)/words, float64(f.own)/words, float64(f.shared)/words, float64(f.chars)/float64(max(1, o.chars)))
	}
	said := o.content()
	of := float64(max(1, min(64, len(said.keys))))
	put(float64(bits.OnesCount64(kept.said))/of, float64(bits.OnesCount64(gone.said&^kept.said))/of, float64(bits.OnesCount64(gone.said&kept.said))/of, float64(kept.shared)/float64(max(1, said.words)))
	put(o.quality(kept), best, before)
	first, last := &v.parts[s.from], &v.parts[s.to-1]
	put(keptScores.least, keptScores.most, keptScores.sum, first.raw, last.raw, goneScores.least, goneScores.most, goneScores.up, goneScores.down)
	put(keptLex.least, keptLex.most, keptLex.sum, first.lex, last.lex, goneLex.least, goneLex.most, goneLex.sum)
	edge := func(i int) {
		if i < 0 || i >= n {
			put(-1, -none, -none, 0, 0)
			return
		}
		p := &v.parts[i]
		put(float64(p.kind), p.raw, p.lex)
		yes(p.line, endsLead(strings.TrimSpace(v.text[:p.end])))
	}
	edge(s.from - 1)
	edge(s.to)
	put(float64(n), float64(s.from), float64(n-s.to), float64(s.to-s.from), float64(first.kind), float64(last.kind))
	yes(last.line, echoBefore, echoBehind, s.from == v.from && s.to == v.to, v.other)
	t := strings.TrimSpace(v.text[first.begin:last.end])
	change := func(is func(rune) bool, r, of rune) float64 {
		var d float64
		if is(r) {
			d++
		}
		if is(of) {
			d--
		}
		return d
	}
	put(change(unicode.IsUpper, firstRune(t), firstRune(o.text)), change(unicode.IsLower, firstRune(t), firstRune(o.text)),
		change(isStop, lastRune(t), lastRune(o.text)), change(isQuote, firstRune(t), firstRune(o.text)), change(isQuote, lastRune(t), lastRune(o.text)))
	yes(endsLead(t), endingOf(t).complete())
	for _, mark := range [...]string{"?", "!", ":", "\n", "(", "\""} {
		put(float64(strings.Count(t, mark) - strings.Count(o.text, mark)))
	}
	units, _ := o.units()
	put(float64(s.to-s.from-units), float64(units), float64(o.chars), float64(said.words), float64(said.names))
	yes(kept.shared == 0, kept.shared == 0 && o.kin(t), o.foreign(kept), o.dense, kept.lead)
	return x
}

// rangeOf collects values.
type rangeOf struct{ least, most, sum, up, down float64 }

func (r *rangeOf) add(v float64) {
	v = max(-6, min(6, v))
	r.least, r.most, r.sum = min(r.least, v), max(r.most, v), r.sum+v
	if v > 0 {
		r.up += v
	} else {
		r.down += v
	}
}
