package answer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	characters "github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/analysis"
)

// quotePairs maps opening quotes of a value to closing ones.
var quotePairs = map[rune]rune{
	'"': '"', '\'': '\'', '`': '`', '“': '”', '”': '”', '„': '“', '‘': '’', '«': '»', '»': '«', '「': '」', '『': '』',
}

// unquote strips spaces and one pair of quotes around all of s. It does not change
// `"a" and "b"`, where the outer marks are not a pair.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	body := strings.TrimRight(s, ".,;")
	opening, n := utf8.DecodeRuneInString(body)
	closing, ok := quotePairs[opening]
	if !ok {
		return s
	}
	last, m := utf8.DecodeLastRuneInString(body)
	if last != closing || len(body) < n+m {
		return s
	}
	inner := body[n : len(body)-m]
	if i := strings.IndexRune(inner, closing); i >= 0 && closes(inner, i, utf8.RuneLen(closing)) {
		return s
	}
	return strings.TrimSpace(inner)
}

// closes reports whether the mark of n bytes at s[i] ends a quotation: there is no space
// before it, and no letter or digit after it.
func closes(s string, i, n int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+n:])
	glued := func(r rune) bool { return r != utf8.RuneError && !unicode.IsSpace(r) && !unicode.IsPunct(r) }
	return before != utf8.RuneError && !unicode.IsSpace(before) && !glued(after)
}

var noneForm = characters.Regexp(`^(?:n/a|n\.a|na|none|null|nil|nothing|no[ -]errors?|not applicable)?$`)

// isNone reports whether a value means "nothing".
func isNone(value string) bool {
	return len(value) <= 32 && noneForm().MatchString(strings.ToLower(strings.Trim(value, " \t\r\n.\"'`*()[]-–—")))
}

// severityForm matches a severity at the start of a value, and a mark that makes it
// ambiguous, as in "Major/Minor".
var severityForm = characters.Regexp("^[ \t\r\n\"'`*_(\\[<“‘]*([A-Za-z]+)[ \t]*(/|\\||(?i:or) )?")

// severityOf returns the severity at the start of a value; "" if it is unknown.
func severityOf(value string) analysis.Severity {
	m := severityForm().FindStringSubmatch(value)
	if m == nil || m[2] != "" {
		return ""
	}
	if s := analysis.Severity(strings.ToLower(m[1])); slices.Contains(worstFirst, s) {
		return s
	}
	return ""
}

var (
	numberForm = characters.Regexp(`^` + number)
	// gluedNumber matches text after a number that is part of something else, as in
	// "85th", "1.2.3", "85,5" or "1e5"; rangeForm after one in a range or a fraction.
	gluedNumber = characters.Regexp(`^(?:[\pL\pN_]|[.,:]\d)`)
	rangeForm   = characters.Regexp(`(?i)^[ \t]*(?:[-–—/~^−]|(?:to|or)(?:[ \t]|\b))[ \t]*\d`)
)

// leadingNumber parses the decimal number at the start of s.
func leadingNumber(s string) (value float64, width int, ok bool) {
	text := numberForm().FindString(s)
	if text == "" || gluedNumber().MatchString(s[len(text):]) {
		return 0, 0, false
	}
	value, err := parseNumber(text)
	return value, len(text), err == nil
}

// answerText removes what serving software and reasoning models put around an answer.
// remark says for people what was skipped, or why there is no answer.
func answerText(completion string) (text, remark string, ok bool) {
	text, thought, ended := characters.Answer(completion)
	switch {
	case !ended:
		return "", "the answer ends within its reasoning", false
	case text == "":
		return "", "the answer is empty", false
	case thought:
		remark = "the reasoning before the answer was skipped"
	}
	return text, remark, true
}
