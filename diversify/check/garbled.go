package check

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// garbled says how a text is broken that is not cut, or "".
func garbled(t string, ref *original) string {
	if !utf8.ValidString(t) {
		return "it is not valid UTF-8"
	}
	if strings.ContainsRune(t, utf8.RuneError) && !strings.ContainsRune(ref.text, utf8.RuneError) {
		return "it has characters that could not be decoded"
	}
	if s := mojibake(t); s != "" && mojibake(ref.text) == "" {
		return fmt.Sprintf("it is decoded with the wrong character set: %s", quote(s))
	}
	if s := residue(t, ref.text); s != "" {
		return fmt.Sprintf("it has %s, the reference has not", quote(s))
	}
	if s := loop(t); s != "" && loop(ref.text) == "" {
		return fmt.Sprintf("it repeats %s", quote(s))
	}
	if s := stutter(t); s != "" && stutter(ref.text) == "" {
		return fmt.Sprintf("it says %s and another word twice in a row", quote(s))
	}
	if ref.jumbled(t) {
		return fmt.Sprintf("it has the reference's words, and hardly two of them in its order: %s", quote(t))
	}
	return noise(t, ref)
}

// jumbled reports whether most words of a text are the reference's, and hardly any two stand side by
// side as there: of the released rewritings one in 5,000 is so.
func (o *original) jumbled(t string) bool {
	const few, many = 8, 10
	pairs, known, words := o.neighbours(t)
	keys := len(o.content().keys)
	return !o.dense && keys < mostSaid && ((words >= many || words >= few && known == words) && 4*known >= 3*words && 13*pairs < words ||
		words > many && keys >= many && 20*known >= 19*words && 6*pairs <= words)
}

// marks are characters and strings of markup, code and tokens.
var marks = [...]string{"<|", "|>", "</", "```", "**", "{\"", "\"}", "{'", "'}", "[/", "]]", "[[", "{{", "}}", "~~", "__", "||", "## ", "\\n", "\\u", "::", ";;",
	"[", "{", "}", "]", "<", ">", "|", "\\", "`", "_", "~", "^", "*", "->", "=>", "→", "⇒", "▁", "●", "■", "◆"}

// residue returns what is left of markup or code in a text, or "".
func residue(t, ref string) string {
	if (len(t) == runeCount(t) || strings.IndexFunc(t, func(r rune) bool { return r > 0x2100 && r < 0x2600 }) < 0) && !strings.ContainsAny(t, "<>[]{}()|\\`_~^*:;-=#") {
		return ""
	}
	for _, m := range marks {
		i := strings.Index(t, m)
		if i < 0 || strings.Contains(ref, m) {
			continue
		}
		if (m == "*" || m == "_") && unicode.IsLetter(lastRune(t[:i])) && unicode.IsLower(firstRune(t[i+1:])) {
			continue // "Nutzer*innen"
		}
		return m
	}
	if i := strings.Index(t, `("`); i > 0 && unicode.IsLetter(lastRune(t[:i])) && !strings.Contains(ref, `("`) {
		return `("`
	}
	return ""
}

// loop returns words, or a letter, that a text says three times or more in a
// row, or "".
func loop(t string) string {
	runes, last := 0, rune(-1)
	for _, r := range t {
		if r == last && !unicode.IsSpace(r) && !unicode.IsDigit(r) {
			if runes++; runes >= 5 && (unicode.IsLetter(r) || runes >= 8) {
				return string(r)
			}
			continue
		}
		runes, last = 1, r
	}
	words := strings.Fields(t)
	if len(words) < 3 {
		words = strings.Split(t, "")
	}
	for period := 1; period <= 24 && 2*period <= len(words); period++ {
		same := 0
		for i := period; i < len(words); i++ {
			if a, b := words[i], words[i-period]; a[0] < utf8.RuneSelf && b[0] < utf8.RuneSelf && (a[0]^b[0])&^0x20 != 0 || !strings.EqualFold(a, b) {
				same = 0
				continue
			}
			same++
			// Three times, or twice where it is long.
			if same >= 2*period && same >= 3 || same >= period && period >= 4 {
				return strings.Join(words[i-period+1:i+1], " ")
			}
		}
	}
	return ""
}

// stutter returns a word that a text says twice in a row, where it does so with another one too, or "".
func stutter(t string) string {
	first, last := "", ""
	for w := range strings.FieldsSeq(t) {
		if strings.EqualFold(w, last) && hasLetter(w) && !strings.EqualFold(w, first) {
			if first != "" {
				return w
			}
			first = w
		}
		last = w
	}
	return ""
}

// isStrange reports whether a letter is of none of Latin, Greek and Cyrillic.
func isStrange(r rune) bool {
	return r >= 0x530 && unicode.IsLetter(r) && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
}

// noise says that letters make no words, or "".
func noise(t string, ref *original) string {
	letters, others, words, single, strange := 0, 0, 0, 0, 0
	mixed, foreign := "", ""
	for word := range strings.FieldsSeq(t) {
		words++
		if utf8.RuneCountInString(word) == 1 {
			single++
		}
		latin, cyrillic := 0, 0
		for _, r := range word {
			switch {
			case r < utf8.RuneSelf && ('a' <= r|0x20 && r|0x20 <= 'z'):
				latin++
				letters++
			case unicode.Is(unicode.Cyrillic, r):
				cyrillic++
				letters++
			case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r):
				letters++
				if isStrange(r) {
					strange++
				}
			default:
				others++
			}
		}
		if latin > 0 && cyrillic > 0 && !strings.ContainsAny(word, "-–/.,\"«(") {
			mixed = word
		}
		if latin == 0 && cyrillic > 0 {
			foreign = word
		}
	}
	switch {
	case foreign != "" && scriptOf(t) == latin && !strings.ContainsFunc(ref.text, isCyrillic):
		return fmt.Sprintf("%s is in another script", quote(foreign))
	case strange > 1 && strange < letters/2 && ref.script <= cyrillic && !strings.ContainsFunc(ref.text, isStrange):
		return "it mixes scripts that the reference does not"
	case mixed != "" && !strings.Contains(ref.text, mixed):
		return fmt.Sprintf("%s mixes scripts", quote(mixed))
	case words == 1 && letters >= 13 && !ref.dense && strings.Count(ref.text, " ") >= 3:
		return "its words stand together"
	case strings.ContainsRune("/@&=)]", firstRune(t)) && firstRune(t) != firstRune(ref.text):
		return "it begins with a sign"
	case words >= 5 && 4*single >= 3*words && !ref.dense:
		return "its letters stand apart"
	case others > letters && letters < ref.letters/2:
		return "most of it is punctuation"
	}
	return ""
}
