package check

import (
	"bytes"
	_ "embed"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
)

//go:embed languages.txt
var languageTable string

// tongues are the languages of languageTable, as bits by their place in codes.
type tongues struct {
	codes   []string
	words   map[string]uint64
	letters map[rune]uint64
}

var knownTongues = sync.OnceValue(func() *tongues {
	k := &tongues{words: map[string]uint64{}, letters: map[rune]uint64{}}
	for line := range strings.Lines(languageTable) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		i := slices.Index(k.codes, fields[0])
		if i < 0 {
			i, k.codes = len(k.codes), append(k.codes, fields[0])
		}
		for _, w := range fields[1:] {
			if letters, ok := strings.CutPrefix(w, "="); ok {
				for _, r := range letters {
					k.letters[r] |= 1 << i
				}
			} else {
				k.words[w] |= 1 << i
			}
		}
	}
	return k
})

// of returns the languages that have a word, or what it begins with up to an
// apostrophe. One letter alone is of no language.
func (k *tongues) of(word []byte) uint64 {
	m := k.words[string(word)]
	if m == 0 {
		if i := bytes.IndexAny(word, "'’"); i > 0 {
			m = k.words[string(word[:i])+"'"]
		}
	}
	if utf8.RuneCount(word) == 1 {
		return 0
	}
	return m
}

// tongue are the languages that most words of a text are of, as bits, or 0. Names
// do not count. Cyrillic without a letter that Russian lacks may be Russian.
func (k *tongues) tongue(t string) (own uint64) {
	var counts [64]int
	low, first := []byte(nil), true
	for w := range wordsOf([]byte(t)) {
		name := !first && unicode.IsUpper(firstRune(string(w)))
		if first = false; name {
			continue
		}
		low = text.AppendLower(low[:0], string(w))
		for m := k.of(low); m != 0; m &= m - 1 {
			counts[bits.TrailingZeros64(m)]++
		}
	}
	most := slices.Max(counts[:])
	for i, n := range counts {
		if n > 0 && n >= most-most/3 {
			own |= 1 << i
		}
	}
	if scriptOf(t) == cyrillic && !strings.ContainsFunc(strings.ToLower(t), func(r rune) bool { return r >= 0x400 && k.letters[r] != 0 }) {
		own |= 1 << slices.Index(k.codes, "ru")
	}
	return own
}

const (
	// leastWords of another language tell it in a text that has none of its
	// reference's, and moreWords for each that it has.
	leastWords, moreWords = 2, 3
	// mixedWords in a row tell it wherever they are; a word of the reference's
	// language takes ownWord from them.
	mixedWords, ownWord = 4, 2
)

// other returns the code of another language than the given ones that words
// are of, all of them or some in a row, or "". Words that both have tell nothing. A
// letter that the given ones never have counts as a word.
func (k *tongues) other(own uint64, rest []byte) string {
	var theirs, ours, row [64]int
	for w := range wordsOf(rest) {
		m := k.of(w)
		for i := 0; m != 0 && i < len(k.codes); i++ {
			switch bit := uint64(1) << i; {
			case bit&own != 0:
			case m&bit != 0 && m&own == 0:
				theirs[i]++
				if row[i]++; row[i] >= mixedWords {
					return k.codes[i]
				}
			case m&own != 0 && m&bit == 0:
				ours[i]++
				row[i] = max(0, row[i]-ownWord)
			}
		}
	}
	var marked [64]int // words with a letter that the given ones never have
	for w := range wordsOf(rest) {
		var letters uint64
		for _, r := range string(w) {
			if m := k.letters[r]; m&own == 0 {
				letters |= m
			}
		}
		for ; letters != 0; letters &= letters - 1 {
			marked[bits.TrailingZeros64(letters)]++
		}
	}
	best, most := "", 0
	for i, code := range k.codes {
		if n := theirs[i] + min(marked[i], leastWords); n >= leastWords+moreWords*ours[i] && n > most {
			best, most = code, n
		}
	}
	return best
}
