package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// endKind is what the end of a text is.
type endKind uint8

const (
	endNone   endKind = iota // there is no text
	endStop                  // punctuation that ends a sentence, maybe with marks behind it
	endClosed                // a closing quotation mark or bracket without a stop before it
	endSymbol                // a symbol: an emoji
	endWord                  // a letter or digit, or the unit of a number: %, €
	endColon
	endOpen // a comma, a semicolon, a dash, an opening bracket
)

type ending struct {
	kind endKind
	last string // the last word, where kind is endWord; with endStop the one before the stop
}

// complete reports whether a sentence may end so.
func (e ending) complete() bool {
	return e.kind == endStop || e.kind == endClosed || e.kind == endSymbol
}

// isStop reports whether a character ends a sentence in any script.
func isStop(r rune) bool {
	switch {
	case r < 0x80:
		return r == '.' || r == '!' || r == '?'
	case r == '…' || r == '⋯':
		return true
	case r < 0x300 || unicode.IsLetter(r):
		return false
	}
	return unicode.Is(unicode.STerm, r)
}

// endingOf looks at the end of a text.
func endingOf(t string) ending {
	closed := false
	for t != "" {
		r, n := utf8.DecodeLastRuneInString(t)
		switch {
		case unicode.IsSpace(r), r == '*', r == '_', r == '`':
		case isStop(r):
			return ending{endStop, lastWord(t[:len(t)-n])}
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r):
			if closed {
				return ending{kind: endClosed}
			}
			return ending{endWord, lastWord(t)}
		case r == '"' || r == '\'' || unicode.In(r, unicode.Pe, unicode.Pf, unicode.Pi):
			closed = true // “ closes in German
		case closed:
			return ending{kind: endClosed}
		case r == '%' || unicode.Is(unicode.Sc, r): // of a number, as a word is
			return ending{endWord, string(r)}
		case r == ':' || r == '：':
			return ending{kind: endColon}
		case r == ',' || r == ';' || r == '，' || r == '；' || r == '、' || unicode.In(r, unicode.Pd, unicode.Ps):
			return ending{kind: endOpen}
		default:
			return ending{kind: endSymbol}
		}
		t = t[:len(t)-n]
	}
	if closed {
		return ending{kind: endClosed}
	}
	return ending{}
}

// lastWord returns the letters and digits at the end of a text, behind stops
// and closing marks, in lower case.
func lastWord(t string) string {
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) }
	t = strings.TrimRightFunc(t, func(r rune) bool { return !word(r) })
	i := strings.LastIndexFunc(t, func(r rune) bool { return !word(r) })
	if i >= 0 {
		_, n := utf8.DecodeRuneInString(t[i:])
		i += n
	}
	return strings.ToLower(t[max(i, 0):])
}

// missingEnd says how the end of an answer shows that it was cut, or "".
func missingEnd(w *work, ref *original, rawText string) string {
	t := w.text
	if rest, ok := strings.CutSuffix(t, "…"); ok && unicode.IsLetter(lastRune(rest)) && !strings.Contains(ref.text, "..") && !strings.ContainsAny(ref.text, "…⋯") {
		return "it breaks off, the reference does not"
	}
	if strings.HasSuffix(t, ".") && slices.Contains(titles, lastWord(t)) && ref.ends.last != lastWord(t) {
		return fmt.Sprintf("it ends in %q, which begins a name", lastWord(t)+".")
	}
	if n := len(t); n > 0 && (t[n-1] == '.' || t[n-1] == '?' || t[n-1] == '!') {
		return ""
	}
	got, want := endingOf(t), ref.ends
	if want.kind == endNone || got.complete() || got.kind == want.kind && want.kind != endWord {
		return ""
	}
	switch got.kind {
	case endColon:
		return "it ends in a colon, the reference does not"
	case endOpen:
		if want.kind == endColon {
			return ""
		}
		return fmt.Sprintf("it ends in %q, the reference does not", lastRune(t))
	}
	if raw := endingOf(rawText); !dangling(got.last) && !endToken.MatchString(rawText) && len(raw.last) == 0 && got.kind == endWord && (raw.kind == endClosed || raw.kind == endSymbol) {
		return "" // what was around it is closed
	}
	if got.last == want.last || ref.dense && strings.HasSuffix(got.last, want.last) {
		return "" // the reference's last word: only the full stop is missing
	}
	if want.kind == endStop {
		return fmt.Sprintf("it ends in %s without a full stop, the reference has one", quote(got.last))
	}
	if dangling(got.last) {
		return fmt.Sprintf("it ends in %q, which begins something", got.last)
	}
	if mark := unclosed(t); mark != "" && unclosed(ref.text) == "" {
		return fmt.Sprintf("a %s is not closed", mark)
	}
	return ""
}

// endToken is a token of a template that ends a text, whole or not.
var endToken = regexp.MustCompile(`<\|[^<>|]*\|>\s*$`)

// danglers are words that cannot end a title or a phrase.
var danglers = strings.Fields(`the a an and or of my your their our every than whose
	der die dem den ein eine einen einem einer eines und oder zum zur im vom beim deren dessen
	и или в на к с о об от из для по при чтобы который которая которые которое`)

// titles are abbreviations that stand before a name.
var titles = strings.Fields("mr mrs ms dr prof hr fr mme mlle sra")

func dangling(word string) bool { return slices.Contains(danglers, word) }

// unclosed returns a bracket or quotation mark that a text opens and does not
// close, or "".
func unclosed(t string) string {
	for _, p := range [...][2]string{{"(", ")"}, {"[", "]"}, {"«", "»"}, {"（", "）"}, {"「", "」"}, {"《", "》"}} {
		if strings.Count(t, p[0]) > strings.Count(t, p[1]) {
			return p[0]
		}
	}
	if n := strings.Count(t, "„"); n > strings.Count(t, "“")+strings.Count(t, "”")+strings.Count(t, `"`) {
		return "„"
	}
	if strings.Count(t, `"`)%2 == 1 && !strings.ContainsAny(t, "„“”") {
		return `"`
	}
	return ""
}

// firstItem says that the answer is the first item of a list of which the
// others are missing, or "".
func firstItem(res *Result, ref *original, share float64) string {
	if share <= 0 || !slices.Contains(res.Cleaned, StepList) {
		return ""
	}
	if n := runeCount(res.Text); float64(n) < share*float64(ref.chars) {
		return fmt.Sprintf("the first item of a list: %d characters for the reference's %d", n, ref.chars)
	}
	return ""
}
