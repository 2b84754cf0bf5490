package check

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
)

// quality rates a text from 0 to 1: the share of the reference's words that it has, reduced if
// it is much shorter or longer.
func (o *original) quality(e evidence) float64 {
	like := float64(min(e.chars, o.chars)) / float64(max(e.chars, o.chars, 1))
	return float64(e.shared)/float64(max(o.content, 1))*0.6 + 0.4*like - 0.1*min(e.task/3, 3)
}

// fits reports whether a text has about the length of a rewriting.
func (o *original) fits(e evidence) bool { return 5*e.chars >= 2*o.chars && e.chars <= 2*o.chars+30 }

// line is a line of an answer, without talk around it.
type line struct {
	text  string // the part that may belong to the rewriting
	label string // the label that was before a colon at its beginning
	talk  bool   // the line is only about the task
	echo  bool   // the line is the reference
	whole string // the unchanged line
	e     evidence
}

// view splits an answer into lines. It keeps the last ones, because several steps read them.
func (o *original) view(t string) []line {
	if t != o.seen.of {
		o.seen.of, o.seen.lines = t, o.announced(o.split(t))
	}
	return slices.Clone(o.seen.lines)
}

func (o *original) split(t string) (out []line) {
	for l := range strings.Lines(t) {
		cells := []string{l}
		if strings.Contains(l, "|") && !o.has("|") {
			cells = strings.Split(l, "|")
		}
		for _, l := range cells {
			if l = strings.TrimSpace(l); l != "" {
				out = append(out, o.line(l))
			}
		}
	}
	return out
}

// announced marks a line as talk if it ends in a colon and another line follows, whose label it
// then is.
func (o *original) announced(lines []line) []line {
	announces := func(l line) bool { return ending(l.whole) == ":" && ending(o.text) != ":" }
	for i := range lines {
		l := &lines[i]
		if l.label == "" && i > 0 && announces(lines[i-1]) {
			l.label = lines[i-1].whole
		}
		l.talk = l.talk || announces(*l) && i+1 < len(lines)
	}
	return lines
}

func (o *original) line(t string) (l line) {
	l.whole = t
	if n := marker(t); n > 0 && marker(o.text) == 0 && !o.startsWithNumber(t) {
		t = strings.TrimSpace(t[n:])
	}
	l.label, t = o.cutLabel(t)
	parts := o.sentences(t)
	for len(parts) > 0 && (o.evidence(parts[0]).isTalk() && !o.echoes(parts[0]) || o.echoes(parts[0]) && len(parts) > 1) {
		l.echo = l.echo || o.echoes(parts[0])
		parts = parts[1:]
	}
	for len(parts) > 0 && (o.closes(parts) || len(parts) > 1 && o.remarks(parts[len(parts)-1])) {
		parts = parts[:len(parts)-1]
	}
	switch {
	case len(parts) > 0:
		l.text = strings.TrimSpace(strings.Join(parts, ""))
	default:
		l.talk, l.text = true, t
	}
	// A sentence about the task may quote the rewriting.
	if q := o.quoted(l.whole); q != "" && (l.talk || o.evidence(strings.Replace(l.whole, q, " ", 1)).isTalk()) {
		l.text, l.talk = q, false
	}
	l.e = o.evidence(l.text)
	l.echo = o.echoes(l.text)
	return l
}

// closes reports whether the last part of a line is talk that ends it.
func (o *original) closes(parts []string) bool {
	before, p := parts[:len(parts)-1], parts[len(parts)-1]
	e := o.evidence(p)
	if !e.isTalk() || o.echoes(p) {
		return false
	}
	// The last part may be the only question, as the reference is one.
	asked := asks(o.text) && asks(p) && !slices.ContainsFunc(before, asks)
	return (e.task > 0 || !asked) && (len(parts) > o.parts() || !unicode.IsLetter(firstRune(strings.TrimSpace(p))) || e.task > 1)
}

// muses reports whether a line discusses the task at length, as a thought before an answer does.
func (o *original) muses(t string) bool {
	_, rest := o.cutLabel(t)
	e := o.evidence(rest)
	return e.words > 6 && e.talk > 3 && e.talk > 0.5*float64(e.shared)
}

// remarks reports whether a line ends in a bracket that has no word of the reference.
func (o *original) remarks(t string) bool {
	e := o.evidence(t)
	if e.shared > 0 || !says(t) || !strings.ContainsRune("(（[", firstRune(t)) {
		return e.shared == 0 && unicode.Is(unicode.Pd, firstRune(t)) && e.task > 0
	}
	return e.talk > 0 || e.words > 2 && isStop(lastRune(strings.TrimRight(t, " )）]")))
}

func (o *original) startsWithNumber(t string) bool {
	digits := t[:len(t)-len(strings.TrimLeft(t, "0123456789"))]
	return digits != "" && (strings.Contains(o.text, digits+".") || o.words[digits] && !strings.HasPrefix(t[len(digits):], ")") && !strings.HasPrefix(t[len(digits):], ". "))
}

// labelEnds matches a colon, an arrow or a dash after a label, and the bracket of "(Formal) …".
var labelEnds = text.Regexp(`[:：]|\pL>\s|^@\pL+\s|\s*(?:——|⇒|▸|►)\s*|\s(?:-+>|=>|→|➜|>{1,3}|--|–|—)\s|[)\]】]\s`)

// mostLabel is the maximum length of a label in characters.
const mostLabel = 90

// cutLabel splits off a label at the beginning: text before a colon that has no word of the
// reference. The label is "" if there is none.
func (o *original) cutLabel(t string) (label, rest string) {
	if !strings.ContainsAny(t, ":：>→➜–—⇒▸►)]】") && !strings.Contains(t, "--") {
		return "", t
	}
	at := labelEnds().FindStringIndex(t)
	if at == nil || at[0] == 0 || chars(t[:at[0]]) > mostLabel || strings.HasPrefix(t[at[0]:], "://") {
		return "", t
	}
	i, n := at[0], at[1]-at[0]
	label, rest = strings.TrimSpace(t[:i]), strings.TrimSpace(t[i+n:])
	if rest == "" {
		return "", t
	}
	colon := strings.ContainsAny(t[i:i+n], ":：")
	if n == 1 && '0' <= t[i+n] && t[i+n] <= '9' {
		return "", t // 15:30
	}
	e, r := o.evidence(label), o.evidence(rest)
	switch {
	case e.isTalk():
	case unicode.IsLower(firstRune(rest)) && unicode.IsUpper(firstRune(o.text)), e.shared > 0 || e.words > 4 && (e.talk < 0.7 || e.own > 3) || o.has(":："), !colon && e.talk == 0, !o.fits(r) || r.shared == 0:
		return "", t
	}
	return label, rest
}

// sentences splits a line into sentences, and splits off brackets and dashes after them. Joined,
// the parts are the line again.
func (o *original) sentences(t string) (out []string) {
	begin := 0
	cut := func(at int) {
		if at > begin {
			out = append(out, t[begin:at])
			begin = at
		}
	}
	for i, r := range t {
		n := i + utf8.RuneLen(r)
		switch {
		case isStop(r):
			rest := strings.TrimLeft(t[n:], `"'”’»“)」』）`)
			end := len(t) - len(rest)
			if rest == "" || !text.IsUnspaced(firstRune(rest)) && !unicode.IsSpace(firstRune(rest)) && r < 0x80 {
				continue
			}
			if r != '.' || !unicode.IsLower(firstRune(strings.TrimSpace(rest))) {
				cut(end)
			}
		case (r == '(' || r == '（' || r == '[') && i > begin && !o.has("(（["):
			cut(i)
		case unicode.Is(unicode.Pd, r) && i > 0 && t[i-1] == ' ' && strings.HasPrefix(t[n:], " "):
			cut(i)
		}
	}
	cut(len(t))
	return out
}

func isQuote(r rune) bool {
	return r == '"' || strings.ContainsRune("“”„«»‘’'「」『』《》‹›`〝〞´⟨⟩‚", r)
}

var quotations = text.Regexp(`"([^"]+)"|“([^”“]+)[”“]|„([^“”"]+)[“”"]|«([^»]+)»|»([^«]+)«|「([^」]+)」|『([^』]+)』|‘([^’]+(?:’\pL[^’]*)*)’`)

// quoted returns the quotation that may be the rewriting, or "".
func (o *original) quoted(t string) (best string) {
	most := 0.0
	if !strings.ContainsFunc(t, isQuote) {
		return ""
	}
	for _, m := range quotations().FindAllStringSubmatch(t, -1) {
		s := strings.TrimSpace(strings.Join(m[1:], ""))
		if e := o.evidence(s); o.fits(e) && !o.echoes(s) && !e.isTalk() && o.quality(e) > most+0.1 && !strings.Contains(o.norm(), normalize(s)) {
			best, most = s, o.quality(e)
		}
	}
	return best
}

// unrestate removes the prompt, and the reference if something follows it.
func unrestate(c *Checker, t string, ref *original) string {
	for _, p := range c.prompts {
		for rest := strings.TrimLeft(t, `"'“`); len(rest) > len(p) && strings.EqualFold(rest[:len(p)], p); rest = t {
			t = strings.TrimSpace(rest[len(p):])
		}
	}
	const shortest = 8 // characters; a shorter reference may be part of its rewriting
	core := strings.TrimRight(ref.text, ".。")
	if i := strings.Index(strings.ToLower(t), strings.ToLower(core)); i >= 0 && ref.chars >= shortest && t != ref.text && i+len(core) <= len(t) {
		before, after := t[:i], strings.TrimLeft(t[i+len(core):], ".。\"”“»」』'’),")
		rest := strings.TrimSpace(before + "\n" + after)
		if kept := slices.DeleteFunc(ref.view(rest), func(l line) bool { return l.talk || !ref.fits(l.e) || l.e.shared == 0 }); len(kept) > 0 {
			return rest
		}
	}
	return t
}

// kept returns the lines of an answer that are neither talk nor the reference.
func (o *original) kept(t string) []line {
	return slices.DeleteFunc(o.view(t), func(l line) bool { return l.talk || l.echo })
}

// untalk removes lines, sentences, labels and notes about the task, before and after the
// rewriting.
func untalk(_ *Checker, t string, ref *original) string {
	if !ref.lines() {
		kept := ref.kept(t)
		if len(kept) != 1 || t[marker(t):] == kept[0].text {
			return t
		}
		return kept[0].text
	}
	for all := ref.view(t); len(all) > 0; {
		switch first, last := all[0], all[len(all)-1]; {
		case first.talk:
			all = all[1:]
		case last.talk:
			all = all[:len(all)-1]
		default:
			from := strings.Index(t, first.whole)
			return t[from:max(from, strings.LastIndex(t, last.whole)+len(last.whole))]
		}
	}
	return t
}

// finals matches labels of the last of several texts.
var finals = text.Regexp(`(?i)final|revis|chosen|better|best|improved|\bafter\b|answer|result|output|polished|endg|endfassung|nachher|besser|ergebnis|antwort|итог|окончат|лучш|стало|ответ|результат|最终|最終|定稿|更好|答案|改写后|définit|mejor|meilleur|migliore|melhor|definiti|최종`)

// first picks one of several rewritings if the reference is one line: the first, the one
// labelled final, or the last one after a thought.
func first(_ *Checker, t string, ref *original) string {
	if ref.lines() {
		return t
	}
	all := ref.kept(t)
	if len(all) < 2 {
		return inline(t, ref)
	}
	if whole := ref.whole(all); whole != "" {
		return whole
	}
	thinks := slices.ContainsFunc(all[:len(all)-1], func(l line) bool { return ref.muses(l.whole) })
	var pick *line
	for i, l := range all {
		if !ref.fits(l.e) || thinks && ref.muses(l.whole) {
			continue
		}
		if pick == nil || thinks && !finals().MatchString(pick.label) || finals().MatchString(l.label) && !finals().MatchString(pick.label) {
			pick = &all[i]
		}
	}
	if pick == nil {
		return t
	}
	return pick.text
}

// whole returns the lines joined if only together they are a rewriting, otherwise "".
func (o *original) whole(all []line) string {
	var texts []string
	most := 0
	for _, l := range all {
		texts = append(texts, l.text)
		most = max(most, l.e.shared)
		if l.label != "" {
			return ""
		}
	}
	t := strings.Join(texts, " ")
	if e := o.evidence(t); 2*e.chars > 3*o.chars || 5*e.shared < 7*most {
		return ""
	}
	return t
}

var or = text.Regexp(`(?i)\s+(?:/|\||→|//)\s+|[。！？]/|\s+\((?:or|alternatively|oder|или):?\s+|\.\s+(?:hmm|wait)[^.]*\.\s+\pL+:\s+|[.!?。！？]["”»]?\s+(?:or|oder|или|либо|OR)\s+|[.!?]["”]?\s*(?:\(?or\)?[,:]|or:|alternatively[,:]|oder:?|или:?|或者?[:：])\s+`)

// inline picks the first of two rewritings on one line.
func inline(t string, ref *original) string {
	if !strings.ContainsAny(strings.TrimRight(t, ".!?"), "/|→(.!?。！？") {
		return t
	}
	for _, at := range or().FindAllStringIndex(t, -1) {
		_, n := utf8.DecodeRuneInString(t[at[0]:]) // the full stop
		a, b := strings.TrimSpace(t[:at[0]+n]), strings.TrimSpace(t[at[1]:])
		ea, eb := ref.evidence(a), ref.evidence(b)
		if ref.fits(ea) && ref.fits(eb) && (ea.shared > 0 && eb.shared > 0) && !or().MatchString(ref.text) {
			return a
		}
	}
	return t
}

var markers = text.Regexp(`^(?:[:|~]\s+|[-*•‣·–—+▪●○]\s+|\(?\d{1,2}[).]\s+|\d{1,2}、\s*|[a-hA-H]\)\s+|\([a-h]\)\s+|[①-⑳➊-➓]\s*|(?:[→⇒➜▸►]|[=-]+>|>>)\s*|[A-D]\.\s+|(?i:i|ii|iii|iv)[.)]\s+|\[\d\]\s+)+`)

// marker returns the length of a list number or bullet at the beginning, with the space after it.
func marker(t string) int { return len(markers().FindString(t)) }

// unlist removes a list number or bullet from the beginning, unless the reference begins with
// one, too, or has the same number: "3. Oktober" is a date.
func unlist(_ *Checker, t string, ref *original) string {
	n := marker(t)
	if n == 0 || n == len(t) || marker(ref.text+" ") > 0 || unicode.Is(unicode.Pd, firstRune(ref.text)) || ref.startsWithNumber(t) {
		return t
	}
	return t[n:]
}

// wrappers maps marks that may surround a whole text to the marks that close them.
var wrappers = map[rune]string{'"': `"”`, '“': "”“\"", '”': "”", '„': "“”\"", '‟': "”", '«': "»", '»': "«", '‹': "›", '›': "‹", '\'': "'", '‘': "’", '‚': "‘’",
	'「': "」", '『': "』", '《': "》", '〝': "〞", '⟨': "⟩", '`': "`", '´': "´", '(': ")", '[': "]", '【': "】", '{': "}", '<': ">"}

// unquote removes quotation marks and brackets around the whole text, and a mark at one end
// without a partner.
func unquote(_ *Checker, t string, ref *original) string {
	open := firstRune(t)
	shuts, n, inner := wrappers[open], utf8.RuneLen(open), strings.TrimRight(t, ".。")
	last, m := utf8.DecodeLastRuneInString(inner)
	switch {
	case isQuote(firstRune(ref.text)) && isQuote(lastRune(strings.TrimRight(ref.text, ".。!?"))), shuts != "" && !isQuote(open) && ref.has(string(open)):
		return t
	case shuts == "" && strings.IndexByte(t, '"') == len(t)-1 && !strings.ContainsAny(t, "“„") && !ref.has(`"”`):
		return t[:len(t)-1]
	case isQuote(open) && !ref.has(`"”`) && !strings.ContainsAny(t[n:], shuts):
		return t[n:]
	case shuts == "" || !strings.ContainsRune(shuts, last) || len(inner) <= n+m:
		return t
	}
	if body := inner[n : len(inner)-m]; !endsEarly(body, open, last) {
		return body
	}
	return t
}

// endsEarly reports whether a quotation ends before the mark that ends the text, so that its
// marks do not surround the whole text.
func endsEarly(body string, open, last rune) bool {
	for i, r := range body {
		before, after := lastRune(body[:i]), firstRune(body[i+utf8.RuneLen(r):])
		switch {
		case r != open && r != last || open == '\'' && isWord(before) && isWord(after):
			continue // not a mark, or an apostrophe
		case r != open || r == last && i > 0 && !unicode.IsSpace(before) && !unicode.In(before, unicode.Ps, unicode.Pi):
			return true
		}
		return false
	}
	return false
}
