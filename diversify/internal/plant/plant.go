// Package plant changes the meaning of a text by rules. A judge of meaning should find these
// changes; how many it finds measures the judge. A kind of change is left out in languages where
// no simple rule makes it.
package plant

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/diversify/language"
	"github.com/refract-eval/refract/internal/text"
)

//go:embed words.txt
var words string

// table has the words of words.txt by language and kind.
var table = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(words) {
		if f := strings.SplitN(strings.TrimSpace(line), " ", 3); len(f) == 3 && f[0] != "#" {
			for code := range strings.SplitSeq(f[0], ",") {
				key := code + " " + f[1]
				if f[1] == "clause" || f[1] == "role" {
					out[key] = strings.Fields(f[2])
				} else {
					out[key] = strings.Split(f[2], "|")
				}
			}
		}
	}
	return out
})

// Kinds returns the kinds of changes, in the order in which they take turns.
func Kinds() []string { return []string{"negation", "number", "name", "role", "modality", "dropped"} }

// Change returns text with its meaning changed, or "" if no rule of the kind applies. A new
// name or number is taken from others, the texts of other segments, if one of them has any
// that fits.
func Change(text, kind string, others []string) string {
	code := language.Of(text)
	out := ""
	switch kind {
	case "number":
		if out = digit(text, others); out == "" {
			out = exchange(text, code, kind)
		}
	case "name":
		out = name(text, code, others)
	case "role":
		out = swap(text, code)
	case "dropped":
		out = drop(text, code)
	default:
		out = exchange(text, code, kind)
	}
	if out == text {
		return ""
	}
	return out
}

// exchange applies the first rule that fits. In languages with spaces it matches only
// whole words.
func exchange(text, code, kind string) string {
	space := " "
	if code == "zh" || code == "ja" {
		space = ""
	}
	for _, pair := range table()[code+" "+kind] {
		from, to, _ := strings.Cut(pair, ">")
		if i := strings.Index(text, space+from+space); i >= 0 {
			return text[:i] + space + to + space + text[i+len(space+from+space):]
		}
	}
	return ""
}

var digits = text.Regexp(`\d+`)

// digit replaces the last number by another one with as many digits, or changes its first digit.
func digit(text string, others []string) string {
	all := digits().FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return ""
	}
	at, end := all[len(all)-1][0], all[len(all)-1][1]
	for _, n := range digits().FindAllString(strings.Join(others, " "), -1) {
		if len(n) == end-at && !strings.Contains(text, n) {
			return text[:at] + n + text[end:]
		}
	}
	to := text[at] + 2
	if to > '9' {
		to -= 5
	}
	return text[:at] + string(to) + text[at+1:]
}

// name replaces a capitalised word inside the sentence.
func name(text, code string, others []string) string {
	if !slices.Contains([]string{"en", "fr", "es"}, code) {
		return ""
	}
	fields := strings.Split(text, " ")
	i, was := findName(fields, "")
	if i < 0 {
		return ""
	}
	other := "Valdorf"
	if strings.Contains(text, other) {
		other = "Merano"
	}
	for _, o := range others {
		if at, word := findName(strings.Split(o, " "), text); at > 0 && language.Of(o) == code {
			other = word
			break
		}
	}
	fields[i] = other + fields[i][len(was):]
	return strings.Join(fields, " ")
}

// findName finds the first capitalised word inside a sentence that does not occur in text.
func findName(fields []string, text string) (at int, name string) {
	for i := 1; i < len(fields); i++ {
		before, word := fields[i-1], strings.TrimRight(fields[i], ".,;:!?")
		first, _ := utf8.DecodeRuneInString(word)
		letters := strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
		if utf8.RuneCountInString(word) < 4 || !unicode.IsUpper(first) || !letters || strings.ToUpper(word) == word || strings.Contains(text, word) ||
			before == "" || strings.ContainsAny(before[len(before)-1:], `.!?:"`) || strings.EqualFold(before, "the") {
			continue
		}
		return i, word
	}
	return -1, ""
}

var roles = map[string]func() *regexp.Regexp{
	"en": text.Regexp(`([Tt]he )(\pL+)( (\pL+) the )(\pL+)`),
	"de": text.Regexp(`([Dd]er )(\pL+)( (\pL+) den )(\pL+)`),
	"fr": text.Regexp(`([Ll]e )(\pL+)( (\pL+) le )(\pL+)`),
	"es": text.Regexp(`([Ee]l )(\pL+)( (\pL+) al )(\pL+)`),
}

// swap exchanges what stands before and after a verb.
func swap(text, code string) string {
	if roles[code] == nil {
		return ""
	}
	for _, m := range roles[code]().FindAllStringSubmatchIndex(text, -1) {
		if first, verb, second := text[m[4]:m[5]], text[m[8]:m[9]], text[m[10]:m[11]]; !slices.Contains(table()[code+" role"], verb) {
			return text[:m[4]] + second + text[m[6]:m[7]] + first + text[m[11]:]
		}
	}
	return ""
}

// drop removes the clause after the only comma, or the one before it.
func drop(text, code string) string {
	begins := table()[code+" clause"]
	i := strings.LastIndex(text, ", ")
	if begins == nil || i < 0 {
		return ""
	}
	end := strings.TrimRight(text, `.!?"`)
	head, tail := text[:i], strings.TrimPrefix(end[min(i+2, len(end)):], " ")
	long := func(s string) bool { return len(strings.Fields(s)) >= 3 }
	word := func(s string) string { s, _, _ = strings.Cut(s, " "); return strings.ToLower(s) }
	switch {
	case !long(head) || !long(tail) || strings.Contains(head, ", "):
		return ""
	case slices.Contains(begins, word(tail)):
		return head + text[len(end):]
	case slices.Contains(begins, word(head)):
		r, n := utf8.DecodeRuneInString(tail)
		return string(unicode.ToUpper(r)) + tail[n:] + text[len(end):]
	}
	return ""
}
