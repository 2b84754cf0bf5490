package answer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Lines of a GEMBA answer: "Major:", with or without an error after it, another heading, and an
// error, `accuracy/omission - "the words"`.
var (
	headingForm = text.Regexp(`(?i)^(critical|major|minor)(?: errors?)?[*_ \t]*(?::[*_ \t]*|$)`)
	foreignForm = text.Regexp(`^[\pL][\pL \t/-]{0,30}[*_ \t]*:[*_ \t]*$`)
	errorForm   = text.Regexp(`(?i)^((?:accuracy|fluency|locale convention|style|terminology|non-translation|other)(?:[ \t]*[/(][^"“„«\n]{0,80}?)?)(?:[ \t]*[–—:]|[ \t]+[-"“„«]|[ \t]*$)`)
	ownForm     = text.Regexp(`^(\pL[^"“„«\n]{0,60}?)[ \t]*[-–—:][ \t]*["“„«]`) // with a category that the model made up
	bulletForm  = text.Regexp(`^(?:[-*•#>\x60 \t]|\d+[.)][ \t])+`)
)

// headingsReader parses answers to the GEMBA-MQM and GEMBA-ESA prompts: errors under the
// headings Critical, Major and Minor. Unlike this reader, the published code counts any other
// line under a heading as an error, and finds no error if it knows no heading.
func headingsReader(s Spec) Parser {
	return func(text string, r *analysis.Report) string {
		var items []item
		severity := ""
		stated := false               // the answer states that there is no error
		passed, below := false, false // text that is not an error; a heading with neither an error nor "none"
		answered := true              // the heading has an error or "none", so a remark may follow
		for line := range strings.Lines(text) {
			whole := strings.TrimSpace(line)
			line = strings.TrimSpace(bulletForm().ReplaceAllString(whole, ""))
			if m := headingForm().FindStringSubmatch(line); m != nil {
				severity = strings.ToLower(m[1])
				if _, known := s.Weights[analysis.Severity(severity)]; !known {
					return fmt.Sprintf("%q is not a severity of this prompt", m[1])
				}
				line, answered = bulletForm().ReplaceAllString(line[len(m[0]):], ""), false
			} else if strings.HasPrefix(whole, "#") {
				severity = "" // unknown under another heading
			}
			it, is := headedError(line, errorForm())
			if !is && severity != "" {
				it, is = headedError(line, ownForm())
			}
			switch {
			case strings.IndexFunc(line, unicode.IsLetter) < 0:
			case isNone(line):
				stated, answered = true, true
			case is && severity == "":
				return "an error comes before the first heading, so its severity is unknown"
			case is:
				it.set(fieldSeverity, severity)
				if _, known := s.Weights[analysis.Critical]; known && strings.EqualFold(it.value[fieldAspect], "non-translation") {
					it.set(fieldSeverity, string(analysis.Critical)) // as in the published code
				}
				items, answered = append(items, it), true
			case severity != "" && foreignForm().MatchString(line):
				return fmt.Sprintf("%q is not a heading of this prompt", line)
			default:
				passed, below = true, below || !answered
			}
		}
		if passed {
			note(r, "text that is not an error of a category was skipped")
		}
		s.take(r, items)
		slices.SortStableFunc(r.Errors, func(a, b analysis.Error) int {
			return slices.Index(worstFirst, a.Severity) - slices.Index(worstFirst, b.Severity)
		})
		switch {
		case len(items) > 0:
			return s.sum(r)
		case below:
			return "the text under a heading is neither an error nor a statement that there is none"
		case stated:
			r.SetScore(analysis.NoError, 0)
			return ""
		}
		return "the answer names no error, and does not state that there is none"
	}
}

// headedError parses `category - "span" explanation`.
func headedError(line string, form *regexp.Regexp) (it item, ok bool) {
	m := form.FindStringSubmatchIndex(line)
	if m == nil {
		return it, false
	}
	it.set(fieldAspect, strings.TrimSpace(line[m[2]:m[3]]))
	rest := strings.TrimLeft(line[m[3]:], " \t-–—:")
	if span, after, ok := quotedStart(rest); ok {
		it.set(fieldLocation, span)
		it.set(fieldExplanation, strings.TrimLeft(after, " \t-–—:,;."))
	} else {
		it.set(fieldLocation, rest)
	}
	return it, true
}

// quotedStart splits off the quotation at the start of s.
func quotedStart(s string) (inner, rest string, ok bool) {
	opening, n := utf8.DecodeRuneInString(s)
	closing, ok := quotePairs[opening]
	if !ok {
		return "", "", false
	}
	for at, m := n, utf8.RuneLen(closing); ; at += m {
		k := strings.IndexRune(s[at:], closing)
		if k < 0 {
			return "", "", false
		}
		if at += k; closes(s, at, m) {
			return s[n:at], s[at+m:], true
		}
	}
}
