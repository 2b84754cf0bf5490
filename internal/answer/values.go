package answer

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	characters "github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/analysis"
)

// quotePairs are the marks that may stand around all of a value.
var quotePairs = map[rune]rune{
	'"': '"', '\'': '\'', '`': '`', '“': '”', '”': '”', '„': '“', '‘': '’', '«': '»', '»': '«', '「': '」', '『': '』',
}

// unquote strips spaces and one pair of quotes that stands around all of s. It
// leaves `"a" and "b"` alone, where the outer marks are no pair.
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

// closes reports whether the mark of n bytes at s[i] ends a quotation: it is
// glued to what stands before it and not to what follows.
func closes(s string, i, n int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+n:])
	glued := func(r rune) bool { return r != utf8.RuneError && !unicode.IsSpace(r) && !unicode.IsPunct(r) }
	return before != utf8.RuneError && !unicode.IsSpace(before) && !glued(after)
}

var noneForm = regexp.MustCompile(`^(?:n/a|n\.a|na|none|null|nil|nothing|no[ -]errors?|not applicable)?$`)

// isNone reports whether a value says that there is nothing to say.
func isNone(value string) bool {
	return len(value) <= 32 && noneForm.MatchString(strings.ToLower(strings.Trim(value, " \t\r\n.\"'`*()[]-–—")))
}

// severityForm is a severity at the start of a value, and what makes it no
// answer, as in "Major/Minor".
var severityForm = regexp.MustCompile("^[ \t\r\n\"'`*_(\\[<“‘]*([A-Za-z]+)[ \t]*(/|\\||(?i:or) )?")

// severityOf reads the severity that a value starts with. What it does not
// know is "".
func severityOf(value string) analysis.Severity {
	m := severityForm.FindStringSubmatch(value)
	if m == nil || m[2] != "" {
		return ""
	}
	if s := analysis.Severity(strings.ToLower(m[1])); slices.Contains(worstFirst, s) {
		return s
	}
	return ""
}

var (
	numberForm = regexp.MustCompile(`^` + number)
	// gluedNumber follows a number that is part of something else, as in "85th",
	// "1.2.3", "85,5" or "1e5", and rangeForm one that is a range or a fraction.
	gluedNumber = regexp.MustCompile(`^(?:[\pL\pN_]|[.,:]\d)`)
	rangeForm   = regexp.MustCompile(`(?i)^[ \t]*(?:[-–—/~^−]|(?:to|or)(?:[ \t]|\b))[ \t]*\d`)
)

// leadingNumber reads the decimal number that s starts with.
func leadingNumber(s string) (value float64, width int, ok bool) {
	text := numberForm.FindString(s)
	if text == "" || gluedNumber.MatchString(s[len(text):]) {
		return 0, 0, false
	}
	value, err := parseNumber(text)
	return value, len(text), err == nil
}

// answerText cuts off what serving software and reasoning models put around
// an answer. The second result says for people what was passed over, or why
// there is no answer.
func answerText(completion string) (text, remark string, ok bool) {
	text = strings.TrimSpace(completion)
	for _, token := range []string{"\ufeff", "<s>", "<bos>", "<|begin_of_text|>"} {
		text = strings.TrimSpace(strings.TrimPrefix(text, token))
	}
	for _, token := range []string{"</s>", "<eos>", "<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|end|>"} {
		text = strings.TrimSpace(strings.TrimSuffix(text, token))
	}
	switch rest, thought, ended := characters.AfterThoughts(text); {
	case thought && !ended:
		return "", "the answer ends within its reasoning", false
	case thought:
		text, remark = strings.TrimSpace(rest), "the reasoning before the answer was passed over"
	}
	if text == "" {
		return "", "the answer is empty", false
	}
	return text, remark, true
}

// afterEcho returns what follows the last occurrence of the marker, where the
// text starts with the prompt's opening words. Some files hold the prompt and
// the answer in one string. The last marker is the prompt's own: what a text
// inside the prompt holds stands before it.
func afterEcho(text, opening, marker string) (rest string, echoed bool) {
	start := strings.TrimLeft(text, "0123456789 \t\r\n\ufeff")
	if !strings.HasPrefix(start, opening) {
		return text, false
	}
	if i := strings.LastIndex(text, marker); i >= 0 {
		return text[i+len(marker):], true
	}
	return text, false
}
