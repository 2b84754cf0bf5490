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
)

var (
	escapes = regexp.MustCompile(`(\\u[0-9a-fA-F]{4})+|\\x[0-9a-fA-F]{2}`)
	spaces  = regexp.MustCompile(`[^\S\n]{2,}`)
)

// lookalikes are Cyrillic letters that are drawn as Latin ones.
var lookalikes = strings.NewReplacer("а", "a", "е", "e", "о", "o", "р", "p", "с", "c", "у", "y", "х", "x", "і", "i",
	"А", "A", "В", "B", "Е", "E", "К", "K", "М", "M", "Н", "H", "О", "O", "Р", "P", "С", "C", "Т", "T", "Х", "X")

// undirt takes out what no one sees or types: characters without width, marks of
// direction, soft hyphens, other spaces, control characters, entities, escapes, letters of
// another alphabet that look the same, and UTF-8 that was read in another character set.
func undirt(_ *Checker, t string, ref *original) string {
	if !utf8.ValidString(t) || !strings.ContainsFunc(t, unusual) && !strings.Contains(t, "  ") {
		return t
	}
	if !ref.has(`\`) && strings.Contains(t, `\`) && !strings.ContainsAny(t, "{[") {
		t = strings.NewReplacer(`\r`, "", `\n`, "\n", `\"`, `"`, `\'`, "'", `\t`, " ").Replace(t)
		t = escapes.ReplaceAllStringFunc(t, func(s string) string {
			if plain, err := strconv.Unquote(`"` + strings.Replace(s, `\x`, `\u00`, 1) + `"`); err == nil {
				return plain
			}
			return s
		})
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
	latin, cyrillic := 0, 0
	for _, r := range t {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin++
		case unicode.Is(unicode.Cyrillic, r):
			cyrillic++
		}
	}
	if latin > cyrillic && cyrillic > 0 && !strings.ContainsFunc(ref.text, isCyrillic) {
		if plain := lookalikes.Replace(t); !strings.ContainsFunc(plain, isCyrillic) {
			t = plain
		}
	}
	was := rune(0)
	t = strings.Map(func(r rune) rune {
		before := was
		was = r
		if r == '\n' || r > ' ' && r < 0x7f || strings.ContainsRune(ref.text, r) {
			return r
		}
		switch {
		case r == '\u2028' || r == '\u2029' || r == '\u0085':
			return '\n'
		case unicode.IsSpace(r), r == '\u2800':
			return ' '
		case (r == '\u200c' || r == '\u200d') && (before >= 0x600 && before < 0x1100 || before > 0x2000): // Persian, Hindi; emoji
			return r
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co), r == utf8.RuneError:
			return -1
		case unicode.Is(unicode.Mn, r) && r < 0x370:
			was = before
			return -1
		case r > 0xff00 && r <= 0xff5e && !ref.dense, r >= 0x1d400 && r <= 0x1d7ff, r >= 0xfb00 && r <= 0xfb04, r >= 0xff61 && r <= 0xff9f:
			if s := []rune(norm.NFKC.String(string(r))); len(s) == 1 {
				return s[0]
			}
		}
		return r
	}, t)
	t = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl").Replace(t)
	if !spaces.MatchString(ref.text) {
		t = spaces.ReplaceAllString(t, " ")
	}
	return t
}

// unusual reports whether undirt may do something about a character.
func unusual(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' && r != '\n' || r == '&' || r == '\\' || r == 0x7f
	case r == '“', r == '”', r == '’', r == '‘', r == '„', r == '—', r == '–', r >= 0x4e00 && r < 0xa000, r >= 0x3001 && r < 0x3100:
		return false
	}
	return true
}

func isCyrillic(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }

// wrong are runs of characters that may be the bytes of UTF-8.
var wrong = regexp.MustCompile(`[^\x00-\x7f]+`)

// decoded is a text whose UTF-8 was read as Windows-1252, as it was before.
func decoded(t string) string {
	return wrong.ReplaceAllStringFunc(t, func(run string) string {
		if b := latin1(run); len(b) > 1 && utf8.Valid(b) && chars(string(b)) < len(b) {
			return string(b)
		}
		return run
	})
}

// latin1 is the bytes of characters in Windows-1252, or nil.
func latin1(s string) (out []byte) {
	for _, r := range s {
		b, ok := charmap.Windows1252.EncodeRune(r)
		if !ok {
			if r > 0xff {
				return nil
			}
			b = byte(r)
		}
		out = append(out, b)
	}
	return out
}

// isEmoji reports whether a character is a pictograph, or part of one.
func isEmoji(r rune) bool {
	switch {
	case r < 0x2000:
		return false
	case r < 0x2300:
		return r == 0x20e3 || r == 0x200d || r == 0x2049 || r == 0x203c
	case r < 0x2c00:
		return r == 0x231a || r == 0x231b || r >= 0x23e9 && r <= 0x23fa || r >= 0x25fb && r <= 0x27bf && !(r >= 0x2768 && r <= 0x2794) || r >= 0x2b00
	case r < 0x1f000:
		return r >= 0xfe00 && r <= 0xfe0f
	}
	return r <= 0x1faff || r >= 0xe0020 && r <= 0xe007f
}

// faces are made of marks, behind the text.
var faces = regexp.MustCompile(`\s+(?:[:;=]-?[()DP]|<3|[^\pL\pN\s]*[_^ω∀‿]\S*)$`)

// unemoji takes out pictographs, where the reference has none, with the space before
// them. One between two sentences ends a line.
func unemoji(_ *Checker, t string, ref *original) string {
	if strings.ContainsAny(t, ":;=^<_ω∀‿") && !faces.MatchString(ref.text) {
		t = faces.ReplaceAllString(t, "")
	}
	if !strings.ContainsFunc(t, isEmoji) || strings.ContainsFunc(ref.text, isEmoji) {
		return t
	}
	for {
		i := strings.IndexFunc(t, isEmoji)
		if i < 0 {
			return t
		}
		before, after := t[:i], strings.TrimLeftFunc(t[i:], isEmoji)
		if n := len(before); n > 0 && after != "" && strings.HasPrefix(t[i:], "\ufe0f\u20e3") { // a keycap
			before = strings.TrimRight(before, "0123456789#*")
		}
		next := strings.TrimLeft(after, " ")
		switch {
		case ref.evidence(lastLine(before)).isTalk() != ref.evidence(firstLine(next)).isTalk() && says(lastLine(before)) && unicode.IsUpper(firstRune(next)):
			t = strings.TrimRight(before, " ") + "\n" + next
		case next == "" || unicode.IsPunct(firstRune(next)) || before == "" || strings.HasSuffix(before, "\n"):
			t = strings.TrimRight(before, " ") + next
		case strings.HasSuffix(before, " "):
			t = before + next
		default:
			t = before + after
		}
	}
}

func lastLine(t string) string  { return t[strings.LastIndexByte(t, '\n')+1:] }
func firstLine(t string) string { line, _, _ := strings.Cut(t, "\n"); return line }

var (
	links    = regexp.MustCompile(`!?\[([^\[\]]+)\]\((?:https?:|#|www)[^()]*\)`)
	ruled    = regexp.MustCompile(`(?m)^[ \t]*(?:[-*_=~|: ]{3,}|#+)[ \t]*$\n?`)
	headings = regexp.MustCompile(`(?m)^[ \t]*(?:#{1,6}[ \t]+|>+[ \t]?|\|[ \t]*)`)
	pairs    = []*regexp.Regexp{
		regexp.MustCompile(`\*\*\*([^*]+)\*\*\*`), regexp.MustCompile(`\*\*([^*]+)\*\*`), regexp.MustCompile(`__([^_\s][^_]*)__`), regexp.MustCompile(`~~([^~]+)~~`), regexp.MustCompile(`==([^=]+)==`),
		regexp.MustCompile(`\*([^*\s][^*]*)\*`), regexp.MustCompile(`\b_([^_\s][^_]*)_(?:\b|$|\s)`), regexp.MustCompile("`+([^`]+)`+"),
		regexp.MustCompile(`\\(?:boxed|text|textit|textbf|emph)\{([^{}]*)\}`), regexp.MustCompile(`^(?:\$+|\\\[\s*)([^$]+?)(?:\$+|\s*\\\])$`),
	}
)

// unmark takes out Markdown, as far as the reference has no such marks.
func unmark(_ *Checker, t string, ref *original) string {
	if !strings.ContainsAny(t, "*_`#>|~=[$\\") && !strings.Contains(t, "---") {
		return t
	}
	if inner, ok := strings.CutPrefix(t, "``"); ok && strings.HasSuffix(t, "''") {
		return strings.TrimSuffix(inner, "''")
	}
	if !ref.has("[]") {
		t = links.ReplaceAllString(t, "$1")
	}
	if !ref.has("#>|") {
		t = headings.ReplaceAllString(t, "")
	}
	if !ruled.MatchString(ref.text) {
		t = ruled.ReplaceAllString(t, "")
	}
	for _, p := range pairs {
		mark := p.String()[len(p.String())-1:]
		if !ref.has("*_~=`") || mark == "`" && !ref.has("`") {
			t = p.ReplaceAllString(t, "$1")
		}
	}
	if !ref.has("*_`") {
		t = strings.Trim(t, "*`")
	}
	return t
}

var fence = regexp.MustCompile("(?s)(?:```|~~~)[ \t]*[\\w+-]*[ \t]*\n?(.*?)(?:```|~~~|$)")

// unfence takes what stands in a code fence.
func unfence(_ *Checker, t string, ref *original) string {
	if ref.has("`") || !strings.Contains(t, "```") && !strings.Contains(t, "~~~") {
		return t
	}
	var best string
	for _, m := range fence.FindAllStringSubmatch(t, -1) {
		if says(m[1]) && !ref.echoes(m[1]) {
			best = m[1]
			break
		}
	}
	if best == "" {
		return t
	}
	outside := ref.evidence(fence.ReplaceAllString(t, " "))
	if e := ref.evidence(best); e.shared >= outside.shared || outside.isTalk() {
		return best
	}
	return t
}
