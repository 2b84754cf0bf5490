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

	"github.com/refract-eval/refract/internal/text"
)

//go:embed words.txt
var wordTable string

// lexicon has the words of one language.
type lexicon struct {
	entries map[string][]*entry // by scale, the longest words first
	scales  []string
}

// entry is a word, or several, with its classes.
type entry struct {
	pattern string // as it stands in text.plain
	classes []string
	strong  bool // it counts where it is only lost, or only new
	soft    bool // it counts for the words of its class, and never as exchanged
}

// skip is the class of words that others stand in.
const skip = "skip"

var lexicons = sync.OnceValue(func() map[string]*lexicon {
	all := map[string]*lexicon{}
	for line := range strings.Lines(wordTable) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] == "#" {
			continue
		}
		l := all[f[0]]
		if l == nil {
			l = &lexicon{entries: map[string][]*entry{}}
			all[f[0]] = l
		}
		if !slices.Contains(l.scales, f[1]) {
			l.scales = append(l.scales, f[1])
		}
		for _, part := range f[2:] {
			class, words, _ := strings.Cut(part, ":")
			l.add(f[0], f[1], class, strings.Split(words, ","))
		}
	}
	for _, l := range all {
		for _, entries := range l.entries {
			slices.SortStableFunc(entries, func(a, b *entry) int { return cmp.Compare(len(b.pattern), len(a.pattern)) })
		}
	}
	return all
})

func (l *lexicon) add(code, scale, class string, words []string) {
	class, strong := strings.CutPrefix(class, "!")
	class, soft := strings.CutPrefix(class, "~")
	for _, w := range words {
		pattern := strings.ReplaceAll(w, "_", " ")
		if !isDense(code) {
			if pattern = " " + strings.TrimSuffix(pattern, "*"); !strings.HasSuffix(w, "*") {
				pattern += " "
			}
		}
		i := slices.IndexFunc(l.entries[scale], func(e *entry) bool { return e.pattern == pattern })
		if i < 0 {
			i, l.entries[scale] = len(l.entries[scale]), append(l.entries[scale], &entry{pattern: pattern, soft: true})
		}
		e := l.entries[scale][i]
		e.classes, e.strong = append(e.classes, class), e.strong || strong
		e.soft = e.soft && soft
	}
}

// isDense reports whether a language has no spaces between its words.
func isDense(code string) bool { return code == "zh" || code == "ja" }

// words is a text, with what the rules ask of it.
type words struct {
	code  string
	lex   *lexicon
	text  string
	list  []string // its words in lower case
	asks  bool
	alike float64 // the share of words that the two texts have in common
	plain string  // " he did not , he said "; see plainOf
}

func newText(s string) *words {
	s = strings.TrimSpace(s)
	return &words{text: s, list: text.AppendWords(nil, s), asks: strings.ContainsAny(s, "?？")}
}

// short forms in English, and the apostrophe of French as the end of a word.
var apostrophes = strings.NewReplacer("can't", "can not", "cannot", "can not", "won't", "will not", "shan't", "shall not", "n't", " not", "'s ", " is ", "'", "' ")

// plainOf is a text in lower case, each word and each mark between two spaces; one in a
// script without spaces is left as it is.
func (w *words) plainOf() string {
	if w.plain != "" {
		return w.plain
	}
	low := text.Lower(strings.ReplaceAll(w.text, "’", "'"))
	if isDense(w.code) {
		w.plain = low
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
	w.plain = " " + strings.Join(strings.Fields(b.String()), " ") + " "
	return w.plain
}

// hit is a word of a scale that a text has.
type hit struct {
	*entry
	at   int
	word string
}

// hits returns the words of a scale that a text has, in order. Longer ones are taken first.
func (w *words) hits(scale string) (out []hit) {
	plain := []byte(w.plainOf())
	for _, e := range w.lex.entries[scale] {
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
	out = slices.DeleteFunc(out, func(h hit) bool { return slices.Contains(h.classes, skip) })
	slices.SortFunc(out, func(a, b hit) int { return cmp.Compare(a.at, b.at) })
	return out
}
