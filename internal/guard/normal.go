package guard

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// normalize returns a text as patterns expect it: in lower case, full-width forms as
// ASCII, one kind of double quote and of apostrophe, each run of white space as one
// space, or one line break if it contains one, and without invisible characters.
func normalize(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	var space rune
	for _, r := range text {
		switch {
		case isLineBreak(r):
			space = '\n'
			continue
		case unicode.IsSpace(r) || r == '▁':
			if space == 0 {
				space = ' '
			}
			continue
		case unseen(r):
			continue
		}
		if space != 0 && b.Len() > 0 {
			b.WriteRune(space)
		}
		space = 0
		if r >= 0xff01 && r <= 0xff5e {
			r -= 0xfee0
		}
		switch {
		case isDoubleQuote(r):
			r = '"'
		case r == '’' || r == '‘' || r == '`' || r == '´':
			r = '\''
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func isLineBreak(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }

func isDoubleQuote(r rune) bool { return strings.ContainsRune("\"“”„‟＂″〝〞", r) }

// unseen reports whether a character has neither shape nor width.
func unseen(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	switch r {
	case 0x115f, 0x1160, 0x2800, 0x3164, 0xffa0: // blank letters
		return true
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// hasControl looks for invisible characters that no script needs in their place.
// Needed are: tabs and line breaks; a joiner next to a letter that is not Latin, Greek or
// Cyrillic, or in an emoji; a direction mark in a text with right-to-left letters;
// variation selectors; soft hyphens.
func hasControl(text string) bool {
	rightToLeft, mark := false, false
	var before rune
	for i, r := range text {
		switch {
		case r == '\t', r == '\n', r == '\r' && strings.HasPrefix(text[i+1:], "\n"), r == 0x85, r == 0xad, mongolianOrHangul(r):
		case isJoiner(r) && joined(before, text[i+utf8.RuneLen(r):]):
		case r == 0xfe0e, r == 0xfe0f, unicode.Is(unicode.Variation_Selector, r) && unicode.Is(unicode.Han, before):
		case r == 0x200e, r == 0x200f, r == 0x61c:
			mark = true
		case r == 0x2028, r == 0x2029, unseen(r):
			return true
		case unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko):
			rightToLeft = true
		}
		before = r
	}
	return mark && !rightToLeft
}

func isJoiner(r rune) bool { return r == 0x200c || r == 0x200d }

// joined reports whether scripts or emoji need a joiner between before and rest.
func joined(before rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	return joins(before) || joins(next)
}

// joins reports whether a joiner may be needed next to r.
func joins(r rune) bool {
	if r < 0x250 || r == utf8.RuneError || unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsSymbol(r)
}

// mongolianOrHangul reports whether r is an invisible character that is part of words
// in Mongolian or Hangul.
func mongolianOrHangul(r rune) bool {
	return r >= 0x180b && r <= 0x180f || r == 0x115f || r == 0x1160
}
