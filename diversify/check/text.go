package check

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/refract-eval/refract/internal/text"
)

//go:embed talk.txt
var talkTable string

// class says what a word of talk.txt is about.
type class uint8

const (
	unknown class = iota
	stop          // function word
	task          // about rewriting, and rarely about anything else
	texts         // about texts
	do            // about what one does with a text
	self          // names the writer
	reader        // names the reader
	open          // opens or closes a conversation
	sorry         // begins or makes a refusal
	classes
)

// classNames are the names of classes in talk.txt, and weight is how strongly a word of a class
// suggests that a sentence is about the task. Polite words can make one of several sentences
// talk; a whole answer must name the task.
var classNames = [classes]string{stop: "stop", task: "task", texts: "text", do: "do", self: "self", reader: "reader", open: "open", sorry: "sorry"}

var weight = [classes]float64{task: 3, sorry: 2, texts: 1.5, open: 1, reader: 1, do: 0.7, self: 0.7}

// lexicon has the words of talk.txt: whole words, and stems, which have a star there.
type lexicon struct{ words, stems map[string]class }

var talkWords = sync.OnceValue(func() *lexicon {
	l := &lexicon{map[string]class{}, map[string]class{}}
	for line := range strings.Lines(talkTable) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		c := class(max(0, slices.Index(classNames[1:], fields[0])+1))
		for _, w := range fields[1:] {
			to := l.words
			stem, isStem := strings.CutSuffix(w, "*")
			if isStem {
				to = l.stems
			}
			if to[stem] == unknown {
				to[stem] = c
			}
		}
	}
	return l
})

func (l *lexicon) class(word string) class {
	c := l.words[word]
	for end := len(word); end > 1 && c == unknown; end-- {
		c = l.stems[word[:end]]
	}
	return c
}

// word is a word of a text: its class and its key, which all forms of a word share.
type word struct {
	key   string
	class class
}

// longestDense is the maximum length of words of talk.txt in scripts without spaces.
const longestDense = 6

// stemLength is the number of letters that forms of a word must share.
const stemLength = 5

// wordsOf returns the words of a text in lower case. In scripts without spaces, words are
// those of talk.txt and single characters.
func wordsOf(t string) (out []word) {
	l := talkWords()
	t = strings.ToLower(strings.ReplaceAll(t, "’", "'"))
	for i := 0; i < len(t); {
		r, n := utf8.DecodeRuneInString(t[i:])
		if !isWord(r) {
			i += n
			continue
		}
		if text.IsUnspaced(r) {
			w := word{key: t[i : i+n]}
			for end, k := i, 0; end < len(t) && k < longestDense; k++ {
				r, n := utf8.DecodeRuneInString(t[end:])
				if !text.IsUnspaced(r) {
					break
				}
				end += n
				if c := l.words[t[i:end]]; c != unknown {
					w = word{t[i:end], c}
				}
			}
			out = append(out, w)
			i += len(w.key)
			continue
		}
		end := i
		for end < len(t) {
			r, n := utf8.DecodeRuneInString(t[end:])
			if text.IsUnspaced(r) || !isWord(r) && !(r == '\'' && isWord(firstRune(t[end+n:]))) {
				break
			}
			end += n
		}
		w := word{t[i:end], l.class(t[i:end])}
		if w.class == unknown {
			if before, _, ok := strings.Cut(w.key, "'"); ok {
				w = word{before, l.class(before)}
			}
		}
		w.key = stem(w.key)
		out = append(out, w)
		i = end
	}
	return out
}

// stem returns the beginning of a word, which its other forms share.
func stem(w string) string {
	r := []rune(w)
	return string(r[:min(len(r), stemLength)])
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

func firstRune(s string) rune { r, _ := utf8.DecodeRuneInString(s); return r }
func lastRune(s string) rune  { r, _ := utf8.DecodeLastRuneInString(s); return r }
func chars(s string) int      { return utf8.RuneCountInString(s) }
func says(s string) bool      { return strings.ContainsFunc(s, isWord) }

// isStop reports whether a character ends a sentence in any script.
func isStop(r rune) bool {
	return r == '.' || r == '!' || r == '?' || r == '…' || r == '⋯' || r > unicode.MaxASCII && unicode.Is(unicode.STerm, r)
}

// normalize returns the form in which texts are compared for copies and duplicates: NFKC, in
// lower case (ß as ss), without apostrophes, and with one space for each run of punctuation and
// white space, except points and commas inside numbers.
func normalize(s string) string {
	var b strings.Builder
	space := false
	rs := []rune(norm.NFKC.String(s))
	digit := func(i int) bool { return i >= 0 && i < len(rs) && unicode.IsDigit(rs[i]) }
	for i, r := range rs {
		switch {
		case r == '\'' || r == '’' || r == '‘':
			continue
		case unicode.IsSpace(r), unicode.IsControl(r), unicode.Is(unicode.Cf, r), (unicode.IsPunct(r) || strings.ContainsRune("`^~", r)) && !(digit(i-1) && digit(i+1)):
			space = true
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.NewReplacer("ß", "ss", "ς", "σ").Replace(b.String())
}

func quote(s string) string { return text.Quote(s) }

// original is a reference or a source, prepared for the checks.
type original struct {
	text    string // without surrounding white space
	chars   int
	dense   bool // most letters belong to a script without spaces between words
	norm    func() string
	list    []word          // its words, in order
	words   map[string]bool // their keys
	content int             // number of content words
	classes [classes]bool   // classes of its words
	plain   map[string]bool // words in lower case; true for names, which have a capital and are not the first word
	parts   func() int      // number of sentences

	other func(rest, answer string) string // the Detector's function for this reference
	seen  struct {                         // see view
		of    string
		lines []line
	}
}

func newOriginal(t string) *original {
	t = strings.TrimSpace(t)
	o := &original{text: t, chars: chars(t), words: map[string]bool{}, plain: map[string]bool{}}
	o.norm = sync.OnceValue(func() string { return normalize(t) })
	o.parts = sync.OnceValue(func() int { return len(o.sentences(t)) + strings.Count(t, ";") + strings.Count(t, "；") })
	letters := strings.FieldsFunc(t, func(r rune) bool { return !unicode.IsLetter(r) })
	dense := strings.FieldsFunc(t, func(r rune) bool { return !text.IsUnspaced(r) })
	o.dense = 2*chars(strings.Join(dense, "")) > chars(strings.Join(letters, ""))
	o.list = wordsOf(t)
	for _, w := range o.list {
		if !o.words[w.key] && w.class != stop {
			o.content++
		}
		o.words[w.key], o.classes[w.class] = true, true
	}
	for i, w := range text.LetterRuns(t) {
		low := strings.ToLower(w)
		o.plain[low] = o.plain[low] || i > 0 && unicode.IsUpper(firstRune(w))
	}
	return o
}

// has reports whether the reference has one of these characters.
func (o *original) has(any string) bool { return strings.ContainsAny(o.text, any) }

func (o *original) lines() bool { return strings.Contains(o.text, "\n") }

// evidence counts the words of a text that the reference has, and those of talk.
type evidence struct {
	chars  int
	shared int // distinct content words that the reference has
	own    int // content words that it lacks and that are not talk
	talk   float64
	task   float64 // part of talk from words about the task, a text, or a refusal
	sorry  int
	words  int
}

// evidence counts the words of a text. Words of the reference never count as talk.
func (o *original) evidence(t string) (e evidence) {
	e.chars = chars(strings.TrimSpace(t))
	seen := map[string]bool{}
	for _, w := range wordsOf(t) {
		e.words++
		switch {
		case seen[w.key]:
		case o.words[w.key]:
			if w.class != stop {
				e.shared++
			}
		case w.class == unknown:
			e.own++
		default:
			e.talk += weight[w.class]
			if w.class == sorry || (w.class == task || w.class == texts) && !o.classes[w.class] {
				e.task += weight[w.class]
			}
			if w.class == sorry {
				e.sorry++
			}
		}
		seen[w.key] = true
	}
	return e
}

// isTalk reports whether one of several parts of an answer is about the task and does not
// belong to the rewriting.
func (e evidence) isTalk() bool {
	return e.talk > 1+0.8*float64(e.shared)+0.4*float64(e.own) || e.shared+e.own == 0 && e.talk > 0.5
}

// echoes reports whether a text is the reference, or most of it unchanged.
func (o *original) echoes(t string) bool {
	n := normalize(t)
	return n != "" && n == o.norm()
}
