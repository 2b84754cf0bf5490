package check

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// item is one of several texts that are numbered.
type item struct {
	n           int    // which it is, from 1
	word, label string // as in "Version B", in lower case; the word may be ""
	from, to    int    // its parts
}

// ordinal is a label of an item that tells which it is: "1.", "(b)", "Option 2", "Version II:".
var ordinal = regexp.MustCompile(`^(?:(\pL+) )?[(（\[]?(?:(\d)|([IVX]+|[ivx]+)|([A-Ha-h])|([А-Да-д])|([一二三四五六七八九]))(?:[.):：）\]、]| [(（]|\n)`)

// itemOf reads the label in front of a line; n is 0 where it has none.
func itemOf(line string) (it item) {
	m := ordinal.FindStringSubmatch(line)
	if m == nil {
		label, _, _ := strings.Cut(line[:min(len(line), mostLabel)], "\n")
		if label, _, ok := strings.Cut(label, ":"); ok {
			if words := strings.Fields(strings.ToLower(label)); len(words) > 0 && len(words) <= 2 {
				it.n, it.word = 1+ordinalWord(words[0]), strings.Join(words[1:], " ")
			}
		}
		return it
	}
	it.word = strings.ToLower(m[1])
	it.label = strings.ToLower(m[2] + m[3] + m[4] + m[5] + m[6])
	switch {
	case m[2] != "":
		it.n = int(m[2][0] - '0')
	case m[3] != "":
		it.n = 1 + slices.Index([]string{"i", "ii", "iii", "iv", "v"}, it.label)
	case m[4] != "":
		it.n = 1 + int(it.label[0]-'a')
	case m[5] != "":
		it.n = 1 + int(firstRune(it.label)-'а')
	default:
		it.n = 1 + strings.Index("一二三四五六七八九", m[6])/len("一")
	}
	return it
}

// mostLabel bounds labels, in bytes.
const mostLabel = 48

// ordinalWord returns which place a word names, from 0, or -1.
func ordinalWord(w string) int {
	return slices.IndexFunc(ordinals[:], func(of []string) bool {
		return slices.ContainsFunc(of, func(o string) bool { return strings.HasPrefix(w, o) })
	})
}

// items returns what is numbered in a row from 1, a line each.
func (v *view) items() (out []item) {
	v.lines(func(a, b int, f fit) {
		it := itemOf(strings.TrimLeft(v.text[v.parts[a].begin:], "-*•+ "))
		if it.n != len(out)+1 || len(out) > 0 && it.word != out[0].word {
			return
		}
		line := strings.TrimSpace(v.text[v.parts[a].begin:v.parts[b-1].end])
		if b-a == 1 && b < len(v.parts) && (endsLead(line) || len(line) <= len(it.word)+1+len(it.label)) {
			b++ // the label has a line of its own
		}
		it.from, it.to = a, b
		out = append(out, it)
	})
	return out
}

// body returns the parts of an item without its label, if it may be a rewriting.
func (v *view) body(o *original, it item) (from, to int, ok bool) {
	from, to = it.from, it.to
	for from < to-1 && (v.parts[from].kind == head && v.parts[from].fit.words <= 5 || from == it.from && v.parts[from].fit.words <= 2) {
		from++
	}
	f := v.fit(from, to)
	return from, to, 5*f.chars >= 2*o.chars && f.chars <= 2*o.chars+20 && !v.parts[from].echo && v.parts[from].raw >= -1
}

// series returns the first item of a list in place of a later one, where it may be a rewriting too.
func (v *view) series(o *original, items []item, from, to int) (int, int) {
	if len(items) < 2 || from < items[1].from || v.final(items[0].from, items[0].to, from) ||
		!slices.ContainsFunc(items, func(it item) bool { return it.from <= from && from < it.to }) {
		return from, to
	}
	if a, b, ok := v.body(o, items[0]); ok {
		v.other = true
		return a, b
	}
	return from, to
}

// picks are in a sentence that says which of several texts is the best, ifs in one that says when,
// and ordinals name it, as beginnings of words.
var (
	picks = append(strings.Fields("final best better recommend prefer pick choos chose suggest favo strongest clearest closest natural "+
		"beste besser endgültig finale empfehl empfiehl bevorzug лучш итог финаль рекоменд предпоч выбир выбр 最好 最佳 最终 推荐 选择 "+
		"mejor meilleur préfèr conseill miglior consigli scelgo melhor raad voorkeur definiti"), " use ")
	ifs      = strings.Fields("if when unless wenn falls если когда 如果 若")
	ordinals = [...][]string{
		strings.Fields("first erste перв 第一 primer premi eerste"),
		strings.Fields("second zweite втор 第二 segund deuxi tweede"),
		strings.Fields("third dritte трет 第三 tercer troisi terz derde"),
		strings.Fields("fourth vierte четв 第四 cuart quatri quart vierde"),
	}
)

// picked returns the item that a line behind the list says is the best, as in "I prefer version B", if
// it may be a rewriting.
func (v *view) picked(o *original, items []item) (from, to int, ok bool) {
	if len(items) < 2 {
		return 0, 0, false
	}
	v.lines(func(a, b int, f fit) {
		if ok || a < items[len(items)-1].to {
			return
		}
		line := v.text[v.parts[a].begin:v.parts[b-1].end]
		for line != "" && !ok {
			end := 1 + strings.IndexAny(line, ".!?。！？\n")
			if end == 0 || end < len(line) && !unicode.IsSpace(firstRune(line[end:])) && line[end-1] < 0x80 {
				end = len(line)
			}
			if it := named(items, line[:end]); it >= 0 {
				from, to, ok = v.body(o, items[it])
			}
			line = line[end:]
		}
	})
	return from, to, ok
}

// named returns the first item that a sentence names and says is the best, or -1.
func named(items []item, sentence string) int {
	if !labelled(" "+sentence, picks) {
		return -1
	}
	words := strings.FieldsFunc(strings.ToLower(sentence), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",.;:!?—–-*\"“”'", r) })
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(ifs, w) }) {
		return -1
	}
	for k, w := range words {
		bare := strings.Trim(w, "()[]#（）")
		for i, it := range items {
			switch {
			case it.label != "" && bare == it.label && it.word != "" && k > 0 && words[k-1] == it.word,
				it.label != "" && bare == it.label && it.word == "" && (bare != w || isDigit(bare[0])),
				i == ordinalWord(w):
				return i
			}
		}
	}
	return -1
}
