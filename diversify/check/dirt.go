package check

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// unseen are characters of ASCII that undirt looks at.
const unseen = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f\\&"

// undirt takes out what no one sees or types: characters without width, marks
// of direction, soft hyphens, spaces of other kinds, control characters,
// entities, escapes. What the reference has of a kind stays.
func undirt(_ *Checker, t string, ref *original) string {
	if !utf8.ValidString(t) {
		return t
	}
	if strings.ContainsAny(t, "†\ue201") && !strings.ContainsAny(ref.text, "†\ue201") {
		t = citations.ReplaceAllString(t, "")
	}
	if strings.Contains(t, "\x1b") {
		t = colours.ReplaceAllString(t, "")
	}
	if strings.Contains(t, `\`) && !strings.Contains(ref.text, `\`) && (strings.Contains(t, `\n`) || strings.HasPrefix(t, `\t`) || strings.Contains(t, `\"`) || strings.Contains(t, `\'`)) && !strings.ContainsAny(t, "{[") {
		t = strings.NewReplacer(`\r`, "", `\n`, "\n", `\"`, `"`, `\'`, "'", `\t`, " ").Replace(t)
	}
	if strings.Contains(t, `\u`) || strings.Contains(t, `\x`) {
		t = escapes.ReplaceAllStringFunc(t, func(s string) string {
			if text, err := strconv.Unquote(`"` + strings.Replace(s, `\x`, `\u00`, 1) + `"`); err == nil {
				return text
			}
			return s
		})
	}
	for _, mark := range [...]string{"▁", "Ġ"} {
		if n := strings.Count(t, mark); (n > 1 || n == 1 && strings.HasPrefix(t, mark)) && !strings.Contains(ref.text, mark) {
			t = strings.ReplaceAll(t, "Ċ", "\n")
			t = strings.ReplaceAll(strings.ReplaceAll(t, " "+mark, mark), mark, " ")
		}
	}
	if strings.Contains(t, "&") && strings.Contains(t, ";") && html.UnescapeString(ref.text) == ref.text {
		t = html.UnescapeString(t)
	}
	if strings.Contains(t, "  ") && !strings.Contains(ref.text, "  ") {
		lines := strings.Split(t, "\n")
		for i, l := range lines {
			if words := strings.Fields(l); len(words) > 0 {
				lines[i] = strings.Join(words, " ")
			}
		}
		t = strings.Join(lines, "\n")
	}
	if strings.ContainsFunc(t, isCyrillic) && scriptOf(t) == latin && !strings.ContainsFunc(ref.text, isCyrillic) {
		// A letter that is drawn as no Latin one shows that Cyrillic is meant.
		if latin := lookalikes.Replace(t); !strings.ContainsFunc(latin, isCyrillic) {
			t = latin
		}
	}
	t = strings.TrimPrefix(t, "ï»¿") // a byte order mark, decoded with the wrong character set
	if !strings.ContainsRune(ref.text, utf8.RuneError) {
		t = strings.Trim(t, string(utf8.RuneError))
	}
	if mojibake(t) != "" {
		if mojibake(ref.text) == "" {
			t = decoded(t)
		}
		return t
	}
	if rest, ok := strings.CutSuffix(t, "。"); ok && scriptOf(t) == latin && !strings.Contains(ref.text, "。") {
		t = rest + "."
	}
	if !strings.ContainsFunc(t, suspicious) {
		return t
	}
	if !ref.dense && scriptOf(t) == latin {
		t = wideCommas.ReplaceAllString(t, ", ")
	}
	if !strings.ContainsFunc(ref.text, isLigature) {
		t = ligatures.Replace(t)
	}
	if norm.NFC.IsNormalString(ref.text) {
		t = norm.NFC.String(t)
	}
	if !strings.ContainsFunc(ref.text, isHalfKana) {
		t = halfKana.ReplaceAllStringFunc(t, norm.NFKC.String)
	}
	before := rune(0)
	return strings.Map(func(r rune) rune {
		was := before
		before = r
		if !suspicious(r) || strings.ContainsRune(ref.text, r) {
			return r
		}
		switch {
		case r == '\u2028' || r == '\u2029' || r == '\u0085':
			return '\n'
		case unicode.IsSpace(r) || r == 0x2800:
			if r == '\r' {
				return -1
			}
			return ' '
		case r == '\u2010' || r == '\u2011':
			return '-'
		case r == '\u200c' || r == '\u200d':
			if 0x600 <= was && was < 0x1100 || was > 0x2000 { // Persian, Hindi; emoji
				return r
			}
			return -1
		case unicode.Is(unicode.Mn, r):
			if r < 0x370 && (unicode.In(was, unicode.Latin, unicode.Cyrillic, unicode.Han, unicode.Mn) || was == ' ') {
				before = was
				return -1
			}
			return r
		case isLigature(r) || isHalfKana(r):
			return r
		case wideForm(r):
			if !ref.dense {
				if s := []rune(norm.NFKC.String(string(r))); len(s) == 1 {
					return s[0]
				}
			}
			return r
		}
		return -1
	}, t)
}

// ligatures are letters that are drawn as one.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl")

func isLigature(r rune) bool { return r >= 0xfb00 && r <= 0xfb04 }

func isCyrillic(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }

// lookalikes are letters of Cyrillic that are drawn as Latin ones.
var lookalikes = strings.NewReplacer("а", "a", "е", "e", "о", "o", "р", "p", "с", "c", "у", "y", "х", "x", "і", "i", "А", "A", "В", "B", "Е", "E", "К", "K", "М", "M", "Н", "H", "О", "O", "Р", "P", "С", "C", "Т", "T", "Х", "X")

func isHalfKana(r rune) bool { return r >= 0xff61 && r <= 0xff9f }

// colours are the escapes of a terminal, escapes those of characters in code, citations
// those of a search, shortcodes the names of pictographs,
// halfKana letters of Japanese in half of their width, drawn a bear's face, or a laugh in Korean.
var (
	colours    = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)
	citations  = regexp.MustCompile(`【[^【】]*†[^【】]*】|\x{e200}[^\x{e201}]*\x{e201}`)
	wideCommas = regexp.MustCompile(`，\s*`)
	escapes    = regexp.MustCompile(`(\\u[0-9a-fA-F]{4})+|\\x[0-9a-fA-F]{2}`)
	shortcodes = regexp.MustCompile(`(^|\s):[a-z][a-z0-9_+-]*:`)
	halfKana   = regexp.MustCompile(`[\x{ff61}-\x{ff9f}]+`)
	drawn      = regexp.MustCompile(`ʕ[^ʔ]{1,5}ʔ\s*|\s+[ㅋㅎㅠㅜ]{2,}$`)
)

// suspicious reports whether a character is one that undirt looks at.
func suspicious(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\n'
	case r < 0x7f:
		return false
	case r <= 0xad:
		return r < 0xa1 || r == 0xad
	case r < 0x300:
		return false
	case r < 0x370:
		return true
	case r < 0x2000:
		return r == 0x61c || r == 0x180e || r == 0x1680
	case r < 0x3000:
		return r <= 0x2011 || r >= 0x2028 && r <= 0x202f || r >= 0x205f && r <= 0x206f || r == 0x2800
	}
	return r == 0x3000 || r >= 0xe000 && r < 0xf900 || r == 0xfeff || r >= 0xfff9 && r <= 0xfffb || r >= 0xfffe && r <= 0xffff || wideForm(r) || isLigature(r) || isHalfKana(r)
}

// wideForm reports whether a character is one of ASCII in another
// form.
func wideForm(r rune) bool {
	return r > 0xff00 && r <= 0xff5e || r >= 0x1d400 && r <= 0x1d7ff
}

// isEmoji reports whether a character is a pictograph, or part of one.
func isEmoji(r rune) bool {
	switch {
	case r < 0x2300:
		return r == 0x20e3 || r == 0x200d || r == 0x2049 || r == 0x203c
	case r < 0x2c00:
		return r <= 0x23ff && (r == 0x231a || r == 0x231b || r >= 0x23e9 && r <= 0x23fa) || r >= 0x2600 && r <= 0x27bf && !(r >= 0x2768 && r <= 0x2775) && !isArrow(r) || r >= 0x2b00
	case r < 0x1f000:
		return r >= 0xfe00 && r <= 0xfe0f
	}
	return r <= 0x1faff || r >= 0xe0020 && r <= 0xe007f
}

// faces are pictures made of punctuation.
var faces = []string{":-)", ":)", ";-)", ";)", ":D", ":-D", ":(", ":-(", "^_^", "^^", "<3", ":P", "=)", "xD", "XD", `\o/`}

// kaomoji are faces in brackets: a mouth between eyes that are no letters, and arms.
var kaomoji = regexp.MustCompile(`¯\\?_?[(（]ツ[)）]_?/?¯|[\\ヽ]?[(（]\pL?` + eye + `[^\s\pN]` + eye + `\pL?[)）][ノ/]?[*:・゚\p{So}]*`)

const eye = `[^\pL\pN\s()（）.?!,;:"'“”‘’+/%$#&@\-–—\[\]{}|\\]{1,2}`

// faceEnds are the characters that faces end in.
const faceEnds = ")D(^3P_/"

// unemoji takes out pictographs, where the reference has none, with the space
// before them.
func unemoji(_ *Checker, t string, ref *original) string {
	for _, face := range faces {
		if rest, ok := strings.CutSuffix(t, " "+face); ok && !strings.Contains(ref.text, face) {
			t = strings.TrimSpace(rest)
		}
	}
	t = kaomoji.ReplaceAllStringFunc(t, func(face string) string {
		if strings.Contains(ref.text, face) {
			return face
		}
		return ""
	})
	if face := drawn.FindStringIndex(t); face != nil && !drawn.MatchString(ref.text) && says(t[:face[0]]+t[face[1]:]) {
		t = t[:face[0]] + t[face[1]:]
	}
	if !shortcodes.MatchString(ref.text) {
		t = shortcodes.ReplaceAllString(t, "$1")
	}
	if strings.IndexFunc(t, isEmoji) < 0 || strings.ContainsFunc(ref.text, isEmoji) {
		return t
	}
	var b strings.Builder
	for t != "" {
		at := strings.IndexFunc(t, isEmoji)
		if at < 0 {
			at = len(t)
		}
		keep := t[:at]
		rest := strings.TrimLeftFunc(t[at:], isEmoji)
		if strings.HasSuffix(keep, "#") || len(keep) > 0 && isDigit(keep[len(keep)-1]) && at < len(t) && strings.HasPrefix(t[at:], "\ufe0f") {
			keep = keep[:len(keep)-1] // a keycap
		}
		if apart(keep, rest, ref) {
			b.WriteString(strings.TrimRight(keep, " ") + "\n")
			t = strings.TrimLeft(rest, " ")
			continue
		}
		if next := firstRune(rest); len(rest) < len(t)-at && (rest == "" || unicode.IsSpace(next) || unicode.IsPunct(next)) {
			keep = strings.TrimRight(keep, " ")
			if after := strings.TrimLeft(rest, " "); unicode.IsPunct(firstRune(after)) {
				rest = after
			}
		}
		b.WriteString(keep)
		t = rest
	}
	return b.String()
}

// apart reports whether a pictograph stands between the text and words about the
// task: where it is taken out, a line ends.
func apart(before, after string, ref *original) bool {
	after = strings.TrimLeft(after, " ")
	next := firstRune(after)
	if at := strings.IndexFunc(after, isEmoji); at >= 0 {
		after = after[:at]
	}
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if !says(before) || !says(after) || unicode.IsLower(next) || !unicode.IsLetter(next) || strings.Contains(ref.text, "\n") {
		return false
	}
	talk := func(t string) bool { f := ref.fit(t); return f.talk > 0 && f.own == 0 && f.shared == 0 }
	return talk(before) || talk(after)
}

// charsets are those that UTF-8 is wrongly read in.
var charsets = [...]*charmap.Charmap{charmap.Windows1252, charmap.Macintosh, charmap.Windows1251, charmap.KOI8R}

// decoded is a text of Latin letters that was read in the wrong character set, all of it or
// some characters, as it was before. Of other scripts mostly too much is lost.
func decoded(t string) string {
	for _, set := range charsets {
		if b, n := encode(set, t); n > 0 && utf8.Valid(b) && scriptOf(string(b)) == latin && mojibake(string(b)) == "" {
			return string(b)
		}
	}
	apart := wrongRuns.ReplaceAllStringFunc(t, func(run string) string {
		if b, n := encode(charmap.Windows1252, run); n > 1 && utf8.Valid(b) && scriptOf(string(b)) <= latin {
			return string(b)
		}
		return run
	})
	if mojibake(apart) != "" {
		return t
	}
	return apart
}

// wrongRuns are characters that are none of ASCII, side by side.
var wrongRuns = regexp.MustCompile(`[^\x00-\x7f]+`)

// mojibake returns characters that are the bytes of UTF-8 read in a character
// set of one byte a character, or "".
func mojibake(t string) string {
	for i := 0; i < len(t); {
		if t[i] < utf8.RuneSelf {
			i++
			continue
		}
		end := i
		for end < len(t) && t[end] >= utf8.RuneSelf {
			end++
		}
		run := t[i:end]
		for i, set := range charsets {
			if b, n := encode(set, run); n > 1 && decodes(b) > i/2 {
				return run
			}
		}
		i = end
	}
	return ""
}

// encode returns a text in a character set, and of how many characters it is
// that the set has.
func encode(set *charmap.Charmap, s string) (out []byte, n int) {
	for _, r := range s {
		b, ok := set.EncodeRune(r)
		if !ok {
			if r > 0xff {
				return nil, 0
			}
			b = byte(r)
		}
		out = append(out, b)
		n++
	}
	return out, n
}

// decodes returns of how many characters bytes are the UTF-8, but for one at
// the end that is cut, or 0. Characters of rare scripts do not count.
func decodes(b []byte) int {
	whole := 0
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && whole > 0 && !utf8.FullRune(b):
			return whole
		case r == utf8.RuneError || n == 1 || r >= 0x250 && r < 0x400 || r >= 0x530 && r < 0x2000:
			return 0
		}
		whole++
		b = b[n:]
	}
	return whole
}
