package analysis

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
)

// Texts is what a judge saw; "" for what it did not see.
type Texts struct{ Hypothesis, Source, Reference string }

// Locate sets the Place and the Span of every error. It searches for the stated location as
// a whole. Then it searches for the phrases that the location quotes, because judges write
// `"X" instead of "Y"` or `missing "a" before "order"`: first for those that the text is
// said to have, then for those that it is said to lack.
//
//   - InHypothesis: the location, or a quoted phrase, is in the hypothesis verbatim.
//   - Approximate: it is there except for case, white space, quotation marks, kinds of
//     dashes, compatibility forms, punctuation at its ends, or an ellipsis instead of some
//     words; or only part of an unquoted location is there.
//   - InSource: the hypothesis has none of it, but the source has.
//   - Absent: a phrase that is in neither of them.
//   - NotStated: no location, "N/A", the description of a place ("the whole
//     sentence"), or only words that are said to be missing.
//
// A span is the first such occurrence, if possible one of whole words; the text at the span
// of an error InHypothesis is the location or a phrase that it quotes. For each error, time
// is linear in the texts. Total work is bounded: in an excessively long report, the last
// errors stay Unlocated.
func (r *Report) Locate(t Texts) {
	l := newLocator(t)
	for i := range r.Errors {
		e := &r.Errors[i]
		e.Place, e.Span = l.locate(e.Location)
	}
}

// maxWork bounds the bytes searched for one report: about ten thousand phrases in a long
// document.
const maxWork = 1 << 27

// locator searches for the locations of one report.
type locator struct {
	hypothesis, source, reference haystack
	work, each                    int // bytes that may still be searched, and the cost of one phrase
}

func newLocator(t Texts) *locator {
	return &locator{
		hypothesis: haystack{text: t.Hypothesis}, source: haystack{text: t.Source}, reference: haystack{text: t.Reference},
		work: maxWork, each: len(t.Hypothesis) + len(t.Source) + len(t.Reference) + 1,
	}
}

// spend subtracts the cost of a text with phrases from the remaining work, and reports
// whether any was left.
func (l *locator) spend(text string, phrases int) bool {
	enough := l.work > 0
	l.work -= len(text) + phrases*l.each
	return enough
}

func (l *locator) locate(location string) (Place, Span) {
	stated := strings.TrimSpace(location)
	whole := Unquote(stated)
	if isNone(whole) {
		return NotStated, Span{}
	}
	said, lacking := phrases(requote(stated))
	if !l.spend(location, 2+len(said)+len(lacking)) {
		return Unlocated, Span{}
	}
	for _, s := range slices.Compact([]string{location, stated, whole}) {
		if span, m := l.hypothesis.exact(s); m != nowhere {
			return InHypothesis, span
		}
	}
	if span, m := l.hypothesis.similar(whole); m != nowhere {
		return Approximate, span
	}
	for _, phrases := range [][]string{said, distinctive(lacking)} {
		if place, span := l.first(phrases); place != Unlocated {
			return place, span
		}
	}
	switch {
	case slices.ContainsFunc(slices.Concat([]string{whole}, said, lacking), l.source.has):
		return InSource, Span{}
	case len(said) == 0 && (len(lacking) > 0 || describes(whole)):
		return NotStated, Span{}
	}
	return Absent, Span{}
}

// first finds the first phrase that is in the hypothesis verbatim, or else the first that
// resembles something in it.
func (l *locator) first(phrases []string) (place Place, at Span) {
	for _, p := range phrases {
		span, m := l.hypothesis.find(p)
		switch {
		case m == wordForWord:
			return InHypothesis, span
		case m == nowhere || place != Unlocated:
		case m == insideWords:
			place, at = InHypothesis, span
		default:
			place, at = Approximate, span
		}
	}
	return place, at
}

// phrases returns the phrases quoted in a location, in order: those that the text is said
// to have, and those that it is said to lack.
func phrases(location string) (said, lacking []string) {
	quoted := quotations(location)
	if len(quoted) == 0 {
		if s := beforeRemark(location); s != "" {
			said = append(said, s)
		}
		return said, nil
	}
	wanted := false
	for i, q := range quoted {
		if !joins(q.before) || i == 0 {
			wanted = lacksNext(q.before) || lacksPrevious(q.after, i+1 < len(quoted))
		}
		if p := strings.TrimSpace(q.text); wanted {
			lacking = append(lacking, p)
		} else {
			said = append(said, p)
		}
	}
	if s := beforeRemark(quoted[0].before); len(said) == 0 && s != "" {
		said = append(said, s)
	}
	return said, lacking
}

// joins reports whether these words give the quotation after them the same role as the one
// before.
func joins(between string) bool {
	return slices.Contains([]string{"", "and", "or", "and/or", "&"}, strings.Trim(strings.ToLower(between), " ,;/"))
}

// lacksNext reports whether the words before a quotation say that the text
// lacks it.
func lacksNext(before string) bool { return lacksForm().MatchString(strings.ToLower(tail(before, 64))) }

// lacksForm is a verb at the end of a text, possibly followed by an article and a noun.
var lacksForm = text.Regexp(`(?:(?:^|[^\pL\pN_])(?:instead of|rather than|should (?:be|have been|read|say)|missing|lacks|lacking|omits|omitted|omitting|omission of|` +
	`absence of|without|no|(?:replaced|changed|corrected) (?:with|by|to)|vs\.?|not|add|adding|needs)|->|→|=>)` +
	nounAtEnd)

// nounAtEnd is an optional article and noun at the end of a text.
const nounAtEnd = `(?: (?:the|an?))?(?: (?:words?|phrases?|terms?|(?:definite |indefinite )?article|preposition|pronoun|verb|noun|adjective|adverb|conjunction|expression|name|` +
	`punctuation|comma|title|number|part|information|content|mention|mention of|information about|use of))?[ (:,]*$`

// lacksPrevious reports whether the words after a quotation say that the text lacks it, as
// in `"a" is missing before "order"`. In `"order" is missing "a"` they do not.
func lacksPrevious(after string, quotationFollows bool) bool {
	if quotationFollows && lacksNext(after) {
		return false
	}
	return missingForm().MatchString(strings.ToLower(strings.TrimLeft(head(after, 64), " ,(")))
}

var missingForm = text.Regexp(`^(?:(?:is|are|was|were|has been|should be) )?(?:missing|omitted|left out|not mentioned|not included|not present|absent)|^should be added`)

// distinctive keeps the phrases that are unlikely to occur by chance: a missing "the" is
// not just any other "the".
func distinctive(phrases []string) []string {
	return slices.DeleteFunc(slices.Clone(phrases), func(p string) bool { return utf8.RuneCountInString(head(p, 64)) < 8 && len(strings.Fields(p)) < 2 })
}

// remark begins a comment on an unquoted location.
var remark = text.Regexp(` (?:rather than |\(|-> |=> |→ |vs\.? |instead of|should be)`)

// beforeRemark returns the part of an unquoted location before a remark, as in `X instead
// of Y` and `X (should be Y)`.
func beforeRemark(location string) string {
	if at := remark().FindStringIndex(location); at != nil {
		return strings.TrimSpace(location[:at[0]])
	}
	return ""
}

// noneForm is a location that states that there is none, without surrounding punctuation.
var noneForm = text.Regexp(`(?i)^(?:n/a|na|n\.a|none|null|nil|not applicable|not available|not specified|unknown|no location)?$`)

func isNone(s string) bool {
	return noneForm().MatchString(head(strings.Trim(s, " \t\r\n.[](){}<>-–—_\"'“”‘’"), 24))
}

// placeForm is an unquoted location that describes a place without quoting, such as "The
// whole sentence" or "Missing comma at the end".
var placeForm = text.Regexp(`^(?:the )?(?:omission|omitted|lack|absence|throughout|` + units + `)\b|\bmissing\b|` +
	`\b(?:entire|whole|full|complete|overall|end|beginning|start|middle) (?:\w+ ){0,3}` + units + `\b`)

const units = `(?:output|translation|generation|text|sentence|summary|response|paragraph|hypothesis|answer|phrase|story)`

func describes(s string) bool {
	words := strings.FieldsFunc(strings.ToLower(head(s, 400)), func(r rune) bool { return !inWord(r) })
	return placeForm().MatchString(strings.Join(words, " "))
}

// head and tail return the first and the last n bytes of s, or slightly fewer.
func head(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }
func tail(s string, n int) string { return strings.ToValidUTF8(s[max(0, len(s)-n):], "") }
