package check

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// closers has, for each opening quotation mark, the marks that close it.
var closers = map[rune]string{
	'"': `"”“`, '“': `”"„`, '„': `“”"`, '”': `”`, '«': "»", '»': "«", '「': "」", '『': "』", '《': "",
	'‟': "”‟", '⟨': "⟩", '〈': "〉", '〝': "〞〟", '＂': "＂", '\'': `'’`, '‘': "’'", '‚': "‘’'", '‹': "›", '›': "‹",
}

const quoteMarks = "\"“”„‟«»「」『』‘’‚‹›'＂"

// oddPairs are quotation marks of two characters or more, and other marks that stand for them.
var oddPairs = [...][2]string{
	{"``", "''"}, {"´", "´"}, {"`", "'"}, {`"""`, `"""`}, {"''", "''"}, {"''", `""`}, {",,", "''"},
	{"《", "》"}, {"{{", "}}"}, {"【", "】"}, {"〔", "〕"}, {`("`, `")`},
}

// unquote takes off quotation marks around the whole text, or takes out what
// stands in them where the rest is about the task. A reference that begins or
// ends with a mark keeps them, unless there are more inside, and so does a text
// in which the first mark is closed before the end.
func unquote(_ *Checker, t string, ref *original) string {
	if ref.text == "" {
		return t
	}
	for _, take := range [...]func(string, *original) string{unwrap, unbracket, unpair, dropMark, unframe} {
		if inner := take(t, ref); inner != t {
			return inner
		}
	}
	return t
}

// unwrap takes off one of oddPairs.
func unwrap(t string, ref *original) string {
	for _, pair := range oddPairs {
		inner, ok := strings.CutPrefix(t, pair[0])
		if ok && strings.HasSuffix(inner, pair[1]) && (!ref.quoted() || pair[0] == `"""`) && !strings.Contains(ref.text, pair[0]) && strings.Count(inner, pair[1]) == 1 {
			return strings.TrimSuffix(inner, pair[1])
		}
	}
	return t
}

// unbracket takes off a pair of brackets around all of a text, where the reference has
// none of their kind.
func unbracket(t string, ref *original) string {
	for _, pair := range [...]string{"<>", "[]", "{}", "()"} {
		inner, ok := strings.CutPrefix(t, pair[:1])
		if !ok || !strings.HasSuffix(inner, pair[1:]) || strings.Contains(ref.text, pair[:1]) {
			continue
		}
		if inner = inner[:len(inner)-1]; wraps(rune(pair[0]), pair[1:], inner) && strings.ContainsRune(inner, ' ') && !strings.Contains(inner, `"`) {
			return inner
		}
	}
	return t
}

// unpair takes off a pair of marks around all of a text, also before a full stop, which stays
// where the text has none.
func unpair(t string, ref *original) string {
	both := isQuote(firstRune(ref.text)) && endsInQuote(ref.text) // marks around may be the text's own
	body := t
	for {
		first, n := utf8.DecodeRuneInString(body)
		last, m := utf8.DecodeLastRuneInString(body)
		closing := closers[first]
		if len(body) > n+m && strings.ContainsRune(closing, last) {
			inner := body[n : len(body)-m]
			own := both && (!strings.ContainsFunc(inner, isQuote) || first == firstRune(ref.text) && strings.ContainsRune(closing, lastRune(ref.text)))
			if !own && wraps(first, string(last), inner) && unclosed(inner) == "" {
				if end := t[len(body):]; !endingOf(inner).complete() && isStop(firstRune(end)) {
					inner += end
				}
				return inner
			}
		}
		if len(body) < len(t) || !isStop(last) && last != ';' && last != ',' || closing == "" {
			return t
		}
		body = body[:len(body)-m] // “…”.
	}
}

// dropMark takes off a mark at an end that belongs to no other one.
func dropMark(t string, ref *original) string {
	quotes := ref.quotes()
	if r := firstRune(t); !quotes && isQuote(r) && strings.Count(t, string(r)) == 1 && !strings.ContainsAny(t[utf8.RuneLen(r):], closers[r]) && endingOf(t).complete() {
		return t[utf8.RuneLen(r):]
	}
	odd := func(t string) bool { // of its marks one is not closed
		return (strings.Count(t, `"`)+strings.Count(t, "“")+strings.Count(t, "”"))%2 == 1
	}
	if odd(t) && !odd(ref.text) {
		if rest, ok := strings.CutSuffix(t, `"`); ok && endingOf(rest).complete() {
			return rest
		}
		if rest, ok := strings.CutPrefix(t, `"`); ok && endingOf(rest).complete() {
			return rest
		}
	}
	if r := lastRune(t); !quotes && isQuote(r) && r != '\'' && r != '’' && strings.Count(t, string(r)) == 1 {
		if rest := t[:len(t)-utf8.RuneLen(r)]; !strings.ContainsAny(rest, "\"“”„«»「") {
			return rest
		}
	}
	return t
}

// unframe takes out the quotation that is the rewriting, where the words around it are about
// the task.
func unframe(t string, ref *original) string {
	begin, end := quotation(t)
	if begin < 0 {
		return t
	}
	// Marks around are the text's own where the reference has others within it.
	quotes := ref.quotes() && !(ref.quoted() && loneQuote(ref.text)) &&
		(ref.quoted() || !isQuote(firstRune(t)) || strings.ContainsAny(ref.text, "\"“”„") || !strings.ContainsAny(ref.text, "«「『"))
	var spans []string
	for rest := t; begin >= 0; begin, end = quotation(rest) {
		span := rest[begin:end]
		spans = append(spans, strings.TrimSpace(span[utf8.RuneLen(firstRune(span)):len(span)-utf8.RuneLen(lastRune(span))]))
		rest = rest[end:]
	}
	f := ref.fit(unquoted(t))
	if len(spans) > 1 && !quotes && !says(unquoted(t)) { // nothing but quotations
		if i := ref.choose(spans); i >= 0 {
			return spans[i]
		}
	}
	const fewWords = 8
	if isQuote(firstRune(t)) && !quotes && f.words <= fewWords && f.shared == 0 && (f.talk+f.polite > 0 || ref.remark(t, spans[0])) && 5*runeCount(spans[0]) >= 3*ref.chars && !ref.echoes(spans[0]) {
		return spans[0]
	}
	echo := slices.ContainsFunc(spans, ref.echoes)
	within := startsLower(t) && !startsLower(ref.text) && f.words <= fewWords && f.shared == 0
	frame := within || f.isTalk() && f.about > 0 || f.own == 0 && f.talk > 0 || echo && f.words <= 4 && !quotes || ref.foreign(f)
	if i := slices.IndexFunc(spans, func(s string) bool {
		g := ref.fit(s)
		least := 0.4
		if f.words < fewWords && endingOf(s).complete() {
			least = 0.25
		}
		return g.shared > 1 && 5*g.chars >= 3*ref.chars && ref.quality(g) >= least && !ref.echoes(s)
	}); i >= 0 && !quotes && f.shared == 0 && f.own <= 3 && (f.about > 0 || f.words <= 2 || f.own == 0 && f.words <= fewWords || f.words < fewWords && endingOf(spans[i]).complete() || f.talk > 0 && f.own <= 1 && isQuote(firstRune(t)) && !strings.HasSuffix(spans[i], ",")) && !ref.kin(unquoted(t)) {
		return spans[i]
	}
	if f.shared > 0 && f.margin() < 2 || !frame {
		return t
	}
	if i := ref.choose(spans); i >= 0 && 2*runeCount(spans[i]) >= ref.chars && (!quotes || f.task >= 2) && (ref.echoes(spans[i]) || !strings.Contains(ref.text, spans[i])) {
		return spans[i]
	}
	return t
}

// quoted reports whether a reference begins or ends with a quotation mark.
func (o *original) quoted() bool {
	return isQuote(firstRune(o.text)) || endsInQuote(o.text)
}

// quotes reports whether a reference has a quotation mark, but for an apostrophe within it.
func (o *original) quotes() bool {
	return o.quoted() || strings.ContainsFunc(o.text, func(r rune) bool { return r != '\'' && r != '’' && isQuote(r) })
}

// loneQuote reports whether a text has one quotation mark only, at an end: the other one
// is in another segment, and marks around a rewriting are not the text's.
func loneQuote(t string) bool {
	n := 0
	for _, r := range t {
		if isQuote(r) && r != '\'' && r != '’' && r != '‘' {
			n++
		}
	}
	return n == 1 && (isQuote(firstRune(t)) || endsInQuote(t))
}

func isQuote(r rune) bool {
	if r < 0x80 {
		return r == '"' || r == '\''
	}
	return (r == '«' || r == '»' || r >= 0x2018) && strings.ContainsRune(quoteMarks, r)
}

// endsInQuote also looks before a full stop: “so he said”.
func endsInQuote(t string) bool {
	return isQuote(lastRune(t)) || isQuote(lastRune(strings.TrimRightFunc(t, func(r rune) bool { return isStop(r) || r == ',' })))
}

// wraps reports whether marks around inner belong together: each closing mark
// inside closes one that was opened inside.
func wraps(open rune, closing, inner string) bool {
	depth := 0
	before := rune(-1) // the character before
	for i := 0; i < len(inner); {
		r, n := utf8.DecodeRuneInString(inner[i:])
		i += n
		next := firstRune(inner[i:])
		switch {
		case r == '\'' && unicode.IsLetter(before), r == '’' && unicode.IsLetter(before) && unicode.IsLetter(next):
			// an apostrophe
		case r == open && opens(r, before, next):
			depth++
		case strings.ContainsRune(closing, r) || r == open:
			if depth--; depth < 0 {
				return false
			}
		}
		before = r
	}
	return depth == 0
}

// opens reports whether a mark begins a quotation, which only its neighbours
// tell where both marks look the same.
func opens(r, before, next rune) bool {
	if r != '"' && r != '\'' && r != '”' {
		return true
	}
	free := before == -1 || unicode.IsSpace(before) || unicode.In(before, unicode.Ps, unicode.Pi, unicode.Pd) || before == '"' || before == '\''
	return free && next != utf8.RuneError && !unicode.IsSpace(next)
}

// lastRune and firstRune are utf8's, without the size.
func lastRune(s string) rune  { r, _ := utf8.DecodeLastRuneInString(s); return r }
func firstRune(s string) rune { r, _ := utf8.DecodeRuneInString(s); return r }
