package check

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// meaning is what a word means in numbers.
type meaning struct {
	kind    meaningKind
	value   float64
	times   float64   // what the number before it may be multiplied by, or 0
	implied []float64 // numbers that the word implies without stating them
	role    string    // "clock", "decade", "percent" or "part"
}

type meaningKind uint8

const (
	impliesNumbers meaningKind = iota
	statesNumber
	multiplies // "thousand": multiplies what stands before it
)

// numeralTable says in its first lines what it holds.
//
//go:embed numerals.txt
var numeralTable string

// numerals are the words of numeralTable.
type numerals struct {
	words, stems map[string]*meaning
	// lengths are those of the words, as bits, by their first two bytes. They
	// spare most words the look-up.
	wordLengths, stemLengths [256]uint64
}

// numeralWords reads the table once.
var numeralWords = sync.OnceValue(func() *numerals {
	n := &numerals{words: map[string]*meaning{}, stems: map[string]*meaning{}}
	for line := range strings.Lines(numeralTable) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := &meaning{}
		for _, field := range strings.Fields(line) {
			if !m.read(field) {
				n.add(field, m)
			}
		}
	}
	for i, tens := range strings.Split(",x,xx,xxx", ",") { // the Roman ones that centuries and chapters have
		for k, ones := range strings.Split(",i,ii,iii,iv,v,vi,vii,viii,ix", ",") {
			if roman := tens + ones; len(roman) > 1 {
				n.add(roman, &meaning{implied: []float64{float64(10*i + k)}})
			}
		}
	}
	return n
})

// read takes a field of a line as a part of its meaning. It returns false for a
// word.
func (m *meaning) read(field string) bool {
	switch field[0] {
	case ':':
		m.role = field[1:]
	case '~':
		for _, v := range strings.Split(field[1:], ",") {
			f, _ := strconv.ParseFloat(v, 64)
			m.implied = append(m.implied, f)
		}
	case '*':
		m.times, _ = strconv.ParseFloat(field[1:], 64)
	default:
		v, err := strconv.ParseFloat(strings.TrimPrefix(field, "x"), 64)
		if err != nil {
			return false
		}
		m.value, m.kind = v, statesNumber
		if field[0] == 'x' {
			m.kind = multiplies
		}
	}
	return true
}

// add enters a word, a stem that longer words begin with, or an ordinal.
func (n *numerals) add(word string, m *meaning) {
	if stem, ok := strings.CutSuffix(word, "-"); ok {
		n.stems[stem] = m
		n.stemLengths[firstTwo(stem)] |= 1 << len(stem)
		word = stem
	}
	forms := []string{word}
	if stem, ok := strings.CutSuffix(word, "+"); ok {
		endings := "ый ой ого ому ым ом ая ую ое ые ых ыми"
		if stem[len(stem)-1] < 0x80 {
			endings = "e en er es em"
		}
		forms = forms[:0]
		for e := range strings.FieldsSeq(endings) {
			forms = append(forms, stem+e)
		}
	}
	for _, w := range forms {
		n.words[w] = m
		n.wordLengths[firstTwo(w)] |= 1 << min(len(w), 63)
	}
}

func firstTwo[T string | []byte](s T) byte { return s[0] + 31*s[min(1, len(s)-1)] }

// find returns what a word means, or nil.
func (n *numerals) find(word []byte) *meaning {
	if n.wordLengths[firstTwo(word)]>>min(len(word), 63)&1 == 0 {
		return nil
	}
	return n.words[string(word)]
}

// cutStem takes the longest stem off the front of a word. It returns nil where
// there is none.
func (n *numerals) cutStem(word []byte) (*meaning, []byte) {
	if len(word) == 0 {
		return nil, nil
	}
	lengths := n.stemLengths[firstTwo(word)]
	for size := min(len(word), 63); size > 0; size-- {
		if lengths>>size&1 == 1 {
			if m := n.stems[string(word[:size])]; m != nil {
				return m, word[size:]
			}
		}
	}
	return nil, word
}
