package check

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The cleaning steps.
const (
	StepSpace        = "space"        // white space around
	StepFence        = "fence"        // a code fence around
	StepMarkup       = "markup"       // **, _, `, <p> and the like around, # in front
	StepRestated     = "restated"     // the prompt or the reference, repeated in front
	StepLeadIn       = "lead-in"      // "Sure, here is a paraphrase:"
	StepAlternatives = "alternatives" // all but the first of a list of alternatives
	StepList         = "list"         // a list number or bullet in front
	StepQuotes       = "quotes"       // quotation marks around
	StepNote         = "note"         // "(present tense)", "Note: …" behind
	StepLines        = "lines"        // line breaks, where the reference has none
)

// Steps returns the names of the cleaning steps, in their order.
func Steps() []string {
	return stepNames(allSteps())
}

func stepNames(steps []step) []string {
	var names []string
	for _, s := range steps {
		names = append(names, s.name)
	}
	return names
}

// step takes one thing off a text without white space around. It returns the
// text as it is where there is nothing to take. Each step shortens the text or
// removes line breaks, so that repeating them ends.
type step struct {
	name  string
	apply func(c *Checker, t string, ref *original) string
}

func allSteps() []step {
	return []step{
		{StepSpace, func(_ *Checker, t string, _ *original) string { return t }}, // white space goes behind every step
		{StepFence, unfence},
		{StepMarkup, unmark},
		{StepRestated, unrestate},
		{StepLeadIn, unlead},
		{StepAlternatives, firstAlternative},
		{StepList, unlist},
		{StepQuotes, unquote},
		{StepNote, unnote},
		{StepLines, joinLines},
	}
}

// mostCleaned bounds the texts that are cleaned, in bytes: no answer to one
// reference is longer, and nesting without end costs time.
const mostCleaned = 1 << 14

// Clean applies the cleaning steps of the configuration to a raw answer to a
// reference. It returns the text and the names of the steps that changed it.
// A step that would leave nothing does not apply. Cleaning the text again
// changes nothing. Texts over 16 KiB are only trimmed.
func (c *Checker) Clean(raw, reference string) (text string, steps []string) {
	return c.clean(raw, newOriginal(reference))
}

func (c *Checker) clean(raw string, ref *original) (string, []string) {
	var done []string
	t := raw
	for again := true; again; {
		again = false
		for i := range c.steps {
			s := &c.steps[i]
			if len(t) > mostCleaned && s.name != StepSpace {
				continue
			}
			next := s.apply(c, t, ref)
			if len(next) == len(t) && next == t && s.name != StepSpace {
				continue
			}
			next = strings.TrimSpace(next)
			if next == t || s.name != StepSpace && (next == "" || !says(next) && says(t)) {
				continue
			}
			t, again = next, true
			if !slices.Contains(done, s.name) {
				done = append(done, s.name)
			}
		}
	}
	return t, done
}

// says reports whether a text has a letter or a digit.
func says(t string) bool {
	return strings.ContainsFunc(t, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// unfence takes the text out of a code fence around the whole of it.
func unfence(_ *Checker, t string, ref *original) string {
	const fence = "```"
	if !strings.HasPrefix(t, fence) || strings.Contains(ref.text, fence) {
		return t
	}
	body := strings.TrimPrefix(t, fence)
	first, rest, ok := strings.Cut(body, "\n")
	if !ok {
		return strings.TrimSuffix(body, fence)
	}
	if strings.ContainsAny(strings.TrimSpace(first), " \t") { // no language name, but text
		rest = body
	}
	rest = strings.TrimSpace(rest)
	inner, closed := strings.CutSuffix(rest, fence)
	if !closed && strings.Contains(rest, fence) {
		return t // text follows the fence
	}
	return inner
}

// unmark takes off Markdown and HTML that stands around the whole text.
func unmark(_ *Checker, t string, ref *original) string {
	if t == "" {
		return t
	}
	switch t[0] {
	case '*', '_', '`':
		mark := t[:1]
		if strings.HasPrefix(t, mark+mark) && mark != "`" {
			mark += mark
		}
		inner, ok := strings.CutSuffix(t[len(mark):], mark)
		if ok && inner != "" && !strings.Contains(inner, mark) && !strings.Contains(ref.text, mark) &&
			!unicode.IsSpace(rune(inner[0])) { // "* item" is a bullet
			return inner
		}
	case '#':
		inner := strings.TrimLeft(t, "#")
		if strings.HasPrefix(inner, " ") && len(t)-len(inner) <= 6 && !strings.HasPrefix(ref.text, "#") {
			return inner
		}
	case '<':
		end := strings.IndexByte(t, '>')
		if end < 2 || strings.HasPrefix(ref.text, "<") {
			return t
		}
		name := t[1:end]
		inner, ok := strings.CutSuffix(t[end+1:], "</"+name+">")
		if ok && isTagName(name) && !strings.Contains(inner, "<"+name+">") {
			return inner
		}
	}
	return t
}

func isTagName(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' })
}

// unrestate takes the prompt, or the reference and an arrow, from the front.
func unrestate(c *Checker, t string, ref *original) string {
	for _, p := range c.prompts {
		if len(t) > len(p) && strings.EqualFold(t[:len(p)], p) && !hasPrefixFold(ref.text, p) {
			return t[len(p):]
		}
	}
	if ref.text != "" && len(t) > len(ref.text) && t[0] == ref.text[0] && strings.HasPrefix(t, ref.text) {
		rest := strings.TrimSpace(t[len(ref.text):])
		for _, arrow := range []string{"-->", "->", "=>", "→", "⇒"} {
			if after, ok := strings.CutPrefix(rest, arrow); ok {
				return after
			}
		}
	}
	return t
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// closers has, for each opening quotation mark, the marks that close it.
var closers = map[rune]string{
	'"': `"”“`, '“': `”"`, '„': `“”"`, '”': `”`, '«': "»", '»': "«", '「': "」", '『': "』", '《': "",
	'\'': `'’`, '‘': "’'", '‚': "‘’'", '‹': "›",
}

const quoteMarks = "\"“”„«»「」『』‘’‚‹›'＂"

// unquote takes off quotation marks around the whole text. A reference that
// begins or ends with one keeps them, and so does a text in which the first
// mark is closed before the end.
func unquote(_ *Checker, t string, ref *original) string {
	first, n := utf8.DecodeRuneInString(t)
	closing, ok := closers[first]
	if !ok || ref.text == "" {
		return t
	}
	last, m := utf8.DecodeLastRuneInString(t)
	if len(t) <= n+m || !strings.ContainsRune(closing, last) || isQuote(firstRune(ref.text)) || endsInQuote(ref.text) {
		return t
	}
	inner := t[n : len(t)-m]
	if !wraps(first, closing, inner) {
		return t
	}
	return inner
}

func isQuote(r rune) bool { return strings.ContainsRune(quoteMarks, r) }

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
