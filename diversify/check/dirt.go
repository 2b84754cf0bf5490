package check

import (
	htmllib "html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"

	"github.com/refract-eval/refract/internal/text"
)

var (
	escapes = text.Regexp(`(\\u[0-9a-fA-F]{4})+|\\x[0-9a-fA-F]{2}`)
	// styled matches letters and marks of other widths and styles, and ligatures: ａ 𝐚 ﬁ ｶﾞ.
	styled = text.Regexp(`[\x{ff61}-\x{ff9f}]+|[\x{ff01}-\x{ff5e}\x{1d400}-\x{1d7ff}\x{fb00}-\x{fb06}]`)
	// wrong matches runs of characters that may be mis-decoded UTF-8.
	wrong = text.Regexp(`[^\x00-\x7f]+`)
)

// undirt removes what nobody sees or types: zero-width characters, direction marks, soft
// hyphens, unusual spaces, control characters, entities, escapes, styled letters, and UTF-8
// decoded in another character set.
func undirt(_ *Checker, t string, ref *original) string {
	if !utf8.ValidString(t) {
		return t
	}
	if strings.Contains(t, `\`) && !ref.has(`\`) && !strings.ContainsAny(t, "{[") {
		t = unescaped(t)
	}
	if htmllib.UnescapeString(ref.text) == ref.text {
		t = htmllib.UnescapeString(t)
	}
	if decoded(ref.text) == ref.text {
		t = decoded(t)
	}
	if norm.NFC.IsNormalString(ref.text) {
		t = norm.NFC.String(t)
	}
	t = styled().ReplaceAllStringFunc(t, func(s string) string {
		if r := firstRune(s); strings.ContainsRune(ref.text, r) || r > 0xff00 && r < 0xff5f && ref.dense {
			return s
		}
		return norm.NFKC.String(s)
	})
	before := rune(0)
	t = strings.Map(func(r rune) rune {
		joins := before >= 0x600 && before < 0x1100 || before > 0x2000 // Persian, Hindi; emoji
		before = r
		switch {
		case r == '\n' || r > ' ' && r < 0x7f, strings.ContainsRune(ref.text, r), (r == '\u200c' || r == '\u200d') && joins:
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co):
			return -1
		}
		return r
	}, t)
	return t
}

// unescaped replaces the escapes of program code by what they stand for.
func unescaped(t string) string {
	t = strings.NewReplacer(`\r`, "", `\n`, "\n", `\"`, `"`, `\'`, "'", `\t`, " ").Replace(t)
	return escapes().ReplaceAllStringFunc(t, func(s string) string {
		if plain, err := strconv.Unquote(`"` + strings.Replace(s, `\x`, `\u00`, 1) + `"`); err == nil {
			return plain
		}
		return s
	})
}

// decoded repairs a text whose UTF-8 was decoded as Windows-1252 or Latin-1.
func decoded(t string) string {
	return wrong().ReplaceAllStringFunc(t, func(run string) string {
		for _, set := range []*charmap.Charmap{charmap.Windows1252, charmap.ISO8859_1} {
			if s, err := set.NewEncoder().String(run); err == nil && utf8.ValidString(s) {
				return s
			}
		}
		return run
	})
}

// isEmoji reports whether a character is a pictograph or part of one.
func isEmoji(r rune) bool {
	return r == 0x200d || r == 0x20e3 || r >= 0xfe00 && r <= 0xfe0f || r >= 0x1f3fb && r <= 0x1f3ff ||
		(r >= 0x2600 && r < 0x1faff || r >= 0x231a && r < 0x2400) && unicode.Is(unicode.So, r)
}

// faces matches emoticons after the text.
var faces = text.Regexp(`\s+(?:[:;=]-?[()DP]|<3|[^\pL\pN\s]*[_^ω∀‿]\S*)$`)

// unemoji removes pictographs and the space before them, if the reference has none. A
// pictograph between two sentences becomes a line end.
func unemoji(_ *Checker, t string, ref *original) string {
	if strings.ContainsFunc(ref.text, isEmoji) {
		return t
	}
	if !faces().MatchString(ref.text) {
		t = faces().ReplaceAllString(t, "")
	}
	for i := strings.IndexFunc(t, isEmoji); i >= 0; i = strings.IndexFunc(t, isEmoji) {
		before, next := strings.TrimRight(t[:i], " "), strings.TrimLeft(strings.TrimLeftFunc(t[i:], isEmoji), " ")
		if strings.HasPrefix(t[i:], "\ufe0f\u20e3") { // a keycap
			before = strings.TrimRight(before, "0123456789#* ")
		}
		last, first := before[strings.LastIndexByte(before, '\n')+1:], strings.SplitN(next, "\n", 2)[0]
		switch {
		case ref.evidence(last).isTalk() != ref.evidence(first).isTalk() && says(last) && unicode.IsUpper(firstRune(next)):
			before += "\n"
		case before != "" && next != "" && !unicode.IsPunct(firstRune(next)) && !strings.HasSuffix(before, "\n") && t[i-1] == ' ':
			before += " "
		}
		t = before + next
	}
	return t
}

var (
	ruled    = text.Regexp("(?m)^[ \t]*(?:[-*_=~|: ]{3,}|#+|(?:```|~~~)[\\w+-]*)[ \t]*$\n?")
	headings = text.Regexp(`(?m)^[ \t]*(?:#{1,6}[ \t]+|>+[ \t]?|\|[ \t]*)`)
	pairs    = []func() *regexp.Regexp{
		text.Regexp(`\*\*([^*]+)\*\*`), text.Regexp(`__([^_\s][^_]*)__`),
		text.Regexp(`\*([^*\s][^*]*)\*`), text.Regexp("`+([^`]+)`+"),
		text.Regexp(`\\(?:boxed|text|textit|textbf|emph)\{([^{}]*)\}`), text.Regexp(`^(?:\$+|\\\[\s*)([^$]+?)(?:\$+|\s*\\\])$`),
	}
)

// unmark removes Markdown marks that the reference does not have.
func unmark(_ *Checker, t string, ref *original) string {
	if inner, ok := strings.CutPrefix(t, "``"); ok && strings.HasSuffix(t, "''") {
		return strings.TrimSuffix(inner, "''")
	}
	if !ref.has("#>|") {
		t = headings().ReplaceAllString(t, "")
	}
	if !ruled().MatchString(ref.text) {
		t = ruled().ReplaceAllString(t, "")
	}
	if !ref.has("*_~=`") {
		for _, p := range pairs {
			t = p().ReplaceAllString(t, "$1")
		}
		t = strings.Trim(t, "*`")
	}
	return t
}
