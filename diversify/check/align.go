package check

import (
	"bytes"
	_ "embed"
	"math/bits"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
)

// class is what a word of the vocabulary does. Those above stop are talk:
// a text about the rewriting, and no part of it, is made of them.
type class uint8

const (
	unknown class = iota
	stop
	task
	aboutText
	do
	self
	reader
	open
	sorry
	classes
)

// weights are what a word counts as talk. A text in the first person, or one
// that greets, is talk only beside a reference that does not.
var weights = [classes]int{task: 3, aboutText: 2, do: 1, self: 1, reader: 1, open: 1, sorry: 2}

//go:embed talk.txt
var talkTable string

// vocabulary has the words of talkTable, and the stems of those with a star.
type vocabulary struct {
	words, stems map[string]class
	heads        map[string]uint64 // the lengths of the stems, as bits, by their first three bytes
}

var talkWords = sync.OnceValue(func() *vocabulary {
	names := map[string]class{"stop": stop, "task": task, "text": aboutText, "do": do, "self": self, "reader": reader, "open": open, "sorry": sorry}
	v := &vocabulary{map[string]class{}, map[string]class{}, map[string]uint64{}}
	for line := range strings.Lines(talkTable) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			for _, w := range words[1:] {
				m := v.words
				if stem, star := strings.CutSuffix(w, "*"); star {
					m, w = v.stems, stem
					v.heads[stem[:3]] |= 1 << min(len(stem), 63)
				}
				if m[w] == unknown {
					m[w] = names[words[0]]
				}
			}
		}
	}
	return v
})

// class returns that of a word in lower case: its own, or that of its longest
// stem, or that of what stands before an apostrophe.
func (v *vocabulary) class(word []byte) class {
	if c := v.words[string(word)]; c != unknown {
		return c
	}
	if len(word) >= 3 {
		lengths := v.heads[string(word[:3])] << (63 - min(len(word), 63)) // of those that are not longer
		for lengths != 0 {
			n := min(len(word), 63) - bits.LeadingZeros64(lengths)
			if c := v.stems[string(word[:n])]; c != unknown {
				return c
			}
			lengths &^= 1 << (63 - bits.LeadingZeros64(lengths))
		}
	}
	for i := range word {
		if a := apostrophe(word, i); a > 0 && i > 0 {
			return v.words[string(word[:i])]
		}
	}
	return unknown
}

// longestDense is the length of the longest word in Chinese, in bytes.
const longestDense = 15

// dense returns the class and size of the word of Chinese at the front of s.
func (v *vocabulary) dense(s []byte) (class, int) {
	for n := min(longestDense, len(s)); n >= 3; n -= 3 {
		if c := v.words[string(s[:n])]; c != unknown {
			return c, n
		}
	}
	return unknown, 0
}

// particles end words of Korean.
const particles = "은는이가을를에의도로와과만"

// key is what different forms of a word have in common: its first letters. Of Korean
// these are two syllables at most, without the particle that ends a word.
func key(word []byte) []byte {
	const syllable = 3 // bytes
	if word[0] >= 0xe1 && unicode.Is(unicode.Hangul, firstRune(string(word))) {
		if n := len(word) - syllable; n > 0 && strings.ContainsRune(particles, lastRune(string(word))) {
			word = word[:n]
		}
		return word[:min(len(word), 2*syllable)]
	}
	const letters = 5
	n := 0
	for i := range string(word) {
		if n == letters {
			return word[:i]
		}
		n++
	}
	if n == letters || n == letters-1 {
		if word[len(word)-1] == 's' {
			word = word[:len(word)-1]
		}
	}
	return word
}

// eachWord calls back with every word of a text in lower case: its class, its
// key, and whether it is of a script without spaces. There a word that is not
// in the vocabulary is each character with the next one.
func eachWord(low []byte, yield func(c class, key []byte, dense bool)) {
	v := talkWords()
	for i := 0; i < len(low); {
		c := low[i]
		if c < utf8.RuneSelf && (c < 'a' || c > 'z') {
			if !isDigit(c) {
				i++
				continue
			}
			end := i
			for end < len(low) && isDigit(low[end]) {
				end++
			}
			yield(unknown, low[i:end], false)
			i = end
			continue
		}
		if c >= 0xe0 {
			if r, n := utf8.DecodeRune(low[i:]); isSpaceless(r) {
				if c, size := v.dense(low[i:]); c != unknown {
					yield(c, low[i:i+size], true)
					i += size
					continue
				}
				next, m := utf8.DecodeRune(low[i+n:])
				if !unicode.IsLetter(next) {
					m = 0
				}
				c := unknown
				if unicode.Is(unicode.Hiragana, r) && (m == 0 || unicode.Is(unicode.Hiragana, next)) {
					c = stop // an ending, a particle
				}
				yield(c, low[i:i+n+m], true)
				i += n
				continue
			}
		}
		n, letter := letterAt(low, i)
		if !letter {
			i += n
			continue
		}
		end := wordEnd(low, i)
		yield(v.class(low[i:end]), key(low[i:end]), false)
		i = end
	}
}

// content is what a reference says, as far as words tell.
type content struct {
	keys  map[string]uint8 // to where the word stands, from 1
	words int              // that are no stop words
	names int              // of these, that are not in the vocabulary
	has   [classes]bool
	// follow has for each word the ones that follow it, as bits, both as keys has them.
	follow [mostSaid]uint64
}

// content of the reference.
func (o *original) content() *content {
	if o.said.keys == nil {
		o.said.keys = map[string]uint8{}
		halves, was := 0, uint8(mostSaid)
		eachWord(o.w.lower(), func(c class, key []byte, dense bool) {
			at := o.said.keys[string(key)]
			if at == 0 {
				at = uint8(min(len(o.said.keys)+1, mostSaid))
				o.said.keys[string(key)] = at
			}
			if was < mostSaid && at < mostSaid {
				o.said.follow[was] |= 1 << at
			}
			was = at
			o.said.has[c] = true
			if c != stop {
				halves += 2
				if dense {
					halves--
				}
				if c == unknown {
					o.said.names++
				}
			}
		})
		o.said.words = (halves + 1) / 2
	}
	return &o.said
}

// fit is what a text, or a part of it, has in common with the reference.
type fit struct {
	words  int  // all of them
	stops  int  // that say nothing
	common int  // of these, that the reference has too
	shared int  // that say something, and that the reference has
	names  int  // of these, that are not in the vocabulary
	own    int  // that say something else
	talk   int  // the weight of those that speak of the task
	task   int  // of that, what tells the task and nothing else
	polite int  // the weight of words to someone that the reference has too, or has the like of
	about  int  // of that, of words that are not said to someone
	open   int  // of polite, of words that open or close a conversation
	sorry  int  // of talk, of words that refuse
	lead   bool // its first word that says something is said of texts
	chars  int
	said   uint64 // which of the reference's words
	script script
}

// lowered is a part in lower case, until the next one.
func (o *original) lowered(part string) []byte {
	o.buffer = text.AppendLower(o.buffer[:0], part)
	return o.buffer
}

// fit compares a part of an answer with the reference.
func (o *original) fit(part string) fit {
	ref := o.content()
	o.lowered(part)
	var halves [classes]int
	shared, names, polite, opens, stops, common, words := 0, 0, 0, 0, 0, 0, 0
	first, lead, said := true, false, uint64(0)
	eachWord(o.buffer, func(c class, key []byte, dense bool) {
		n, at := 2, ref.keys[string(key)]
		if dense {
			n = 1
		}
		words += n
		if first && c != stop {
			first, lead = false, c == aboutText && !ref.has[aboutText]
		}
		switch {
		case c == stop, c == unknown && isDigit(key[0]) && at == 0:
			stops += n
			if at > 0 {
				common += n
			}
		case at > 0 && c < self:
			shared += n
			said |= 1 << (at - 1)
			if c == unknown {
				names += n
			}
		case at > 0:
			polite += weights[c]
		case c >= self && ref.has[c]: // both speak to someone
			polite += weights[c]
			if c == open {
				opens++
			}
		case (c == task || c == aboutText) && ref.has[c]: // both are about texts
			polite += weights[c] * n / 2
		default:
			if c != unknown {
				n = 2
			}
			halves[c] += n
		}
	})
	f := fit{words: (words + 1) / 2, stops: (stops + 1) / 2, common: (common + 1) / 2, shared: (shared + 1) / 2, names: (names + 1) / 2, own: (halves[unknown] + 1) / 2, polite: polite, open: opens, lead: lead, said: said, script: scriptOf(part), chars: runeCount(part)}
	for c, n := range halves {
		f.talk += weights[c] * n / 2
	}
	f.task = (weights[task]*halves[task] + weights[aboutText]*halves[aboutText]) / 2
	f.sorry = weights[sorry] * halves[sorry] / 2
	f.about = f.task + weights[do]*halves[do]/2
	return f
}

// script is one that most letters of a text are of.
type script uint8

const (
	noScript script = iota
	latin
	cyrillic
	han
	kana
	others
)

// scriptOf counts letters. A text with kana is Japanese, whatever it has of
// Chinese.
func scriptOf(t string) script {
	var n [others + 1]int
	for _, r := range t {
		switch {
		case r < 0x250 && unicode.IsLetter(r):
			n[latin]++
		case r < 0x250:
		case r < 0x400:
			n[others]++
		case r < 0x530:
			n[cyrillic]++
		case r >= 0x3041 && r <= 0x30ff:
			n[kana] += 8
		case isDense(r):
			n[han] += 3
		case unicode.IsLetter(r):
			n[others]++
		}
	}
	most := noScript
	for s, k := range n {
		if k > n[most] {
			most = script(s)
		}
	}
	return most
}

// kin reports whether a part has a word of the reference that says something, in
// any form, or a part of one: four letters, or one character of a dense script.
func (o *original) kin(part string) bool {
	o.lowered(part)
	v, ref := talkWords(), o.w.lower()
	if o.dense {
		for i := 0; i < len(o.buffer); {
			_, n := utf8.DecodeRune(o.buffer[i:])
			if n == 3 && v.words[string(o.buffer[i:i+n])] == unknown && bytes.Contains(ref, o.buffer[i:i+n]) && isDense(firstRune(string(o.buffer[i:i+n]))) {
				return true
			}
			i += n
		}
	}
	for word := range wordsOf(o.buffer) {
		if v.class(word) == stop {
			continue
		}
		const letters = 4
		var starts [letters]int
		for n, i := 0, 0; i <= len(word); n++ {
			if n >= letters && bytes.Contains(ref, word[starts[n%letters]:i]) {
				return true
			}
			starts[n%letters] = i
			_, size := utf8.DecodeRune(word[i:])
			i += max(size, 1)
		}
	}
	return false
}

// foreign reports whether a part is in another script than the reference.
func (o *original) foreign(f fit) bool {
	return f.script != noScript && o.script != noScript && f.script != o.script && f.names == 0 && f.words > 0
}

// margin says how much more a part speaks of the task than of anything else.
func (f fit) margin() int { return f.talk - f.own - 2*f.shared }

// isTalk reports whether a part beside others is about the task.
func (f fit) isTalk() bool {
	m := f.margin()
	if f.lead && f.shared <= 1 {
		m += 2
	}
	return f.words > 0 && m >= 1 && (f.talk >= 2 || f.words <= 2 && f.stops == 0)
}

// quality is how well a part corresponds to the reference, up to 1.2: by the
// words that both have, and, a little, by length.
func (o *original) quality(f fit) float64 {
	said := o.content().words
	q := 0.0
	if f.shared > 0 {
		q = 2 * float64(f.shared) / float64(said+f.shared+f.own+f.talk/2)
	}
	if o.chars > 0 && f.chars > 0 {
		a, b := float64(f.chars), float64(o.chars)
		q += 0.2 * min(a/b, b/a)
	}
	return q
}

// choose returns which of several texts, of which one may be the rewriting,
// corresponds to the reference, or -1. What repeats the reference, and what
// speaks of the task, is none. Of several that correspond it is the first.
func (o *original) choose(texts []string) int {
	best, quality := -1, 0.0
	echo := -1
	all := make([]float64, len(texts))
	for i, t := range texts {
		if !hasLetter(t) && hasLetter(o.text) || !says(t) || strings.ContainsAny(t, "→⇒➔➜") && !strings.ContainsAny(o.text, "→⇒➔➜") {
			continue
		}
		if o.echoes(t) {
			echo = i
			continue
		}
		f := o.fit(t)
		if f.isTalk() || o.foreign(f) || o.chars > 0 && 5*f.chars < o.chars && f.shared == 0 {
			continue
		}
		all[i] = o.quality(f)
		if all[i] > quality {
			best, quality = i, all[i]
		}
	}
	for i, q := range all {
		if n := runeCount(texts[i]); q >= 0.25*quality && q > 0 && 2*n >= o.chars && n <= 2*o.chars {
			return i
		}
	}
	if best < 0 {
		return echo
	}
	return best
}

// echoes reports whether a text is the reference, but for what wraps it.
func (o *original) echoes(t string) bool {
	if o.text == "" || len(t) < len(o.text)/2 || len(t) > 2*len(o.text)+160 {
		return false
	}
	if i := strings.Index(t, o.text); i >= 0 {
		rest := t[:i] + t[i+len(o.text):]
		f := o.fit(rest)
		return !says(rest) || f.shared == 0 && (f.isTalk() || f.words <= 1)
	}
	o.buffer = appendNormalized(o.buffer[:0], t)
	return len(o.buffer) > 0 && string(o.buffer) == string(o.w.normalized())
}
