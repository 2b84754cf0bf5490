package check

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
)

// original is a reference, with what the checks ask of it. What costs more
// than a look at its ends is computed when it is first needed.
type original struct {
	text      string // without white space around
	chars     int
	letters   int
	dense     bool // most letters are of a script without spaces between words
	w         work
	relaxed   bool // the list number has been made weak
	dates     dates
	dated     bool // dates have been found
	words     map[string]bool
	said      content
	parts     int // of the text; 0 before they are counted
	heads     bool
	opening   int // words of its first part
	buffer    []byte
	pair      []byte  // of phrases
	shown     aspects // of a block
	seen      view
	taken     fit  // of what was taken off the answer as talk
	thinks    bool // the answer is a thought that was cut off
	names     map[string]bool
	other     func(rest, answer string) (string, error) // by the Detector
	script    script
	tongue    uint64 // its language, as a bit of tongues
	hasTongue bool
	ends      ending
}

func newOriginal(text string) *original {
	o := &original{text: strings.TrimSpace(text)}
	o.chars = runeCount(o.text)
	dense := 0
	for _, r := range o.text {
		if r < utf8.RuneSelf && ('a' <= r|0x20 && r|0x20 <= 'z') || r >= utf8.RuneSelf && unicode.IsLetter(r) {
			o.letters++
			if isSpaceless(r) {
				dense++
			}
		}
	}
	o.dense = 2*dense > o.letters
	o.w.reset(o.text)
	o.w.low = make([]byte, 0, len(o.text)+8)
	o.ends = endingOf(o.text)
	o.script = scriptOf(o.text)
	return o
}

// units is how many parts the text has, and whether one is a head.
func (o *original) units() (n int, heads bool) {
	if o.parts == 0 {
		parts := o.cut(o.text, nil)
		o.parts = len(parts)
		o.opening = len(strings.Fields(o.text[:parts[0].end]))
		o.heads = slices.ContainsFunc(parts, func(p part) bool { return p.kind == head })
	}
	return o.parts, o.heads
}

// isSpaceless reports whether a letter is of a script without spaces between
// words.
func isSpaceless(r rune) bool {
	return r >= 0x0e00 && (isDense(r) || unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// numbers are those of the text; its list number is weak.
func (o *original) numbers() *statedNumbers {
	ns := o.w.numbers()
	if !o.relaxed {
		o.relaxed = true
		ns.relaxLabel()
	}
	return ns
}

// hasWord reports whether a word in lower case occurs in the text.
func (o *original) hasWord(word []byte) bool {
	if o.words == nil {
		o.words = map[string]bool{}
		for w := range wordsOf(o.w.lower()) {
			o.words[string(w)] = true
		}
	}
	return o.words[string(word)]
}

// hasName reports whether a word in lower case occurs in the text with a
// capital, and not as its first word.
func (o *original) hasName(word []byte) bool {
	if o.names == nil {
		o.names = map[string]bool{}
		first := true
		for w := range wordsOf([]byte(o.text)) {
			if r, _ := utf8.DecodeRune(w); !first && unicode.IsUpper(r) {
				o.names[string(text.AppendLower(nil, string(w)))] = true
			}
			first = false
		}
	}
	return o.names[string(word)]
}

// work holds a text in the forms that several checks need. Its buffers are
// used again for the next text.
type work struct {
	text    string
	low     []byte
	hasLow  bool
	norm    []byte
	hasNorm bool
	rest    []byte // words that the reference lacks
	nums    statedNumbers
	hasNums bool
}

func (w *work) reset(text string) {
	w.text, w.hasLow, w.hasNorm, w.hasNums = text, false, false, false
}

// lower is the text in lower case.
func (w *work) lower() []byte {
	if !w.hasLow {
		w.low, w.hasLow = text.AppendLower(w.low[:0], w.text), true
	}
	return w.low
}

// numbers are those of the text.
func (w *work) numbers() *statedNumbers {
	if !w.hasNums {
		w.nums.scan(w.lower())
		w.hasNums = true
	}
	return &w.nums
}

// wordsOf yields the runs of letters of a text, with apostrophes inside them.
func wordsOf(s []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for i := 0; i < len(s); {
			n, letter := letterAt(s, i)
			if !letter {
				i += n
				continue
			}
			end := wordEnd(s, i)
			if !yield(s[i:end]) {
				return
			}
			i = end
		}
	}
}

// letterAt returns the size of the character at i, and whether it is a letter
// or a combining mark.
func letterAt(s []byte, i int) (size int, letter bool) {
	c := s[i]
	if c < utf8.RuneSelf {
		return 1, 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	r, n := utf8.DecodeRune(s[i:])
	return n, unicode.IsLetter(r) || unicode.Is(unicode.Mn, r)
}

// wordEnd returns where the word that begins at i ends.
func wordEnd(s []byte, i int) int {
	for i < len(s) && 'a' <= s[i] && s[i] <= 'z' {
		i++
	}
	for i < len(s) {
		n, letter := letterAt(s, i)
		if !letter {
			if a := apostrophe(s, i); a > 0 && i+a < len(s) {
				if _, next := letterAt(s, i+a); next {
					i += a
					continue
				}
			}
			break
		}
		i += n
	}
	return i
}

// apostrophe returns the size of an apostrophe at i, or 0.
func apostrophe(s []byte, i int) int {
	switch {
	case s[i] == '\'':
		return 1
	case s[i] == 0xe2 && i+2 < len(s) && s[i+1] == 0x80 && s[i+2] == 0x99:
		return 3 // ’
	}
	return 0
}

func runeCount(s string) int { return utf8.RuneCountInString(s) }

func hasLetter(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) >= 0 }

// quote writes a text for a detail: escaped, and cut when it is long.
func quote(s string) string {
	const most = 60
	if len(s) <= most {
		return strconv.Quote(s)
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(s[:cut]) + "…"
}
