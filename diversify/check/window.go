package check

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// view is a text in parts, and which of them are the rewriting.
type view struct {
	text     string
	parts    []part
	all      fit
	from, to int  // the parts that are kept
	other    bool // what is not kept has a rewriting too
}

// view looks at a text beside the reference. It remembers the last one.
func (o *original) view(t string) *view {
	v := &o.seen
	if v.text == t && len(v.parts) > 0 {
		return v
	}
	*v = view{text: t, parts: o.cut(t, v.parts[:0])}
	n := len(v.parts)
	v.all = o.fitAll(t, v.parts)
	for i := range v.parts {
		v.parts[i].score = o.score(t, &v.parts[i], i, n, v.all)
		v.parts[i].raw = v.parts[i].score
	}
	v.from, v.to = 0, n
	if n < 2 || o.text == "" {
		return v
	}
	v.outweigh(o)
	if v.pairs(o) {
		return v
	}
	if !v.settle(o) {
		v.gloss(o)
		v.demote(o)
		v.conclude(o)
	}
	v.greet(o)
	from, to, sum := v.best(0, n)
	if sum <= 0 { // all is talk, but for one part at most, which the verdict is about
		most := -1.0
		for i, p := range v.parts {
			if s := p.score; p.echo && most <= -1 || !p.echo && s > most && 2*p.fit.chars >= o.chars {
				from, to, most = i, i+1, max(s, -1)
			}
		}
		v.from, v.to = from, to
		return v
	}
	for to < n && v.parts[to-1].kind == head && strings.HasSuffix(strings.TrimSpace(t[:v.parts[to-1].end]), ":") && v.parts[to].score > -3 {
		to++
	}
	if !strings.Contains(o.text, "\n") {
		from, to = v.first(o, from, to)
	}
	for from > 0 && v.parts[from].kind == bracket && to-from == 1 && !v.parts[from-1].echo {
		from--
	}
	to = v.enough(o, from, to)
	kept := v.fit(from, to)
	if 3*kept.chars < o.chars && (kept.shared < 2 || 5*kept.chars < o.chars) || kept.words == 0 {
		if i := slices.IndexFunc(v.parts, func(p part) bool { return p.echo }); i >= 0 {
			v.from, v.to = i, i+1
		}
		return v
	}
	// A sentence beside talk that has nothing of the reference is of that talk.
	if kept.shared == 0 && !o.kin(t[v.parts[from].begin:v.parts[to-1].end]) && (from > 0 && v.talks(from-1) || to < n && !v.parts[to-1].line && v.talks(to)) {
		return v
	}
	v.from, v.to = from, to
	return v
}

// talks reports whether a sentence on a line with others, or before them, is
// talk of some words.
func (v *view) talks(i int) bool {
	p := v.parts[i]
	return p.score < -2 && p.kind == sentence && !p.line && !p.echo && p.fit.words > 3
}

// pairs reports whether a line has as many sentences as the reference, each of which answers
// to one and is no talk.
func (v *view) pairs(o *original) bool {
	units, heads := o.units()
	return len(v.parts) == units && !heads && !slices.ContainsFunc(v.parts, func(p part) bool {
		return p.score < -2 || v.muses(o, p) || 5*p.fit.chars > 4*o.chars || p.kind != sentence || p.line && p.end < len(v.text)
	})
}

// outweigh lowers what stands on other lines than one that corresponds, and has
// nothing of the reference.
func (v *view) outweigh(o *original) {
	if strings.Contains(o.text, "\n") {
		return
	}
	most, best := 0.3, -1
	v.lines(func(from, to int, f fit) {
		if q := o.quality(f); q > most && f.shared > 0 && 2*f.chars >= o.chars && f.chars <= 2*o.chars+20 && !v.parts[from].echo {
			most, best = q, from
		}
	})
	if best < 0 {
		return
	}
	v.lines(func(from, to int, f fit) {
		if from != best && f.shared == 0 && (f.talk > 0 || 2*f.chars < o.chars) && listMarker(v.text[v.parts[from].begin:]) == 0 {
			for i := range v.parts[from:to] {
				v.parts[from+i].score -= 3
			}
		}
	})
}

// greet lowers a short sentence in front that says little and nothing of the reference, before
// others that have some, where no sentence as short begins the reference: "Of
// course." is said to the one who asks.
func (v *view) greet(o *original) {
	p := &v.parts[0]
	if p.kind != sentence || p.echo || p.fit.words > 5 || p.fit.own > 1 || p.fit.shared > 0 {
		return
	}
	if rest := v.all.without(p.fit); rest.shared == 0 || rest.chars < 2*p.fit.chars || startsLower(v.text[p.end:]) && !startsLower(o.text) {
		return
	}
	units, _ := o.units()
	least := p.fit.words + 4
	if len(v.parts) > units {
		least -= 2
	}
	if o.opening < least || p.fit.words > 3 && o.kin(v.text[:p.end]) {
		return
	}
	p.score = min(p.score, -3)
}

// demote lowers lines by where they stand. Before one that corresponds these are a
// line that ends in a colon, whatever it holds, and lines that quote the
// reference, or all where it is called final. Behind a first one that may be a
// rewriting these are one with a label, and all that follow.
func (v *view) demote(o *original) {
	if _, heads := o.units(); strings.Contains(o.text, "\n") || heads || endsLead(o.text) {
		return
	}
	n := len(v.parts)
	colon, quotes, first, announced := false, false, false, false // of the lines before
	v.lines(func(from, to int, f fit) {
		line := strings.TrimSpace(v.text[v.parts[from].begin:v.parts[to-1].end])
		quote := o.citation(line) != "" || o.weighs(line)
		label := line
		body := f
		if p := v.parts[from]; p.kind == head {
			label, body = v.text[p.begin:p.end], f.without(p.fit)
		}
		sized := 5*body.chars >= 2*o.chars && body.chars <= 2*o.chars+20
		switch {
		case from == 0:
			first = sized && v.parts[to-1].score > lowered && !endsLead(line) && !quote && !v.parts[0].echo && body.margin() <= 0 && !labelled(label, drafts) && v.parts[0].fit.task < 3
		case !announced && (colon && o.wholeAlone(body) || (colon || quotes && !quote) && to == n && sized && body.shared > 0 && body.margin() < 0), to == n && v.parts[from].kind == head && labelled(label, finals) && sized && body.margin() < 0:
			v.lower(0, from)
		case first && v.labels(from, to) && !labelled(label, finals) && v.parts[from].fit.task < 3:
			v.lower(from, n)
			v.other = v.fit(from, n).shared > 0
		}
		announced = announced || colon && sized && body.margin() <= 0
		colon = isAnswer(line) || endsLead(line) && (from == 0 || labelled(label, finals) || f.shared == 0 && f.task > 0 && !labelled(label, further))
		quotes = quotes || quote
	})
}

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

// conclude lowers all before a last line that corresponds by itself, where every line
// before it that may be a rewriting too shares that line with talk: it is thought
// aloud, and the last line is what came of it.
func (v *view) conclude(o *original) {
	if strings.Contains(o.text, "\n") {
		return
	}
	last, talked, muses := -1, false, false
	var rivals []fit
	v.lines(func(from, to int, _ fit) {
		if to == len(v.parts) {
			last = from
			return
		}
		if v.parts[from].kind == head && v.parts[from].fit.shared == 0 {
			from++
		}
		if slices.ContainsFunc(v.parts[from:to], func(p part) bool { return p.score < -1 && !p.echo && p.fit.talk > 0 }) {
			talked = true
			return
		}
		var clean, all fit
		for _, p := range v.parts[from:to] {
			all = all.add(p.fit)
			if v.muses(o, p) {
				muses = true
			} else {
				clean = clean.add(p.fit)
			}
		}
		if v.sized(o, clean) && (clean == all || o.wholeAlone(clean)) {
			rivals = append(rivals, clean)
		}
	})
	if last < 1 || !talked && !muses {
		return
	}
	body := v.parts[last:]
	if body[0].kind == head && body[0].fit.shared == 0 {
		body = body[1:]
	}
	if len(body) == 0 || slices.ContainsFunc(body, func(p part) bool { return p.raw < -1 || p.score <= lowered || p.fit.margin() > 0 || v.muses(o, p) }) {
		return
	}
	text, f := strings.TrimSpace(v.text[body[0].begin:]), v.fit(len(v.parts)-len(body), len(v.parts))
	if !v.sized(o, f) || o.citation(text) != "" || !endingOf(text).complete() && o.ends.complete() {
		return
	}
	if slices.ContainsFunc(rivals, func(r fit) bool {
		return !talked || !o.wholeAlone(f) || o.wholeAlone(r) && 5*o.quality(r) >= 3*o.quality(f)
	}) {
		return
	}
	v.lower(0, last)
}

// sized reports whether parts have the size of a rewriting.
func (v *view) sized(o *original, f fit) bool { return 2*f.chars >= o.chars && f.chars <= 2*o.chars+20 }

// muses reports whether a part is of a thought: by its words, or as it looks at words of
// the reference.
func (v *view) muses(o *original, p part) bool {
	const talks = 2 // of talk, by the lexicon
	t := v.text[p.begin:p.end]
	return p.lex > talks || p.echo || o.citation(t) != "" || strings.ContainsFunc(strings.TrimLeftFunc(t, equates), equates) && !strings.ContainsFunc(o.text, equates)
}

// settle lowers all before a last line that stood there too: of what was tried, it was taken.
func (v *view) settle(o *original) bool {
	last := len(v.parts) - 1
	for last > 0 && !v.parts[last-1].line {
		last--
	}
	if strings.Contains(o.text, "\n") || last == 0 {
		return false
	}
	spaced := func(t string) string { return " " + string(appendNormalized(nil, t)) + " " }
	before := spaced(v.text[:v.parts[last].begin])
	for from := last; from == last || from < len(v.parts) && v.parts[from-1].kind == head && v.parts[from-1].fit.shared == 0; from++ {
		text := v.text[v.parts[from].begin:]
		if 5*runeCount(text) >= 2*o.chars && !o.echoes(text) && strings.Contains(before, spaced(text)) {
			v.lower(0, from)
			return true
		}
	}
	return false
}

// gloss lowers lines that set words beside words, as in "shop = store", where another line may
// be the rewriting.
func (v *view) gloss(o *original) {
	if strings.ContainsFunc(o.text, equates) || !strings.ContainsFunc(v.text, equates) {
		return
	}
	found, others := [][2]int(nil), false
	v.lines(func(from, to int, f fit) {
		sides := slices.DeleteFunc(strings.FieldsFunc(v.text[v.parts[from].begin:v.parts[to-1].end], equates), func(s string) bool { return !says(s) })
		switch {
		case len(sides) < 2:
			others = others || v.sized(o, f) && !v.parts[from].echo && f.margin() < 0
		case !slices.ContainsFunc(sides, func(s string) bool {
			return o.echoes(s) || o.wholeAlone(o.fit(s)) && (endingOf(s).complete() || !o.ends.complete())
		}):
			found = append(found, [2]int{from, to})
		}
	})
	if others {
		for _, line := range found {
			v.lower(line[0], line[1])
		}
	}
}

// equates reports whether a sign sets two texts beside each other.
func equates(r rune) bool { return r == '=' || isArrow(r) }

// lowered is what a part scores at most that is known to be none of the rewriting.
const lowered = -4

// lower makes talk of parts, whatever they scored.
func (v *view) lower(from, to int) {
	for i := range v.parts[from:to] {
		v.parts[from+i].score = min(v.parts[from+i].score, lowered)
	}
}

// isAnswer reports whether a line is the heading of an answer, without a colon.
func isAnswer(line string) bool {
	words := strings.Fields(strings.ToLower(line))
	return len(words) > 0 && len(words) <= 2 && slices.Contains(answers, words[len(words)-1])
}

// answers are what a model calls its answer behind a thought.
var answers = strings.Fields("answer response output result reply final antwort ergebnis ответ результат")

// labels reports whether a line is a label, or begins with one.
func (v *view) labels(from, to int) bool {
	p := v.parts[from]
	text := strings.TrimSpace(v.text[p.begin:p.end])
	return p.fit.words <= 4 && p.fit.shared == 0 && (p.kind == head && endsLead(text) || to == from+1 && !endingOf(text).complete())
}

func endsLead(line string) bool {
	return strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：")
}

// lines calls back with the parts of every line.
func (v *view) lines(yield func(from, to int, f fit)) {
	from := 0
	var f fit
	for i, p := range v.parts {
		if !p.echo {
			f = f.add(p.fit)
		}
		if p.line {
			yield(from, i+1, f)
			from, f = i+1, fit{}
		}
	}
}

// best returns the parts between from and to that score most together.
func (v *view) best(from, to int) (begin, end int, most float64) {
	sum, at := 0.0, from
	begin, end = from, to
	for i := from; i < to; i++ {
		if sum <= 0 {
			sum, at = 0, i
		}
		if sum += max(-6, min(6, v.parts[i].score)); sum > most {
			begin, end, most = at, i+1, sum
		}
	}
	return begin, end, most
}

func (v *view) fit(from, to int) (f fit) {
	for _, p := range v.parts[from:to] {
		f = f.add(p.fit)
	}
	return f
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

// takes returns a step that takes off what is before and behind the rewriting,
// as far as it is of its kind.
func takes(step string) func(_ *Checker, t string, ref *original) string {
	return func(_ *Checker, t string, ref *original) string {
		if ref.text == "" {
			return t
		}
		v := ref.view(t)
		ref.thinks = ref.thinks || v.breaksOff()
		from, to := 0, len(t)
		if v.from > 0 && v.kindBefore() == step {
			from = v.parts[v.from].begin
		}
		last := v.parts[max(v.to-1, 0):]
		if v.to < len(v.parts) && v.kindBehind() == step {
			to = v.parts[v.to].begin
		}
		if from == 0 && to == len(t) {
			return t
		}
		rest := strings.TrimSpace(t[from:to])
		if step != StepAlternatives && step != StepRestated {
			ref.take(t[:from], t[:from])
			ref.take(t[to:], t[:to])
		}
		if r := firstRune(rest); step == StepAlternatives && unicode.Is(unicode.Pd, r) && firstRune(ref.text) != r {
			rest = strings.TrimSpace(rest[utf8.RuneLen(r):])
		}
		if from > 0 {
			if r := strings.TrimLeftFunc(rest, func(r rune) bool {
				return strings.ContainsRune(" -=>|~:;,/", r) || isArrow(r) || unicode.Is(unicode.Pd, r)
			}); says(r) && firstRune(rest) != firstRune(ref.text) {
				rest = r
			}
		}
		if p := last[0]; to < len(t) {
			if p.kind == head && !endsLead(ref.text) {
				rest = strings.TrimRightFunc(rest, func(r rune) bool {
					return unicode.IsSpace(r) || !isStop(r) && !isQuote(r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.In(r, unicode.Pe, unicode.M)
				})
			}
			if r := lastRune(strings.TrimSpace(t[to:v.parts[v.to].end])); v.parts[v.to].kind == bracket && isStop(r) && !endingOf(rest).complete() {
				rest += string(r)
			}
		}
		if v.to-v.from == 1 && v.parts[v.from].kind == bracket && from > 0 {
			_, n := utf8.DecodeRuneInString(rest)
			inner := strings.TrimRight(rest, ".。")
			if _, m := utf8.DecodeLastRuneInString(inner); len(inner) > n+m {
				rest = inner[n : len(inner)-m]
			}
		}
		return rest
	}
}

func (v *view) kindBefore() string {
	switch {
	case slices.ContainsFunc(v.parts[:v.from], func(p part) bool { return p.echo }):
		return StepRestated
	case v.other && slices.ContainsFunc(v.parts[:v.from], func(p part) bool { return p.score > 0 }):
		return StepAlternatives
	case v.parts[v.from-1].kind == head:
		return StepLeadIn
	case v.parts[v.from-1].kind == bracket:
		return StepNote
	}
	return StepTalk
}

func (v *view) kindBehind() string {
	switch {
	case v.other:
		return StepAlternatives
	case v.parts[v.to].kind == bracket:
		return StepNote
	}
	return StepTalk
}

// breaksOff reports whether a text ends within talk that what is kept stands in the
// middle of: a thought that was cut off, and what is kept is of that thought.
func (v *view) breaksOff() bool {
	n := len(v.parts)
	if v.to == n || v.from == v.to || v.parts[n-1].echo {
		return false
	}
	end, kept := endingOf(v.text), v.fit(v.from, v.to)
	words := 0
	for i, p := range v.parts {
		if !p.echo && (i < v.from || i >= v.to) {
			words += p.fit.words
		}
	}
	const someTalk = 8 // words; fewer are a label or a mark
	if end.complete() || end.kind == endNone || v.parts[n-1].score > -0.5 || words < someTalk {
		return false
	}
	alone := (v.from == 0 || v.parts[v.from-1].line) && v.parts[v.to-1].line
	switch {
	case end.kind == endColon:
		return v.from > 0 || !alone
	case alone:
		return false
	}
	return end.kind == endOpen || 2*(v.all.chars-kept.chars) > 3*kept.chars || talkWords().class([]byte(end.last)) == stop
}

// take notes what was taken off: on a line with the rest, or words that refuse.
// What announces the rest tells nothing against it. before is the text up to the
// seam.
func (o *original) take(t, before string) {
	f := o.fit(t)
	if broken := strings.HasSuffix(strings.TrimRight(before, " "), "\n"); !endsLead(strings.TrimSpace(t)) && (!broken || f.sorry >= 2) {
		o.taken = o.taken.add(f)
	}
}

// leftover is how much what was taken off an answer speaks against the rest: where
// that has nothing of the reference, it may be more of the same.
func (o *original) leftover(t string, rest fit) float64 {
	gone := o.taken
	if gone.words == 0 || rest.shared > 1 {
		return 0
	}
	against := 0.0
	if rest.shared == 0 && !o.kin(t) {
		against = 1.5
	}
	if gone.sorry >= 2 {
		against += 2
	}
	if gone.chars > rest.chars {
		against += 1
	}
	if 2*rest.chars < o.chars {
		against += 1
	}
	return against
}

// subjects are what a sentence is about that tells of the text in place of rewriting it.
var subjects = strings.Fields("text sentence passage phrase excerpt snippet quotation paraphrased rewritten wording input prompt headline statement " +
	"satz text textstelle формулировка текст предложение фраза отрывок")

// isSubject reports whether the first word that says something names a text, where the
// reference has no such word.
func (o *original) isSubject(t string) bool {
	o.lowered(t)
	for w := range wordsOf(o.buffer) {
		if talkWords().class(w) != stop {
			return slices.Contains(subjects, string(w)) && !strings.Contains(strings.ToLower(o.text), string(w))
		}
	}
	return false
}

// refusal says how an answer speaks of the task in place of doing it, or "".
// Nothing counts that the reference says too. language reports that the check
// of languages follows.
func refusal(w *work, ref *original, language bool) string {
	if ref.text == "" {
		return ""
	}
	v := ref.view(w.text)
	if len(v.parts) == 0 {
		return ""
	}
	if ends := scriptOf(w.text); language && ends != ref.script && ref.script != noScript && ends != noScript && v.all.words > 2 {
		return ""
	}
	for _, p := range [...]part{v.parts[0], v.parts[len(v.parts)-1]} {
		if len(v.parts) > 1 && p.score < -1.5 && !p.echo {
			return fmt.Sprintf("it begins or ends with talk: %s", quote(strings.TrimSpace(w.text[p.begin:p.end])))
		}
	}
	if ref.isSubject(w.text) {
		return fmt.Sprintf("it speaks of the task: %s", quote(w.text))
	}
	p := part{end: len(w.text), kind: entire, fit: v.all}
	if len(v.parts) == 1 {
		p.fit, p.lex = v.parts[0].fit, v.parts[0].lex
	} else {
		p.lex = ref.lean(w.text)
	}
	p.fit.script = scriptOf(w.text)
	switch {
	case p.fit.script != ref.script && ref.script != noScript && language && p.fit.words > 2: // it gets that verdict
		return ""
	case ref.foreign(p.fit):
		return fmt.Sprintf("it is in another script: %s", quote(w.text))
	}
	if s := ref.score(w.text, &p, 0, 1, p.fit) - ref.leftover(w.text, p.fit); s < 0 {
		if p.fit.talk > p.fit.own {
			return fmt.Sprintf("it speaks of the task: %s", quote(w.text))
		}
		if missingEnd(w, ref, w.text) != "" {
			return "" // it is cut
		}
		return fmt.Sprintf("it has nothing of the reference: %s", quote(w.text))
	}
	return ""
}
