package ter

import "strings"

// isPunct reports whether NoPunct removes an ASCII character.
func isPunct(r rune) bool {
	return strings.ContainsRune(`.,?:;!"()`, r)
}

// isAsianPunct reports whether r is East Asian punctuation, including half-width and
// full-width forms.
func isAsianPunct(r rune) bool {
	return strings.ContainsRune("\u3001\u3002\u30fb\uff01\uff02\uff08\uff09\uff0c\uff0e\uff1a\uff1b\uff1f", r) ||
		0x3008 <= r && r <= 0x3011 || 0x3014 <= r && r <= 0x301f || 0xff61 <= r && r <= 0xff65
}

// isIdeograph reports whether Normalized and Asian make r a word. sacreBLEU has a range
// that was meant to be U+3200 to U+32FF and ends at U+3F22, without effect, because other
// ranges cover the rest. Kana are not split: the rules for them match only at the start of
// a text, where normalization has put a space.
func isIdeograph(r rune) bool {
	switch {
	case r < 0x2e80 || r > 0xfaff && r < 0xfe30:
		return false
	case r <= 0x2eff, // radicals
		0x31c0 <= r && r <= 0x31ef, // strokes
		0x3200 <= r && r <= 0x4dbf, // enclosed letters, compatibility, extension A
		0x4e00 <= r && r <= 0x9fff, // unified ideographs
		0xf900 <= r && r <= 0xfaff, // compatibility ideographs
		0xfe30 <= r && r <= 0xfe4f: // compatibility forms
		return true
	}
	return false
}
