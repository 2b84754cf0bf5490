package check

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func isArrow(r rune) bool {
	return r == '>' || r >= 0x2190 && r <= 0x21ff || r >= 0x2794 && r <= 0x27be && r != 0x27b0 && r != 0x27a1 || r >= 0x27f0 && r <= 0x27ff
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
	before, failed := rune(-1), ""
	if !utf8.ValidString(t) {
		return -1, -1
	}
	for i, r := range t {
		if closing, ok := closers[r]; ok && closing != "" && !strings.ContainsRune(failed, r) && opens(r, before, firstRune(t[i+utf8.RuneLen(r):])) {
			from := i + utf8.RuneLen(r)
			last := rune(-1)
			for k, q := range t[from:] {
				next := firstRune(t[from+k+utf8.RuneLen(q):])
				if k > 0 && strings.ContainsRune(closing, q) && !(unicode.IsLetter(last) && unicode.IsLetter(next)) {
					return i, from + k + utf8.RuneLen(q)
				}
				last = q
			}
			failed += string(r) // none behind it is closed either
		}
		before = r
	}
	return -1, -1
}

// remark reports whether what stands behind a quotation in front is no more than a few
// words that have nothing of the reference: what a speaker would be named by, it has.
func (o *original) remark(t, span string) bool {
	const mostWords = 5
	rest := unquoted(t)
	f := o.fit(rest)
	return f.words <= mostWords && f.common == 0 && !o.kin(rest) && o.wholeAlone(o.fit(span)) && (!o.ends.complete() || endingOf(span).complete())
}

// putAs returns the rewriting of a text that quotes the reference and that, in either order, with
// a few words around them, as in "A" can also be put as "B"; or "".
func putAs(t string, ref *original) string {
	inner := func(span string) string {
		return strings.TrimSpace(span[utf8.RuneLen(firstRune(span)) : len(span)-utf8.RuneLen(lastRune(span))])
	}
	begin, end := quotation(t)
	if begin < 0 || strings.ContainsRune(ref.text, firstRune(t[begin:])) || strings.Contains(t, "\n") {
		return ""
	}
	first, last := quotation(t[end:])
	if first < 0 || unicode.IsUpper(firstRune(strings.TrimSpace(t[end:end+first]))) {
		return ""
	}
	text, echo := inner(t[end+first:end+last]), inner(t[begin:end])
	if !ref.echoes(echo) {
		text, echo = echo, text
	}
	const mostWords = 12
	f := ref.fit(t[:begin] + " " + t[end:end+first] + " " + t[end+last:])
	if !ref.echoes(echo) || f.shared > 1 || f.words == 0 || f.words > mostWords || 2*runeCount(text) < ref.chars || ref.echoes(text) {
		return ""
	}
	return text
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
