package check

import (
	"slices"
	"strings"
	"unicode"
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
	v.aside(o)
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
		items := v.items()
		if a, b, ok := v.picked(o, items); ok {
			from, to, v.other = a, b, true
		} else {
			from, to = v.first(o, from, to)
			from, to = v.series(o, items, from, to)
		}
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
// course." is said to the one who asks. A greeting is kept where the reference begins with one.
func (v *view) greet(o *original) {
	p := &v.parts[0]
	if p.fit.words <= 3 && greets(v.text) && greets(o.text) {
		p.score = max(p.score, 1)
		return
	}
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

// greetings begin a message.
var greetings = strings.Fields("hello hi hey greetings dear good hallo guten liebe lieber здравствуйте привет добрый доброе hola buenos bonjour salut ciao buongiorno olá hej 你好 您好")

// greets reports whether a text begins with a greeting.
func greets(t string) bool {
	word, _, _ := strings.Cut(t[:min(len(t), 40)], " ")
	return slices.Contains(greetings, strings.ToLower(strings.TrimRight(word, ",.!:，！")))
}

// aside lowers a whole sentence in brackets that is as long as the rewriting before it: a translation,
// or another one.
func (v *view) aside(o *original) {
	if strings.ContainsAny(o.text, "([（【") {
		return
	}
	for i := 1; i < len(v.parts); i++ {
		p := &v.parts[i]
		inner := strings.TrimFunc(v.text[p.begin:p.end], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("([（【】）])", r) })
		before := v.fit(0, i)
		if p.kind != bracket || before.shared == 0 || 2*before.chars < o.chars {
			continue
		}
		if o.foreign(p.fit) && !mostlyLatin(inner) || 2*p.fit.chars >= o.chars && before.margin() < 0 &&
			!startsLower(inner) && endingOf(inner).complete() && endingOf(v.text[:p.begin]).complete() {
			p.score = min(p.score, lowered)
		}
	}
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

// lowered is what a part scores at most that is known to be none of the rewriting.
const lowered = -4

// lower makes talk of parts, whatever they scored.
func (v *view) lower(from, to int) {
	for i := range v.parts[from:to] {
		v.parts[from+i].score = min(v.parts[from+i].score, lowered)
	}
}

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
