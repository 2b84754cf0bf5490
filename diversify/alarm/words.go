package alarm

import (
	"bytes"
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/diversify/language"
	"github.com/refract-eval/refract/internal/text"
)

//go:embed words.txt
var wordTable string

// lexicon is the word list of one language, by scale, with the longest words first.
type lexicon map[string][]*entry

// entry is a word or phrase with its classes.
type entry struct {
	pattern string // as in words.plain
	begins  uint16 // see beginning
	classes []string
	strong  bool // raises an alarm even if it was only removed or only added
	soft    bool // matches words of its class in the other text, but raises no alarm itself
}

var lexicons = sync.OnceValue(func() map[string]lexicon {
	all := map[string]lexicon{}
	for line := range strings.Lines(wordTable) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] == "#" {
			continue
		}
		if all[f[0]] == nil {
			all[f[0]] = lexicon{}
		}
		for _, part := range f[2:] {
			class, words, _ := strings.Cut(part, ":")
			all[f[0]].add(f[0], f[1], class, strings.Split(words, ","))
		}
	}
	for _, l := range all {
		for _, entries := range l {
			slices.SortStableFunc(entries, func(a, b *entry) int { return cmp.Compare(len(b.pattern), len(a.pattern)) })
		}
	}
	return all
})

func (l lexicon) add(code, scale, class string, words []string) {
	class, strong := strings.CutPrefix(class, "!")
	class, soft := strings.CutPrefix(class, "~")
	for _, w := range words {
		pattern := strings.ReplaceAll(w, "_", " ")
		if !isDense(code) {
			if pattern = " " + strings.TrimSuffix(pattern, "*"); !strings.HasSuffix(w, "*") {
				pattern += " "
			}
		}
		i := slices.IndexFunc(l[scale], func(e *entry) bool { return e.pattern == pattern })
		if i < 0 {
			i, l[scale] = len(l[scale]), append(l[scale], &entry{pattern: pattern, begins: beginning(pattern), soft: true})
		}
		e := l[scale][i]
		e.classes, e.strong = append(e.classes, class), e.strong || strong
		e.soft = e.soft && soft
	}
}

// isDense reports whether a language has no spaces between its words.
func isDense(code string) bool { return code == "zh" || code == "ja" }

// words is a text, prepared for the rules.
type words struct {
	code  string
	lex   lexicon
	text  string
	asks  bool
	alike float64  // share of words that the two texts have in common
	split []string // list keeps its words here
	plain string   // " he did not , he said "

	begins [beginnings]bool // at some byte of plain; always true for 0
}

// questionMarks are those of Latin, Chinese, Arabic and Armenian script, and Greek's own character.
const questionMarks = "?？؟՞\u037e"

// newTexts prepares a reference and its variant, which are in the language with this code, or if
// it is "" in the one that their frequent words show.
func newTexts(code, reference, variant string) (ref, got *words) {
	code, _, _ = strings.Cut(strings.ToLower(strings.ReplaceAll(code, "_", "-")), "-") // pt_BR, zh-Hant
	code = cmp.Or(code, language.Of(reference), language.Of(variant))
	return newText(reference, code), newText(variant, code)
}

func newText(s, code string) *words {
	s = strings.TrimSpace(s)
	asks := strings.ContainsAny(s, questionMarks) || code == "ja" && strings.HasSuffix(strings.TrimRight(s, "。"), "か") || code == "el" && strings.HasSuffix(s, ";")
	w := &words{code: code, lex: lexicons()[code], text: s, asks: asks, plain: plain(s, code)}
	w.begins[0] = true
	for i := range w.plain {
		w.begins[beginning(w.plain[i:])] = true
	}
	return w
}

// list returns the words of a text in lower case.
func (w *words) list() []string {
	if w.split == nil {
		w.split = text.AppendWords([]string{}, w.text)
	}
	return w.split
}

// apostrophes expands English short forms, and lets the French apostrophe end a word.
var apostrophes = strings.NewReplacer("can't", "can not", "cannot", "can not", "won't", "will not", "shan't", "shall not", "n't", " not", "'s ", " is ", "'", "' ")

// plain returns a text in lower case with spaces around each word and mark. In languages
// without spaces it returns the text unchanged.
func plain(s, code string) string {
	low := text.Lower(strings.ReplaceAll(s, "’", "'"))
	if isDense(code) {
		return low
	}
	low = apostrophes.Replace(low)
	var b strings.Builder
	b.WriteByte(' ')
	for i, r := range low {
		next, _ := utf8.DecodeRuneInString(low[i+utf8.RuneLen(r):])
		switch {
		case unicode.IsSpace(r), r == '-', r == '‑':
			b.WriteByte(' ')
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '\'', unicode.Is(unicode.Mn, r), unicode.IsDigit(next) && (r == '.' || r == ','):
			b.WriteRune(r)
		default:
			b.WriteString(" " + string(r) + " ")
		}
	}
	return " " + strings.Join(strings.Fields(b.String()), " ") + " "
}

// hit is an occurrence of a word of a scale in a text.
type hit struct {
	*entry
	at   int
	word string
}

// beginnings is the bound of what beginning returns.
const beginnings = 1 << 12

// beginning returns a number for the first three bytes of a text, the same for equal bytes, so that few
// patterns are looked for where they are not. It is 0 for a shorter text.
func beginning(s string) uint16 {
	if len(s) < 3 {
		return 0
	}
	return (uint16(s[0])<<9 ^ uint16(s[1])<<5 ^ uint16(s[2])) % beginnings
}

// hits returns the words of a scale that occur in a text, in order. Longer matches win.
func (w *words) hits(scale string) (out []hit) {
	plain := []byte(w.plain)
	for _, e := range w.lex[scale] {
		if !w.begins[e.begins] {
			continue
		}
		for from := 0; ; {
			i := bytes.Index(plain[from:], []byte(e.pattern))
			if i < 0 {
				break
			}
			i += from
			begin, end := i, i+len(e.pattern)
			if !isDense(w.code) {
				begin++
				if e.pattern[len(e.pattern)-1] == ' ' {
					end--
				} else if n := bytes.IndexByte(plain[end:], ' '); n >= 0 {
					end += n
				}
			}
			out = append(out, hit{e, begin, string(plain[begin:end])})
			for k := begin; k < end; k++ {
				plain[k] = 0
			}
			from = end
		}
	}
	out = slices.DeleteFunc(out, func(h hit) bool { return slices.Contains(h.classes, "skip") })
	slices.SortFunc(out, func(a, b hit) int { return cmp.Compare(a.at, b.at) })
	return out
}
