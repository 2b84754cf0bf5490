package language

import (
	_ "embed"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/refract-eval/refract/internal/text"
)

//go:embed languages.txt
var frequentTable string

// frequent has the frequent words and the letters of languages. Bit i of a value stands for
// the language codes[i].
type frequent struct {
	codes   []string
	words   map[string]uint64
	letters map[rune]uint64
}

var frequentWords = sync.OnceValue(func() *frequent {
	f := &frequent{words: map[string]uint64{}, letters: map[rune]uint64{}}
	for line := range strings.Lines(frequentTable) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		i := slices.Index(f.codes, fields[0])
		if i < 0 {
			i, f.codes = len(f.codes), append(f.codes, fields[0])
		}
		for _, w := range fields[1:] {
			letters, ok := strings.CutPrefix(w, "=")
			if !ok {
				f.words[w] |= 1 << i
				continue
			}
			for _, r := range letters {
				f.letters[r] |= 1 << i
			}
		}
	}
	return f
})

// languages returns the languages that have a word, or its part before an apostrophe. A single
// letter belongs to none.
func (f *frequent) languages(word string) uint64 {
	if len([]rune(word)) == 1 {
		return 0
	}
	m := f.words[word]
	if i := strings.IndexAny(word, "'’"); m == 0 && i > 0 {
		m = f.words[word[:i]+"'"]
	}
	return m
}

// most returns the languages with the most words of a text, or 0, and the number of these words.
// Names do not count. Cyrillic text in which all letters are Russian may be Russian.
func (f *frequent) most(t string) (own uint64, most int) {
	var counts [64]int
	for i, w := range text.LetterRuns(t) {
		if r := []rune(w)[0]; i > 0 && unicode.IsUpper(r) {
			continue
		}
		for m := f.languages(strings.ToLower(w)); m != 0; m &= m - 1 {
			counts[bits.TrailingZeros64(m)]++
		}
	}
	most = slices.Max(counts[:])
	for i, n := range counts {
		if n > 0 && n >= most-most/3 {
			own |= 1 << i
		}
	}
	cyrillic := strings.ContainsFunc(t, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) })
	if cyrillic && !strings.ContainsFunc(strings.ToLower(t), func(r rune) bool { return r >= 0x400 && f.letters[r] != 0 }) {
		own |= 1 << slices.Index(f.codes, "ru")
	}
	return own, most
}

const (
	// surely is the number of words that settle the language of a reference.
	surely = 2
	// Fewer of a reference's words than one in leastOf settle nothing.
	leastOf = 6
	// An answer is in another language if it has leastWords words of that language, and
	// moreWords more for each word of the reference's language.
	leastWords, moreWords = 2, 3
	// mixedWords in a row are enough anywhere; a word of the reference's language
	// subtracts ownWord from them.
	mixedWords, ownWord = 4, 2
)

// other returns the code of a language, not among own, that the words belong to, all of them or
// some in a row; or "". Words that both have do not count. A letter that own languages
// never use counts as a word.
func (f *frequent) other(own uint64, rest string) string {
	var theirs, ours, row, marked [64]int
	for _, w := range text.LetterRuns(rest) {
		m, letters := f.languages(w), uint64(0)
		for _, r := range w {
			if l := f.letters[r]; l&own == 0 {
				letters |= l
			}
		}
		for i, code := range f.codes {
			bit := uint64(1) << i
			if letters&bit != 0 {
				marked[i]++
			}
			switch {
			case bit&own != 0:
			case m&bit != 0 && m&own == 0:
				theirs[i]++
				if row[i]++; row[i] >= mixedWords {
					return code
				}
			case m&own != 0 && m&bit == 0:
				ours[i]++
				row[i] = max(0, row[i]-ownWord)
			}
		}
	}
	best, most := "", 0
	for i, code := range f.codes {
		if n := theirs[i] + min(marked[i], leastWords); n >= leastWords+moreWords*ours[i] && n > most {
			best, most = code, n
		}
	}
	return best
}

// relatives lists languages that share so many words that only models tell them apart.
var relatives = [][]string{{"cs", "pl", "sk"}, {"da", "nb", "sv"}, {"hr", "sl", "sr"}, {"ca", "es", "pt"}, {"bg", "mk", "sr"}, {"be", "ru", "uk"}}

// close reports whether a language is a relative of one of those in own.
func (f *frequent) close(own uint64, code string) bool {
	return slices.ContainsFunc(relatives, func(of []string) bool {
		return slices.Contains(of, code) && slices.ContainsFunc(of, func(c string) bool { return own&(1<<slices.Index(f.codes, c)) != 0 })
	})
}

// Of returns the code of the language of a text, by its script and then by the language with
// the most of its frequent words; "" if it has none. Of two languages with the same words it
// returns the one that is first in languages.txt.
func Of(t string) string {
	switch has := func(table *unicode.RangeTable) bool {
		return strings.ContainsFunc(t, func(r rune) bool { return unicode.Is(table, r) })
	}; {
	case has(unicode.Hiragana), has(unicode.Katakana):
		return "ja"
	case has(unicode.Han):
		return "zh"
	}
	f := frequentWords()
	var counts [64]int
	own, _ := f.most(t)
	best := 0
	for _, w := range text.LetterRuns(strings.ToLower(t)) {
		for m := f.languages(w) & own; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			if counts[i]++; counts[i] > counts[best] || counts[i] == counts[best] && i < best {
				best = i
			}
		}
	}
	switch {
	case counts[best] > 0:
		return f.codes[best]
	case own != 0 && strings.ContainsFunc(t, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }):
		return "ru"
	}
	return ""
}
