package check

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// features are what a part is scored by.
const features = 37

// inlineMargin speaks for a sentence beside others on a line, by each word that
// says something.
const inlineMargin = 0.6

// benefit speaks for a text without a word of talk: answers are seldom unrelated.
const benefit = 0.4

// score is how much more likely a part is one of the rewriting than talk.
func (o *original) score(t string, p *part, i, n int, all fit) float64 {
	sum, decided := o.given(t, p, i, n)
	if decided {
		return sum
	}
	var x [features]float64
	o.regard(&x, t, p, i, n, all)
	for k := range x {
		sum += x[k] * weigh[k][p.kind]
	}
	return sum
}

// given is what a part scores before anything is weighed, and whether that
// decides.
func (o *original) given(t string, p *part, i, n int) (sum float64, decided bool) {
	switch {
	case p.echo && n > 1:
		return -5, true
	case p.kind == head && n > 1 && o.roleAt(t[p.begin:p.end]):
		return -5, true
	case p.fit.words == 0:
		return -0.2, true
	case n > 1 && p.kind != bracket && p.end-p.begin >= len(o.text)/2 && o.echoes(t[p.begin:p.end]):
		p.echo = true
		return -5, true
	}
	if n > 1 && p.kind != head && p.fit.shared <= 1 && p.fit.words > 2 && o.otherWords(o.lowered(t[p.begin:p.end])) != "" {
		return -4, true
	}
	if p.kind == entire && p.fit.talk == 0 {
		sum = benefit
	}
	if p.kind == head && p.fit.talk == 0 && p.fit.own > 1 {
		sum = 1.5 * float64(min(p.fit.own-1, 3))
	}
	if p.kind == head && endsLead(strings.TrimSpace(t[p.begin:p.end])) && !strings.ContainsAny(o.text, ":：") {
		if f := o.fit(strings.Map(noDigit, t[p.begin:p.end])); f.words > 0 && f.words <= 3 && f.own == 0 && f.names == 0 && f.stops < f.words && !hasPrefixFold(o.text, strings.TrimRight(t[p.begin:p.end], ":： ")) {
			return -5, true
		}
	}
	if p.kind == head && n > 1 && endsLead(strings.TrimSpace(t[p.begin:p.end])) && o.cites(p.fit, t[p.begin:p.end], t[p.end:]) {
		return -5, true
	}
	if p.kind == bracket && p.fit.words <= 2 && p.fit.shared == 0 && (i == 0 || t[p.begin-1] == '\n') && n > 1 && !strings.ContainsAny(o.text, "([") {
		return -3, true
	}
	if p.kind == bracket && p.fit.talk == 0 && (mostlyLatin(o.text) || !isGloss(t[p.begin:p.end])) {
		sum = 2.5
	}
	if p.kind == sentence && n > 1 && !(p.line && (p.begin == 0 || t[p.begin-1] == '\n')) {
		sum = inlineMargin * float64(min(p.fit.own+p.fit.shared+p.fit.polite, 4))
		if p.fit.talk == 0 && p.fit.own > 0 {
			sum++
		}
	}
	return sum, false
}

// roleAt reports whether a head is the name of a model or of its part in a dialogue,
// which the reference has not.
func (o *original) roleAt(head string) bool {
	name := strings.ToLower(strings.TrimFunc(head, func(r rune) bool { return !unicode.IsLetter(r) }))
	return slices.Contains(roles, name) && !slices.Contains(strings.FieldsFunc(strings.ToLower(o.text), func(r rune) bool { return !unicode.IsLetter(r) }), name)
}

func noDigit(r rune) rune {
	if isDigitRune(r) {
		return -1
	}
	return r
}

// regard fills in what a part shows, beside all of the text.
func (o *original) regard(x *[features]float64, t string, p *part, i, n int, all fit) {
	*x = [features]float64{}
	f := p.fit
	most := func(v int, limit float64) float64 { return min(float64(v), limit) }
	is := func(at int, yes bool) {
		if yes {
			x[at] = 1
		}
	}
	said := o.content()
	units, heads := o.units()
	rest := all.without(f)
	body := t[p.begin:p.end]
	x[0] = 1
	x[1] = most(f.talk, 8) / 4
	x[2] = most(f.own, 8) / 4
	x[3] = most(f.shared, 4) / 2
	is(4, f.shared > 0)
	is(5, f.talk == 0)
	x[6] = most(f.task, 6) / 3
	x[7] = float64(f.talk) / float64(f.words+1)
	is(8, f.words > 0 && f.words == f.stops)
	is(9, f.words <= 2)
	is(10, o.foreign(f))
	is(11, f.lead)
	x[12] = most(f.polite, 4) / 2
	x[13] = most(f.sorry, 4) / 2
	is(14, f.shared == 0 && o.text != "" && o.kin(body))
	is(15, i == 0 && n > 1)
	is(16, i == n-1 && n > 1)
	is(17, p.line && (i == 0 || p.begin > 0 && t[p.begin-1] == '\n') && n > 1)
	is(18, n > units)
	is(19, 4*rest.chars >= 3*o.chars && rest.shared > 1 && o.quality(rest) >= 0.5)
	if n > 1 {
		x[20] = o.quality(rest)
	}
	switch lastRune(strings.TrimSpace(body)) {
	case '!', '！', '~':
		is(21, !strings.ContainsAny(o.text, "!！~"))
	case '?', '？':
		is(22, !strings.ContainsAny(o.text, "?？"))
	}
	x[23] = float64(f.own+2*f.shared) / float64(f.words+1)
	x[24] = math.Min(1, float64(f.chars)/float64(max(1, o.chars)))
	switch p.kind {
	case head:
		tail := t[p.end:]
		is(25, heads || isQuote(firstRune(tail)) && strings.ContainsFunc(o.text, isQuote))
		k := indexLetter(tail)
		is(26, k >= 0 && unicode.IsUpper(firstRune(o.text)) && unicode.IsLower(firstRune(tail[k:])))
		is(27, isDash(body))
	case bracket:
		is(25, strings.ContainsAny(o.text, "([（"))
		is(26, isGloss(body) && !mostlyLatin(o.text))
	default:
		is(25, startsLower(body) && !startsLower(o.text))
		is(27, !isStop(lastRune(strings.TrimSpace(body))) && !endingOf(body).complete() && o.ends.complete())
	}
	is(28, f.common == 0 && f.stops > 1)
	x[29] = float64(f.names) / float64(max(1, said.names))
	x[34] = min(max(float64(f.margin()), 0), 4) / 2
	is(35, f.talk >= 4 && 2*f.talk >= f.words)
	x[36] = max(-6, min(6, p.lex)) / 3
	if cited := o.citation(body); cited != "" {
		x[30] = 1
		g := o.fit(strings.Replace(body, cited, "", 1))
		x[31] = most(g.talk, 8) / 4
		is(32, g.shared == 0)
		is(33, g.talk > 0 && g.talk >= g.own)
	}
	if p.kind == entire {
		kept := f.shared == 0 && o.keepsNumbers(body)
		nothing := f.shared == 0 && x[14] == 0 && !kept
		is(26, nothing)
		if nothing {
			x[24] = 0
			x[25] = most(said.names, 8) / 4
			x[21] = math.Min(1, float64(f.chars)/float64(max(1, o.chars)))
		}
		is(20, nothing && f.talk == 0 && f.own >= 4)
		is(27, kept)
		is(15, said.names >= 3)
		is(16, said.names <= 1)
		is(17, said.has[sorry])
		is(18, 2*f.chars >= o.chars && f.chars <= 2*o.chars)
		x[19] = float64(f.common) / float64(f.stops+1)
	}
}

func indexLetter(t string) int {
	return strings.IndexFunc(t, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

func startsLower(t string) bool {
	i := indexLetter(t)
	return i >= 0 && unicode.IsLower(firstRune(t[i:]))
}

// isDash reports whether a head ends in a dash.
func isDash(head string) bool { return unicode.Is(unicode.Pd, lastRune(strings.TrimSpace(head))) }

// citation returns what a text quotes of the reference, with its marks, or "".
func (o *original) citation(t string) string {
	if !strings.ContainsFunc(t, func(r rune) bool { return r == '"' || r > 0xa0 && isQuote(r) }) || strings.ContainsFunc(o.text, isQuote) {
		return ""
	}
	begin, end := quotation(t)
	if begin < 0 {
		return ""
	}
	inner := strings.Trim(strings.TrimFunc(t[begin:end], isQuote), " .,…。")
	if !strings.Contains(o.text, inner) || strings.TrimSpace(t[:begin]+t[end:]) == "" {
		return ""
	}
	return t[begin:end]
}

// cites reports whether a head of a few words that have nothing of the reference, which has
// no quotation marks, stands before a rewriting that is quoted as a whole.
func (o *original) cites(f fit, head, tail string) bool {
	const mostWords = 6
	if f.words > mostWords || f.shared > 0 || f.common > 0 || strings.ContainsFunc(o.text, func(r rune) bool { return r != '\'' && r != '’' && isQuote(r) }) {
		return false
	}
	begin, end := quotation(tail)
	return begin == 0 && !says(tail[end:]) && o.wholeAlone(o.fit(tail)) && !o.kin(head)
}

// weighs reports whether a text quotes several words or phrases that are each much
// shorter than the reference, which quotes none.
func (o *original) weighs(t string) bool {
	begin, end := quotation(t)
	if begin < 0 || strings.ContainsFunc(o.text, isQuote) {
		return false
	}
	found := 0
	for ; begin >= 0; begin, end = quotation(t) {
		if 2*runeCount(t[begin:end]) < o.chars {
			found++
		}
		t = t[end:]
	}
	return found > 1
}

// keepsNumbers reports whether a text has the numbers of the reference, which
// has some.
func (o *original) keepsNumbers(t string) bool {
	w := work{}
	w.reset(t)
	return len(o.numbers().list) > 0 && changedNumber(o.numbers(), w.numbers()) == ""
}
