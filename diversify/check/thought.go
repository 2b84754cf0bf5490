package check

import (
	"slices"
	"strings"
)

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

// isAnswer reports whether a line is the heading of an answer, without a colon.
func isAnswer(line string) bool {
	words := strings.Fields(strings.ToLower(line))
	return len(words) > 0 && len(words) <= 2 && slices.Contains(answers, words[len(words)-1])
}

// answers are what a model calls its answer behind a thought.
var answers = strings.Fields("answer response output result reply final antwort ergebnis ответ результат")

// breaksOff reports whether a text ends within talk that what is kept stands in the
// middle of: a thought that was cut off, and what is kept is of that thought.
func (v *view) breaksOff(o *original) bool {
	n := len(v.parts)
	if v.to == n || v.from == v.to || v.parts[n-1].echo || v.other && o.ends.kind == endWord { // a title ends so, another one too
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
