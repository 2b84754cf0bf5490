package check

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// part is a piece of an answer that is kept or taken off as a whole.
type part struct {
	begin, end int // with its mark, and the white space behind it
	kind       partKind
	line       bool // it ends a line, or the text
	echo       bool // it is the reference
	fit        fit
	score      float64 // above 0 it is of the rewriting, below it is about the task
	raw        float64 // score before what is around is looked at
	lex        float64 // how much its words are of talk
}

type partKind uint8

const (
	sentence partKind = iota
	head              // what stands before a colon, a dash, an arrow or another sign
	bracket
	entire // all of a text
	partKinds
)

// cut splits a text into parts: where the reference is repeated, where lines and
// sentences end, behind signs, and around brackets. Within quotation marks it
// does not split.
func (o *original) cut(t string, out []part) []part {
	begin, from, lettered := 0, 0, false
	quotes, double := 0, false
	stops := 0     // where the stops end that have been looked at
	closed := true // brackets of this line are closed
	add := func(end int, kind partKind, line bool) {
		end += len(t[end:]) - len(strings.TrimLeft(t[end:], " \n\t"))
		line = line || end == len(t) || strings.Contains(t[max(begin, end-3):end], "\n")
		switch n := len(out); {
		case end == begin:
		case n > 0 && !says(t[begin:end]) && (!out[n-1].line && t[begin-1] != ' ' || strings.TrimFunc(t[begin:end], isMark) == "" || strings.ContainsRune(o.text, firstRune(t[begin:end]))):
			out[n-1].end, out[n-1].line = end, out[n-1].line || line
		default:
			out = append(out, part{begin: begin, end: end, kind: kind, line: line})
		}
		begin, lettered = end, false
		if line {
			quotes, double, closed = 0, false, true
		}
	}
	echo := o.echoAt(t)
	var before rune = ' '
	for from < len(t) {
		i := from
		r, n := utf8.DecodeRuneInString(t[i:])
		from += n
		if was := before; i == echo {
			if hasLetter(t[begin:i]) {
				add(i, sentence, false)
				begin = i
			}
			from = i + len(o.text)
			if isQuote(was) {
				from += len(t[from:]) - len(strings.TrimLeftFunc(t[from:], func(r rune) bool { return isQuote(r) || isStop(r) || r == ',' }))
				quotes, double = 0, false
			}
			at := len(out)
			add(from, sentence, false)
			if len(out) > at {
				out[at].echo = true
			}
			from, before = max(from, begin), ' '
			continue
		}
		was := before
		before = r
		if r < 0x80 && (r|0x20 >= 'a' && r|0x20 <= 'z') {
			lettered = true
			continue
		}
		if i < begin {
			continue
		}
		inside := quotes > 0 || double
		after := t[from:]
		switch {
		case r == '\n' && (unicode.IsLower(was) || was == ',' || was == ';') && unicode.IsLower(firstRune(after)) && !startsLower(o.text):
			// the line is wrapped
		case r == '\n':
			add(from, sentence, true)
		case r == ' ':
			switch {
			case inside || !lettered:
			case orAt(after, o.text):
				add(from, sentence, false)
			case begin == 0 && i < 12 && slices.Contains(connectives, strings.ToLower(t[:i])) && (unicode.IsUpper(firstRune(after)) || isSpaceless(firstRune(after)) || isQuote(firstRune(after))) && !startsLower(o.text):
				add(from, head, false)
			}
		case r == '"':
			double = !double
			if !double && quotes == 0 && closes(was, after) {
				add(from, sentence, false)
			}
		case r == '„' || r == '«' || r == '「' || r == '“' && quotes == 0:
			quotes++
		case quotes > 0 && (r == '“' || r == '”' || r == '»' || r == '」'):
			if quotes--; quotes == 0 && !double && closes(was, after) {
				add(from, sentence, false)
			}
		case inside:
		case i >= stops && (isStop(r) || r == '~' || r == '～'):
			end := from
			for end < len(t) {
				next, m := utf8.DecodeRuneInString(t[end:])
				if !isStop(next) && !isQuote(next) && !unicode.In(next, unicode.Pe, unicode.Pf) {
					break
				}
				end += m
			}
			stops = end
			space := len(t[end:]) - len(strings.TrimLeft(t[end:], " "))
			if next := firstRune(t[end+space:]); lettered && (space > 0 || r >= 0x3000 || end == len(t)) && (!unicode.IsLower(next) || orAt(t[end+space:], "")) && !(r == '.' && abbreviates(t[begin:i])) {
				add(end, sentence, false)
			}
		case r == '(' || r == '[' || r == '（' || r == '【':
			if was != ' ' && was < 0x2000 && !isStop(was) && i > begin || !closed {
				break
			}
			size := closing(t[i:], r)
			if closed = size > 0; !closed {
				size = len(after) + n
				if at := strings.IndexByte(t[i:], '\n'); at >= 0 {
					size = at
				}
			}
			if next := strings.TrimLeft(t[i+size:], " "); i > begin && !isStop(was) && next != "" && next[0] != '\n' && !endsPart(lastRune(strings.TrimSpace(t[:i]))) && !isStop(firstRune(next)) {
				break // within a sentence
			}
			if !closed && r != '(' || utf8.RuneCountInString(t[i:i+size]) < 5 || !hasLetter(t[i:i+size]) {
				if strings.TrimSpace(t[begin:i]) != "" && lettered && size < 5 {
					add(i, sentence, false)
				}
				break
			}
			if strings.TrimSpace(t[begin:i]) != "" {
				add(i, sentence, false)
			}
			end := i + size
			if next := firstRune(t[end:]); isStop(next) {
				end += utf8.RuneLen(next)
			}
			add(end, bracket, false)
			from = max(from, begin)
		case r == ',' && lettered && (len(out) == 0 || out[len(out)-1].line || out[len(out)-1].echo) && o.leads(t[begin:from], after, len(out) > 0 && out[len(out)-1].echo):
			add(from, head, false)
		case lettered && isSign(r, was, after, o.text) && (startsLower(o.text) || r == '/' || !startsLower(after[:min(len(after), 60)])):
			add(from, head, false)
		case !lettered:
			lettered = unicode.IsLetter(r)
		}
	}
	if begin < len(t) {
		add(len(t), sentence, true)
	}
	return out
}

// closes reports whether a quotation that ends behind a character ends a sentence.
func closes(was rune, after string) bool {
	next := strings.TrimPrefix(after, " ")
	return isStop(was) && len(next) < len(after) && !unicode.IsLower(firstRune(next))
}

// leads reports whether words up to a comma are none of the sentence behind them, which begins
// anew: "Put differently, The cat". Behind the reference any capital begins it.
func (o *original) leads(words, after string, echoed bool) bool {
	const most = 24 // bytes
	if len(words) > most || hasPrefixFold(o.text, words) {
		return false
	}
	after = strings.TrimPrefix(after, " ")
	if echoed {
		return unicode.IsUpper(firstRune(after))
	}
	_, behind, _ := strings.Cut(o.text, ", ")
	return beginsAnew(after) && !beginsAnew(behind) && !strings.ContainsFunc(words[1:], unicode.IsUpper)
}

// beginsAnew reports whether a text begins with a word with a capital that only the first of a
// sentence has.
func beginsAnew(t string) bool {
	word, rest, _ := strings.Cut(t, " ")
	switch word {
	case "Sie", "Ihr", "Ihre", "Ihrer", "Ihren", "Ihrem", "Ihres", "Ihnen": // German, to a reader
		return false
	}
	return len(word) > 1 && rest != "" && unicode.IsUpper(firstRune(word)) && !unicode.IsUpper(firstRune(rest)) && talkWords().class([]byte(strings.ToLower(word))) == stop
}

// isMark reports whether a character ends sentences and quotations, or is white
// space.
func isMark(r rune) bool { return isStop(r) || isQuote(r) || unicode.IsSpace(r) }

// connectives may stand before a rewriting without a mark.
var connectives = strings.Fields("hence thus therefore ergo somit итак")

// abbreviations end in a full stop that ends no sentence.
var abbreviations = strings.Fields("mr mrs ms dr st jr sr prof inc ltd co no vol bzw ca ggf p.s p.p.s i ii iii iv v z.b u.a т.е т.д т.п г ул им")

// abbreviates reports whether a text ends in an abbreviation or an initial.
func abbreviates(t string) bool {
	word := strings.ToLower(t[strings.LastIndexAny(t, " \n(")+1:])
	return slices.Contains(abbreviations, word) || utf8.RuneCountInString(word) == 1 && !isDigit(word[0])
}

// endsPart reports whether a sentence or a head may end in a character.
func endsPart(r rune) bool { return isStop(r) || r == ':' || r == '：' }

// echoAt returns where a text repeats the reference, with a boundary on both
// sides, or -1.
func (o *original) echoAt(t string) int {
	if len(o.text) <= 3 || len(t) <= len(o.text) || !utf8.ValidString(o.text) {
		return -1
	}
	i := strings.Index(t, o.text)
	if i < 0 {
		return -1
	}
	before, after := strings.TrimRight(t[:i], " "), strings.TrimLeft(t[i+len(o.text):], " ")
	free := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != ',' }
	if before != "" && !free(lastRune(before)) || after != "" && !free(firstRune(after)) && o.ends.kind != endStop {
		return -1
	}
	return i
}

// orAt reports whether the word that begins a text sets another text beside
// one, where the reference has no such word.
func orAt(s, ref string) bool {
	if s == "" || s[0]|0x20 != 'o' && s[0] != "и"[0] {
		return false
	}
	for _, w := range [...]string{"or", "OR", "oder", "ODER", "или"} {
		if rest, ok := strings.CutPrefix(s, w); ok {
			rest = strings.TrimLeft(rest, ":, ")
			r := firstRune(rest)
			return rest != s[len(w):] && (unicode.IsUpper(r) || isQuote(r)) && !strings.Contains(ref, " "+w+" ")
		}
	}
	return false
}

// closing returns the size of a text up to the bracket that closes its first
// character, or 0.
func closing(t string, open rune) int {
	shut := map[rune]rune{'(': ')', '[': ']', '（': '）', '【': '】'}[open]
	depth := 0
	for i, r := range t {
		switch r {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i + utf8.RuneLen(r)
			}
		case '\n':
			return 0
		}
	}
	return 0
}

// isSign reports whether a character ends a head: a colon, a dash between
// spaces, an arrow or another symbol that the reference has not.
func isSign(r, before rune, after, ref string) bool {
	next := firstRune(after)
	switch {
	case r == '：':
		return true
	case r == ':':
		return !(isDigitRune(before) && isDigitRune(next)) && !strings.HasPrefix(after, "//")
	case r == '-' || r == '–' || r == '—':
		return before == ' ' && (next == ' ' || next == '-') || r == '—' && next == r && !strings.Contains(ref, "——")
	case r == '/' || r == '／' || r == '•' || r == '»':
		return (before == ' ' || r > 0x2000) && (next == ' ' || r == '／') && !strings.ContainsRune(ref, r)
	case r < 0x80:
		return (r == '=' || r == '>' || r == '|') && !strings.ContainsRune(ref, r) && (next == ' ' || r != '=')
	}
	return (unicode.Is(unicode.Sm, r) || unicode.Is(unicode.So, r)) && (next == ' ' || isArrow(r)) && !strings.ContainsRune(ref, r)
}

func isDigitRune(r rune) bool { return '0' <= r && r <= '9' }

// add is the fit of two parts together.
func (f fit) add(g fit) fit {
	f.words += g.words
	f.stops += g.stops
	f.common += g.common
	f.shared += g.shared
	f.names += g.names
	f.own += g.own
	f.talk += g.talk
	f.task += g.task
	f.polite += g.polite
	f.about += g.about
	f.open += g.open
	f.sorry += g.sorry
	f.chars += g.chars
	f.said |= g.said
	return f
}

// without is the fit of a text without one of its parts.
func (f fit) without(g fit) fit {
	f.words -= g.words
	f.shared -= g.shared
	f.own -= g.own
	f.talk -= g.talk
	f.chars -= g.chars
	return f
}

func overlap(f, g fit) int { return bits.OnesCount64(f.said & g.said) }

// fitAll fits the parts of a text, and returns what they are together.
func (o *original) fitAll(t string, parts []part) (all fit) {
	for i := range parts {
		parts[i].fit = o.fit(t[parts[i].begin:parts[i].end])
		parts[i].lex = o.lean(t[parts[i].begin:parts[i].end])
		all = all.add(parts[i].fit)
	}
	return all
}
