package check

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed lexicon.txt
var lexiconTable string

// lexicon has the log odds with which phrases are of talk rather than of a
// rewriting; those of a part without any stand under "".
type lexicon map[string]float64

// talkPhrases is the lexicon in use. Each line of its table is a weight, and the phrases that have
// it, separated by tabs.
var talkPhrases = sync.OnceValue(func() lexicon {
	l := lexicon{}
	for line := range strings.Lines(lexiconTable) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		w, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			panic(fmt.Sprintf("lexicon.txt: %v", err))
		}
		for _, phrase := range fields[1:] {
			l[phrase] = w
		}
	}
	return l
})

// lean is how much the words of a part are of talk, by what the reference has not.
func (o *original) lean(t string) float64 {
	l := talkPhrases()
	sum := l[""]
	o.phrases(t, func(phrase []byte) { sum += l[string(phrase)] })
	return sum
}

// phrases calls back with the words and marks of a part that the reference has not, and
// with pairs of which one is such, or which begin or end the part.
func (o *original) phrases(t string, yield func(phrase []byte)) {
	ref := o.content()
	pair, was := append(o.pair[:0], '^'), true
	put := func(word []byte, known bool) {
		if !known {
			yield(word)
		}
		at := len(pair)
		pair = append(append(pair, ' '), word...)
		if !known || was {
			yield(pair)
		}
		was = !known
		pair = append(pair[:0], pair[at+1:]...)
	}
	low := o.lowered(t)
	for i := 0; i < len(low); {
		r, n := utf8.DecodeRune(low[i:])
		switch {
		case isDigitRune(r):
			end := i
			for end < len(low) && isDigit(low[end]) {
				end++
			}
			put([]byte("#"), ref.keys[string(low[i:end])] > 0)
			i = end
		case isSpaceless(r):
			next, m := utf8.DecodeRune(low[i+n:])
			if !unicode.IsLetter(next) {
				m = 0
			}
			put(low[i:i+n+m], ref.keys[string(low[i:i+n+m])] > 0)
			i += n
		case unicode.IsLetter(r):
			end := wordEnd(low, i)
			put(low[i:end], ref.keys[string(key(low[i:end]))] > 0)
			i = end
		default:
			if strings.ContainsRune("?!:？！：", r) {
				put(low[i:i+n], strings.ContainsRune(o.text, r))
			}
			i += n
		}
	}
	yield(append(pair, " $"...))
	o.pair = pair
}
