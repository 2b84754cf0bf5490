package check

import (
	"math/bits"
	"slices"
	"strings"
)

// enough returns where the first line ends that is a rewriting by itself, if the lines
// behind it have nothing of the reference that it has not; else to.
func (v *view) enough(o *original, from, to int) int {
	if strings.Contains(o.text, "\n") {
		return to
	}
	units, _ := o.units()
	var f fit
	for k := from; k < to-1; k++ {
		f = f.add(v.parts[k].fit)
		if !v.parts[k].line || endsLead(strings.TrimSpace(v.text[:v.parts[k].end])) && !endsLead(o.text) {
			continue
		}
		rest := v.text[v.parts[k+1].begin:v.parts[to-1].end]
		more := o.fit(unquoted(rest)) // what it quotes is nothing of its own
		item := listMarker(rest) > 0 && listMarker(v.text[v.parts[from].begin:]) > 0
		if item && units == 1 && 5*f.chars >= 4*o.chars && 5*more.chars >= 3*f.chars {
			v.other = true
			return k + 1
		}
		if o.wholeAlone(f) && (4*f.chars >= 3*o.chars && more.said&^f.said == 0 || item && o.wholeAlone(more) && 2*overlap(f, more) >= bits.OnesCount64(f.said)) || item && 5*min(f.chars, more.chars) >= 3*o.chars && f.shared > 0 {
			v.other = v.other || o.wholeAlone(more)
			return k + 1
		}
	}
	return to
}

// wholeAlone reports whether parts may be a rewriting by themselves.
func (o *original) wholeAlone(f fit) bool {
	return f.shared > 0 && 2*f.chars >= o.chars && f.chars <= 2*o.chars+20 && o.quality(f) >= 0.35
}

// perhaps reports whether a text that is set apart may be a rewriting, beside
// another one.
func (o *original) perhaps(f, other fit) bool {
	return f.shared > 0 && 5*f.chars >= 3*o.chars && f.chars <= 2*o.chars+20 && o.quality(f) >= 0.3*o.quality(other)
}

// apart reports whether something sets the part at to apart from the one before
// from: a line, a label, a sign.
func (v *view) apart(from, to int) bool {
	if to >= len(v.parts) || v.parts[from-1].line || v.parts[max(to, 1)-1].score < -1 {
		return true
	}
	next := v.text[v.parts[from].begin:]
	return strings.ContainsRune("/|•~;→", firstRune(next)) || orAt(next, "") || listMarker(next) > 0 || v.parts[from].score < -1 ||
		v.parts[from].fit.lead || next[0] == '(' && orAt(next[1:], "")
}

// mostTries bounds how many rewritings are looked at.
const mostTries = 8

// first takes one of several rewritings: the first, or the one that is called
// the final one.
func (v *view) first(o *original, from, to int) (int, int) {
	n := len(v.parts)
	tries := 0
	for a, b, sum := v.best(0, from); tries < mostTries && sum > 1.5 && (o.wholeAlone(v.fit(a, b)) || v.apart(b, from) && o.perhaps(v.fit(a, b), v.fit(from, to))); a, b, sum = v.best(0, a) {
		tries++
		v.other = true
		if v.final(a, b, from) {
			break
		}
		from, to = a, b
	}
	if k := v.seam(o, from, to); k > 0 {
		v.other = true
		if v.final(from, k, k) {
			from, to, _ = v.best(k, to)
		} else {
			from, to, _ = v.best(from, k)
		}
	}
	for ; to < n && tries < mostTries; tries++ {
		a, b, sum := v.best(to, n)
		if sum <= 1 || !o.wholeAlone(v.fit(a, b)) {
			break
		}
		v.other = true
		if !v.final(from, to, a) {
			break
		}
		from, to = a, b
	}
	return from, to
}

// seam returns where a second rewriting begins, or 0.
func (v *view) seam(o *original, from, to int) (at int) {
	most := 0.0
	units, _ := o.units()
	var f fit
	for k := from + 1; k < to; k++ {
		p := &v.parts[k-1]
		if f = f.add(p.fit); 5*f.chars < 3*o.chars || p.kind == head && p.score > 0 {
			continue
		}
		if f.chars > 2*o.chars+20 {
			break
		}
		var g fit
		for end := k; end < to && 5*g.chars < 4*o.chars; end++ {
			g = g.add(v.parts[end].fit)
		}
		both, common := f.chars+g.chars, overlap(f, g)
		if 5*g.chars < 3*o.chars || 10*both < 13*o.chars {
			continue
		}
		q := o.quality(f) + o.quality(g)
		switch apart := v.apart(k, k); {
		case apart && units == 1 && (o.perhaps(f, g) || o.perhaps(g, f)):
			q += 0.5
		case !o.wholeAlone(f) || !o.wholeAlone(g) || 2*common < min(bits.OnesCount64(f.said), bits.OnesCount64(g.said)):
			continue
		case apart:
			q += 0.5
		case common < 2 || 10*both < 15*o.chars || 3*common < 2*min(bits.OnesCount64(f.said), bits.OnesCount64(g.said)):
			continue
		}
		if q > most+0.2 {
			at, most = k, q
		}
	}
	return at
}

// final reports whether the labels before a text, or the ones before what
// follows it, say that the latter is the better one.
func (v *view) final(from, to, next int) bool {
	before := ""
	if from > 0 {
		before = v.text[v.parts[from-1].begin:v.parts[from].begin]
	} else if p := v.parts[from]; p.kind == head {
		before = v.text[p.begin:p.end]
	}
	between := ""
	if to < len(v.parts) {
		between = v.text[v.parts[to].begin:v.parts[max(to, min(next, len(v.parts)-1))].begin]
		if p := v.parts[to]; between == "" && p.kind == head {
			between = v.text[p.begin:p.end]
		}
	}
	return labelled(before, drafts) || labelled(between, finals)
}

// finals and drafts are in labels of the last of several texts, and of those before
// it, further in those of one more.
var (
	finals = strings.Fields("wait hmm ergebnis ответ: rewording: final revis chosen accepted rather better best improved after: output answer: endgültig endfassung nachher besser итог окончательн лучше правильнее после 最终 定稿 更好 " +
		"definitiv définitiv meilleur retenue mejor migliore melhor preferisco recomendo uiteindelijk eindantwoord slotversie beter 最終 完成 適切 최종 낫")
	further = strings.Fields("alternat option version variant another also more oder auch ещё вариант 另 或")
	drafts  = strings.Fields("draft attempt rough rejected discarded entwurf vorher чернов 草稿 初稿 intento borrador tentativ brouillon essai bozza proviamo poging klad 下書き 초안")
)

// labelled reports whether a label has one of some words.
func labelled(label string, words []string) bool {
	label = strings.ToLower(label)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(label, w) })
}
