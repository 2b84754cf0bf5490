package check

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unlead takes off a lead-in or a label: what stands before a colon, says
// nothing of the reference, and speaks of the task or is as short as a label.
func unlead(_ *Checker, t string, ref *original) string {
	if open := strings.IndexAny(t, "([*"); open == 0 && !strings.HasPrefix(ref.text, t[:1]) { // "(Formal) …"
		if end := strings.IndexAny(t, ")]"); end > 0 && end < 60 && says(t[end+1:]) {
			if f := ref.fit(t[1:end]); f.shared == 0 && f.about > 0 && f.isTalk() {
				return t[end+1:]
			}
		}
	}
	if name, rest, ok := strings.Cut(t, " "); ok && strings.HasPrefix(name, "@") && !strings.Contains(ref.text, "@") {
		return rest
	}
	const most = 240
	head := t[:min(len(t), most)]
	line := strings.IndexByte(head, '\n')
	if line >= 0 {
		head = head[:line]
	}
	for from := 0; ; {
		at, size := colon(head[from:])
		if at < 0 {
			return t
		}
		at += from
		from = at + size
		if !says(t[:at]) && at < 4 {
			return t[from:]
		}
		if labelled(t[:at], drafts) && strings.Contains(t, "\n") {
			return t // for the step that looks at all lines
		}
		if isLead(t[:at], t[at+size:], unicode.Is(unicode.Pd, firstRune(t[at:])), ref) {
			return t[at+size:]
		}
		if from > len(head)/2+40 {
			return t
		}
	}
}

// colon returns where the first colon of a text is, or a dash with white space
// around, that no digits stand around, and its size; or -1.
func colon(s string) (at, size int) {
	for i, r := range s {
		switch {
		case r == '：', r == ':' && !(i > 0 && i+1 < len(s) && isDigit(s[i-1]) && isDigit(s[i+1])) && !strings.HasPrefix(s[i:], "://"):
			return i, utf8.RuneLen(r)
		case (r == '-' || r == '–' || r == '—') && i > 0 && s[i-1] == ' ' && strings.HasPrefix(s[i+utf8.RuneLen(r):], " "):
			return i, utf8.RuneLen(r)
		case strings.HasPrefix(s[i:], "-- ") && i > 0 && s[i-1] == ' ':
			return i, len("--")
		case (r == '|' || r == '=' || isArrow(r)) && i > 0:
			return i, utf8.RuneLen(r)
		}
	}
	return -1, 0
}

func isArrow(r rune) bool {
	return r == '>' || r >= 0x2190 && r <= 0x21ff || r >= 0x2794 && r <= 0x27be && r != 0x27b0 && r != 0x27a1 || r >= 0x27f0 && r <= 0x27ff
}

// isLead reports whether a head introduces the tail, which is the rewriting.
func isLead(head, tail string, dash bool, ref *original) bool {
	if !says(tail) || !says(head) || unclosed(head) != "" || hasPrefixFold(ref.text, head) {
		return false
	}
	at, _ := colon(ref.text)
	f := ref.fit(head)
	g := ref.fit(tail)
	upper := func(t string) bool {
		i := strings.IndexFunc(t, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
		return i < 0 || !unicode.IsLower(firstRune(t[i:]))
	}
	switch {
	case f.shared > 0 && f.margin() < 1, g.shared == 0 && g.talk > 0 && g.talk >= g.own:
		return false
	case at >= 0 && at < 60 || dash || isQuote(firstRune(strings.TrimSpace(tail))) && strings.ContainsFunc(ref.text, isQuote): // the reference has a head too; or it may be another sentence
		return f.about-f.own >= 2
	case f.task > 0 && f.margin() >= 1, ref.foreign(f) && !ref.foreign(g), f.words == f.stops && f.words <= 2 && 2*g.chars >= ref.chars && upper(tail):
		return true
	case upper(ref.text) && !upper(tail): // the sentence goes on
		return false
	case f.margin() >= 1 && (f.talk >= 2 || f.stops == 0):
		return true
	case 2*g.chars < ref.chars:
		return false
	case f.about >= 1 && 2*f.talk >= f.own && (f.talk >= 2 || f.stops == 0):
		return true
	}
	if at < 0 && !dash && f.shared == 0 && (ref.content().names >= 3 && f.own <= 2 || f.own <= 1 && f.talk > 0) && 5*g.chars >= 3*ref.chars && !ref.kin(head) && (g.shared > 0 || ref.kin(tail) || ref.content().names < 3) {
		return true
	}
	if at < 0 && !dash && f.words == 1 && f.shared == 0 && !ref.kin(head) && 5*g.chars >= 3*ref.chars && !endingOf(head).complete() && g.words > 1 { // a name
		return true
	}
	// Whatever a head says, it is none of the rewriting if the rest is all of it.
	return f.stops == 0 && f.words <= 2 && g.shared > 0 && ref.quality(g) >= 0.5 ||
		2*f.own <= f.words+1 && 4*g.chars >= 3*ref.chars && g.shared > 1 && ref.quality(g) >= 0.5
}

// units are the parts of a text that may be about the task: its lines, or the
// sentences of its only line. Each keeps the white space behind it.
func units(t string) []string {
	if strings.Contains(t, "\n") {
		var lines []string
		for l := range strings.Lines(t) {
			if strings.TrimSpace(l) == "" && len(lines) > 0 {
				lines[len(lines)-1] += l
				continue
			}
			lines = append(lines, l)
		}
		return lines
	}
	var out []string
	begin, lettered := 0, false
	for i, r := range t {
		n := utf8.RuneLen(r)
		lettered = lettered || unicode.IsLetter(r)
		if i < begin || !isStop(r) && r != '~' && r != '～' {
			continue
		}
		end := i + n
		for end < len(t) {
			next, m := utf8.DecodeRuneInString(t[end:])
			if !isStop(next) && !isQuote(next) && !unicode.In(next, unicode.Pe, unicode.Pf) {
				break
			}
			end += m
		}
		space := len(t[end:]) - len(strings.TrimLeft(t[end:], " "))
		if next, _ := utf8.DecodeRuneInString(t[end+space:]); space == 0 && r < 0x3000 || unicode.IsLower(next) {
			continue
		}
		if !lettered || strings.ContainsAny(t[begin:end], "\"“„«「") && unclosed(t[begin:end]) != "" { // a list number, a quotation
			continue
		}
		out = append(out, t[begin:end+space])
		begin, lettered = end+space, false
	}
	if begin < len(t) {
		out = append(out, t[begin:])
	}
	return out
}

// untalk takes lines and sentences about the task off the front and the end.
func untalk(_ *Checker, t string, ref *original) string {
	parts := units(t)
	if len(parts) < 2 {
		return t
	}
	lines := strings.Contains(t, "\n")
	fits := make([]fit, len(parts))
	for i, p := range parts {
		if lines {
			fits[i], _ = ref.lineFit(p)
		} else {
			fits[i] = ref.fit(p)
		}
	}
	begin, end := 0, len(parts)
	_, behind, two := strings.Cut(ref.text, ". ")
	labelFirst := two && strings.Count(ref.text[:len(ref.text)-len(behind)], " ") == 1 // "A. …"
	spare := len(parts) - ref.units()                                                  // sentences more than the reference has
	takes := func(i, from, to int) bool {
		f := fits[i]
		rest := fit{}
		for _, g := range fits[from:to] {
			rest.shared, rest.own, rest.talk, rest.chars = rest.shared+g.shared, rest.own+g.own, rest.talk+g.talk, rest.chars+g.chars
		}
		if i > 0 && !lines && !endingOf(parts[i]).complete() {
			return false // it is cut
		}
		// What says nothing of the reference is none of it where the rest is all of it.
		whole := spare > 0 && f.shared == 0 && f.talk > 0 && 2*f.own <= f.words && rest.shared > 1 && 4*rest.chars >= 3*ref.chars && ref.quality(rest) >= 0.5
		whole = whole || spare > 0 && (i > 0 || f.words > 1 || !labelFirst) && f.shared == 0 && f.own <= 2 && f.words <= 5 && rest.shared > 1 && 4*rest.chars >= 3*ref.chars && ref.quality(rest) >= 0.5 && !ref.kin(parts[i])
		hello := f.words <= 2 && f.own == 0 && f.shared == 0 && f.talk > 0 && f.about == 0 && !ref.content().has[open]
		if spare > 0 && (i == 0 || f.own == 0 && f.polite == f.open) || lines {
			f.talk += f.open
		} else if (f.margin() < 3 || f.task < 2) && !hello {
			return false
		}
		if !lines && i > 0 && f.about == 0 && f.own > 0 && !ref.foreign(f) {
			return false
		}
		if !whole && !hello && !aside(f, parts[i], ref) {
			return false
		}
		spare--
		return true
	}
	for begin < end-1 && takes(begin, begin+1, end) {
		begin++
	}
	for end-1 > begin && takes(end-1, begin, end-1) {
		end--
	}
	if begin == 0 && end == len(parts) {
		return t
	}
	rest := strings.Join(parts[begin:end], "")
	if f := ref.fit(rest); !says(rest) || 3*f.chars < ref.chars || aside(f, rest, ref) || f.shared == 0 && f.talk > 0 && f.talk >= f.own && ref.content().names >= 2 {
		return t
	}
	return rest
}

// aside reports whether a part at an end of a text is about the task. A cry or
// question where the reference has none is taken for one sooner.
func aside(f fit, part string, ref *original) bool {
	if f.words == 0 {
		return !hasLetter(part) && ref.letters > 0
	}
	if f.talk > 0 && f.shared == 0 {
		switch lastRune(strings.TrimSpace(part)) {
		case '!', '！', '~':
			if !strings.ContainsAny(ref.text, "!！~") {
				f.talk++
			}
		case '?', '？':
			if f.own == 0 && f.words > 2 && !strings.ContainsAny(ref.text, "?？") {
				f.talk++
			}
		}
	}
	if f.isTalk() || ref.foreign(f) {
		return true
	}
	if open := strings.IndexFunc(part, isQuote); open >= 0 { // words that it quotes are not its own
		if g := ref.fit(unquoted(part)); g.task > 0 && g.words >= 3 && g.isTalk() {
			return true
		}
	}
	return false
}

// unquoted is a text without what stands in quotation marks.
func unquoted(t string) string {
	var b strings.Builder
	for t != "" {
		i, end := quotation(t)
		if i < 0 {
			break
		}
		b.WriteString(t[:i])
		b.WriteByte(' ')
		t = t[end:]
	}
	b.WriteString(t)
	return b.String()
}

// quotation returns where the first quotation of a text begins and ends, its
// marks included, or -1.
func quotation(t string) (begin, end int) {
	before := rune(-1)
	if !utf8.ValidString(t) {
		return -1, -1
	}
	for i, r := range t {
		if closing, ok := closers[r]; ok && closing != "" && opens(r, before, firstRune(t[i+utf8.RuneLen(r):])) {
			from := i + utf8.RuneLen(r)
			last := rune(-1)
			for k, q := range t[from:] {
				next := firstRune(t[from+k+utf8.RuneLen(q):])
				if k > 0 && strings.ContainsRune(closing, q) && !(unicode.IsLetter(last) && unicode.IsLetter(next)) {
					return i, from + k + utf8.RuneLen(q)
				}
				last = q
			}
		}
		before = r
	}
	return -1, -1
}

// firstAlternative takes, where the reference is one line, the line that
// corresponds to it: the first one of several that each do so whole. Parts of
// one rewriting stay together.
func firstAlternative(_ *Checker, t string, ref *original) string {
	if strings.Contains(ref.text, "\n") {
		return t
	}
	if !strings.Contains(t, "\n") {
		return firstOf(t, ref)
	}
	type line struct {
		text  string
		fit   fit
		q     float64
		final bool // its label says that it is the last of several
	}
	var some []line
	best, echo := 0.0, ""
	for l := range strings.Lines(t) {
		l = strings.TrimSpace(l)
		bare := l[listMarker(l):]
		if !says(bare) {
			continue
		}
		if ref.echoes(bare) {
			echo = bare
			continue
		}
		f, label := ref.lineFit(bare)
		final := labelled(label, finals)
		if labelled(label, drafts) {
			continue
		}
		if aside(f, bare, ref) || strings.HasSuffix(bare, ":") || strings.HasSuffix(bare, "：") {
			continue
		}
		q := ref.quality(f)
		best = max(best, q)
		some = append(some, line{l, f, q, final})
	}
	if len(some) == 0 {
		return cmp.Or(echo, t)
	}
	if len(some) == 1 {
		return some[0].text
	}
	// Parts of one rewriting are together about as long as the reference. What
	// is short beside a whole one, and says next to nothing, is no part.
	total, shared, most, whole := 0, 0, 0, false
	for _, l := range some {
		most = max(most, l.fit.shared)
		total += l.fit.chars
		if l.fit.shared > 0 {
			shared++
		}
		whole = whole || 5*l.fit.chars >= 3*ref.chars
	}
	some = slices.DeleteFunc(some, func(l line) bool {
		return whole && 3*l.fit.chars < ref.chars && l.fit.shared < 2
	})
	if len(some) > 1 && (shared == len(some) && 2*total < 3*ref.chars || shared == 0 && total <= ref.chars) {
		return t
	}
	for _, l := range some {
		if l.final {
			return l.text
		}
	}
	for _, l := range some {
		if l.q >= 0.25*best && (l.fit.shared > 0 || most < 2) && 2*l.fit.chars >= ref.chars && l.fit.chars <= 2*ref.chars {
			return l.text
		}
	}
	for _, l := range some {
		if l.q == best && shared > 0 {
			return l.text
		}
	}
	return t
}

// orMarks stand between alternatives on a line, in regular expressions.
var orMarks = regexp.MustCompile(`\s+(?:/+|\|+|~|(?i:\(?(?:or|oder|или|ou)\)?[:,]?|2[.)]|\(?(?:2|b|ii)\)|;|→))\s+|\s*或者\s*`)

// firstOf takes the first of several texts on a line that are each whole.
func firstOf(t string, ref *original) string {
	if 5*runeCount(t) < 7*ref.chars {
		return t
	}
	for _, at := range orMarks.FindAllStringIndex(t, 4) {
		sep := strings.TrimSpace(t[at[0]:at[1]])
		if strings.Contains(ref.text, sep) || unicode.IsLower(firstRune(t[at[1]:])) && !unicode.IsLower(firstRune(ref.text)) {
			continue
		}
		whole := true
		for _, part := range [...]string{t[:at[0]], t[at[1]:]} {
			f := ref.fit(part)
			whole = whole && f.shared > 0 && 5*f.chars >= 3*ref.chars && ref.quality(f) >= 0.4
		}
		if whole {
			return t[:at[0]]
		}
	}
	return t
}

// lineFit is the fit of a line without its label, and the label.
func (o *original) lineFit(line string) (fit, string) {
	line = unnote(nil, strings.TrimSpace(line), o)
	if at, size := colon(line); at > 0 && at < 60 {
		if tail := o.fit(line[at+size:]); tail.words > 1 && !o.fit(line[:at]).isContent() {
			return tail, line[:at]
		}
	}
	return o.fit(line), ""
}

// isContent reports whether a part says something of the reference.
func (f fit) isContent() bool { return f.shared > 0 || f.own > f.talk }

// finals and drafts are in labels of the last of several texts, and of others.
var (
	finals = []string{"final", "revised", "endgültig", "endfassung", "итог", "окончательн", "最终", "定稿"}
	drafts = []string{"draft", "attempt", "entwurf", "чернов", "草稿", "初稿"}
)

// labelled reports whether a label has one of some words.
func labelled(label string, words []string) bool {
	label = strings.ToLower(label)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(label, w) })
}

// unnote takes a note in brackets from the end: words about the task, or a
// translation in Latin letters of a text in others.
func unnote(_ *Checker, t string, ref *original) string {
	if rest, ok := untail(t, ref); ok {
		return rest
	}
	open, inner, closed := lastBracket(t)
	if open < 0 || inner == "" || strings.Contains(ref.text, inner) {
		return t
	}
	before := strings.TrimSpace(t[:open])
	if !says(before) {
		return t
	}
	f := ref.fit(inner)
	note := aside(f, inner, ref) && (f.words > 1 || f.isTalk()) || ref.text != "" && strings.Contains(inner, ref.text)
	if strings.ContainsAny(ref.text, "([（") {
		note = note && f.task > 2
	} else {
		head, _, ok := strings.Cut(inner, ":")
		note = note || ok && aside(ref.fit(head), head, ref) || isGloss(inner) && !mostlyLatin(ref.text) && !mostlyLatin(before)
	}
	switch {
	case !note:
	case closed:
		// "… (present tense)." has its full stop behind the note.
		rest := strings.TrimSpace(t[open:][strings.LastIndex(t[open:], inner)+len(inner):])
		_, n := utf8.DecodeRuneInString(rest)
		if rest = strings.TrimSpace(rest[n:]); rest != "" && !endingOf(before).complete() {
			return before + rest
		}
		return before
	case endingOf(before).complete():
		return before
	}
	return t
}

// untail takes off what a sign sets apart behind a whole sentence, and that says
// nothing of the reference: "… <- same message", "… (shortened a little)".
func untail(t string, ref *original) (string, bool) {
	if ref.ends.kind != endStop {
		return t, false
	}
	for i, r := range t[:min(len(t), 2*len(ref.text)+80)] {
		at := i + utf8.RuneLen(r)
		if !isStop(r) || at >= len(t) || isStop(firstRune(t[at:])) || 5*at < 2*len(ref.text) {
			continue
		}
		tail := strings.TrimSpace(t[at:])
		sign := firstRune(tail)
		if tail == "" || len(tail) > 2*len(ref.text)+60 || !strings.ContainsRune("<-–—/|*†‡¹#=([（", sign) || strings.ContainsRune(ref.text, sign) && (tail[0] != '(' || strings.Count(t, "(") <= strings.Count(ref.text, "(")) || 2*runeCount(tail) > 3*ref.chars && len(tail) > 60 {
			continue
		}
		f, g := ref.fit(tail), ref.fit(t[:at])
		if f.shared == 0 && f.own <= 4 && says(tail) && !ref.kin(tail) && (g.shared > 0 || g.talk <= g.own) && !aside(g, t[:at], ref) {
			return t[:at], true
		}
	}
	return t, false
}

// lastBracket finds brackets at the end of a text, at most with a full stop
// behind, or one that is not closed. It returns where they open and what they
// hold.
func lastBracket(t string) (open int, inner string, closed bool) {
	end := strings.TrimRight(t, ".。")
	for _, pair := range [...][2]string{{"(", ")"}, {"[", "]"}, {"（", "）"}, {"【", "】"}} {
		if body, ok := strings.CutSuffix(end, pair[1]); ok {
			depth := 0
			for i := len(body); i > 0; {
				r, n := utf8.DecodeLastRuneInString(body[:i])
				i -= n
				switch string(r) {
				case pair[1]:
					depth++
				case pair[0]:
					if depth--; depth < 0 {
						return i, body[i+n:], true
					}
				}
			}
			return -1, "", false
		}
	}
	if i := strings.LastIndexByte(t, '('); i > 0 && strings.IndexByte(t[i:], ')') < 0 {
		return i, t[i+1:], false
	}
	return -1, "", false
}

// isGloss reports whether a text is two words or more in Latin letters.
func isGloss(inner string) bool {
	latin, letters := lettersOf(inner)
	last := strings.LastIndexFunc(inner, unicode.IsLetter)
	return last >= 0 && latin == letters && unicode.IsLower(firstRune(inner[last:])) && len(strings.Fields(inner)) > 1
}

// mostlyLatin reports whether more than a tenth of a text's letters are Latin.
func mostlyLatin(t string) bool {
	latin, letters := lettersOf(t)
	return 10*latin > letters
}

// lettersOf counts the letters of a text, and those that are Latin.
func lettersOf(t string) (latin, letters int) {
	for _, r := range t {
		if unicode.IsLetter(r) {
			letters++
			if unicode.Is(unicode.Latin, r) {
				latin++
			}
		}
	}
	return latin, letters
}

// refusal says how an answer speaks of the task in place of doing it, or "".
// Nothing counts that the reference says too. language reports that the check
// of languages follows.
func refusal(w *work, ref *original, language bool) string {
	if ref.text == "" {
		return ""
	}
	t := w.text
	if i := strings.Index(t, ref.text); i >= 0 { // it quotes the reference
		rest := t[:i] + t[i+len(ref.text):]
		if f := ref.fit(rest); f.isTalk() && f.talk >= 3 {
			t = rest
		}
	}
	if open := strings.IndexFunc(t, isQuote); open >= 0 && !strings.ContainsFunc(ref.text, isQuote) { // it quotes a part of it
		if begin, end := quotation(t); begin >= 0 {
			span := t[begin:end]
			if inner := strings.TrimFunc(span, isQuote); strings.Contains(ref.text, inner) && !ref.kin(unquoted(t)) && ref.fit(unquoted(t)).words > 2 {
				return fmt.Sprintf("it speaks of the reference's words: %s", quote(t))
			}
		}
	}
	parts := units(t)
	for i, p := range parts {
		f := ref.fit(p)
		if f.talk >= 3 && 2*f.talk >= f.words && (f.talk >= 4 || f.lead) && (f.margin() >= 3 || f.lead && f.shared <= 1 && f.margin() >= 0 || f.task >= 2 && f.own == 0 && f.talk >= 2*f.shared) {
			return fmt.Sprintf("it speaks of the task: %s", quote(strings.TrimSpace(p)))
		}
		if i > 0 {
			f.open = 0
		}
		if f.open += f.margin(); (i == 0 || f.about > 0 && i == len(parts)-1) && len(parts) > ref.units() && f.talk > 0 && f.open > 0 && aside(f, p, ref) {
			return fmt.Sprintf("it begins or ends with talk: %s", quote(strings.TrimSpace(p)))
		}
	}
	f, said := ref.fit(t), ref.content()
	switch {
	case ref.foreign(f) && language && f.words > 2: // it gets that verdict
	case ref.foreign(f):
		return fmt.Sprintf("it is in another script: %s", quote(w.text))
	case f.shared == 0 && (said.names >= 3 || said.names >= 2 && said.words >= 4) && (ref.ends.kind != endStop || endingOf(t).complete()) && !ref.kin(t) && !(f.talk <= 1 && f.own >= 2 && 2*f.chars >= ref.chars && f.chars <= 2*ref.chars && sameEnd(t, ref.text) && f.common > 0),
		f.shared == 0 && endingOf(t).kind == endColon && ref.ends.kind != endColon,
		f.shared == 0 && (f.talk >= 4 && f.margin() >= 2 || f.own <= 1 && f.talk >= 2 && said.names >= 3+f.own),
		f.shared == 0 && f.sorry >= 2 && f.own <= 4 && said.names >= 2,
		f.names == 0 && said.names >= 3 && f.talk+f.polite >= 4 && f.own == 0,
		f.shared == 0 && (4*f.chars < ref.chars || 5*f.chars < 2*ref.chars && said.names >= 3 || said.names >= 8 && 2*f.common < f.stops || said.names >= 3 && f.words >= 7 && 8*f.stops <= f.words && !ref.dense):
		return fmt.Sprintf("it has nothing of the reference: %s", quote(w.text))
	}
	return ""
}
