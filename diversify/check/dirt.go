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
	case r < 0x200d:
		return false
	case r == 0x200d, r == 0x20e3, r >= 0xfe00 && r <= 0xfe0f, r >= 0x1f3fb && r <= 0x1f3ff, r >= 0xe0020 && r <= 0xe007f:
		return true
	}
	return (r >= 0x2600 && r < 0x1faff || r >= 0x231a && r < 0x2400) && unicode.Is(unicode.So, r)
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
	for i := strings.IndexFunc(t, isEmoji); i >= 0; i = strings.IndexFunc(t, isEmoji) {
		before, next := strings.TrimRight(t[:i], " "), strings.TrimLeft(strings.TrimLeftFunc(t[i:], isEmoji), " ")
		if strings.HasPrefix(t[i:], "\ufe0f\u20e3") { // a keycap
			before = strings.TrimRight(before, "0123456789#* ")
		}
		talks := func(s string) bool { return ref.evidence(s).isTalk() }
		switch {
		case talks(lastLine(before)) != talks(firstLine(next)) && says(lastLine(before)) && unicode.IsUpper(firstRune(next)):
			before += "\n"
		case before != "" && next != "" && !unicode.IsPunct(firstRune(next)) && !strings.HasSuffix(before, "\n") && t[i-1] == ' ':
			before += " "
		}
		t = before + next
	}
	return t
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
