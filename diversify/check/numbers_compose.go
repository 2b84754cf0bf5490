package check

import (
	"bytes"
	"strings"
)

// wordNumber puts a number together of words that follow each other: "three
// hundred and twenty".
type wordNumber struct {
	ns             *numbers
	active         bool
	total, current float64
	bare           bool    // only "thousand" so far, which says little
	also           float64 // a unit that the number may be multiplied with, or 0
	begin, last    int     // where the words stand
}

// word takes the word from begin to end of the text.
func (w *wordNumber) word(begin, end int) {
	s := w.ns.text[begin:end]
	if len(s) == 1 && s[0] != 'a' || len(s) > 40 {
		w.end()
		return
	}
	w.ns.mentions |= mentioned(s)
	if roman := romanValue(s); roman > 0 {
		w.ns.optional = append(w.ns.optional, roman)
	}
	var n numeral
	ok := false
	if mayBeNumeral(s) {
		n, ok = numerals()[string(s)]
	}
	if !ok && startsLikeNumber(s) {
		if v := germanValue(s); v > 0 {
			n, ok = numeral{value: v}, true
		}
	}
	switch {
	case !ok && w.active && (string(s) == "and" || string(s) == "und"):
		return
	case !ok:
		w.unit(s, begin)
		w.end()
		if v := compound(s); v > 0 {
			w.ns.optional = append(w.ns.optional, v)
		}
		return
	case n.implied != nil:
		w.unit(s, begin)
		w.end()
		w.ns.optional = append(w.ns.optional, n.implied...)
		return
	case w.active && begin-w.last > len(" and "):
		w.end()
	}
	switch {
	case !w.active:
		w.start(begin, n)
	case n.scale && n.value == 100:
		w.current, w.bare = w.current*100, false
	case n.scale:
		w.total, w.current, w.bare = w.total+max(w.current, 1)*n.value, 0, false
	case w.current == 0 && w.total > 0, n.value < 10 && int(w.current)%10 == 0 && w.current >= 20, n.value < 100 && int(w.current)%100 == 0 && w.current >= 100:
		w.current, w.bare = w.current+n.value, false
	default: // "two, three"
		w.end()
		w.start(begin, n)
	}
	w.last = end
}

func (w *wordNumber) start(begin int, n numeral) {
	w.active, w.bare, w.begin, w.total, w.current = true, n.scale, begin, 0, n.value
	if n.scale && n.value > 100 {
		w.total, w.current = n.value, 0
	}
}

// unit takes a word that follows the number for a unit, if it is one.
func (w *wordNumber) unit(s []byte, begin int) {
	if !w.active || begin-w.last > 2 {
		return
	}
	if sc, ok := scaleWords()[string(s)]; ok && sc.maybe {
		w.also = sc.by
	}
}

// end adds the number that the words made.
func (w *wordNumber) end() {
	if !w.active {
		return
	}
	w.active = false
	if w.bare {
		w.ns.optional = append(w.ns.optional, w.total+w.current)
		return
	}
	n := number{at: [2]int{w.begin, w.last}, weak: true}
	n.add(w.total + w.current)
	if w.also > 0 {
		n.add((w.total + w.current) * w.also)
		w.also = 0
	}
	w.ns.list = append(w.ns.list, n)
}

// startsLikeNumber reports whether a word begins like a German number, or is
// Cyrillic.
func startsLikeNumber(s []byte) bool {
	if len(s) < 2 {
		return false
	}
	switch s[0] {
	case 'z':
		return s[1] == 'w' || s[1] == 'e'
	case 'd':
		return s[1] == 'r'
	case 'v':
		return s[1] == 'i'
	case 'f':
		return s[1] == 0xc3
	case 's':
		return s[1] == 'e' || s[1] == 'i'
	case 'a':
		return s[1] == 'c'
	case 'n':
		return s[1] == 'e'
	case 'e':
		return s[1] == 'i' || s[1] == 'l'
	case 'h':
		return s[1] == 'u'
	case 't':
		return len(s) > 2 && s[1] == 'a' && s[2] == 'u'
	}
	return s[0] == 0xd0 || s[0] == 0xd1
}

// germanValue reads a German number in one word, such as zweihundertdreißig,
// or returns 0.
func germanValue(s []byte) float64 {
	if len(s) < 8 {
		return 0
	}
	if !bytes.Contains(s, []byte("und")) && !bytes.Contains(s, []byte("tausend")) {
		return 0
	}
	return germanParts(string(s))
}

func germanParts(s string) float64 {
	if s == "" {
		return 0
	}
	if s == "ein" || s == "eins" {
		return 1
	}
	if n, ok := numerals()[s]; ok && n.implied == nil {
		return n.value
	}
	for _, scale := range []struct {
		word string
		by   float64
	}{{"tausend", 1000}, {"hundert", 100}} {
		if before, after, ok := strings.Cut(s, scale.word); ok {
			a, b := germanParts(before), germanParts(strings.TrimPrefix(after, "und"))
			if before != "" && a == 0 || after != "" && b == 0 {
				return 0
			}
			return max(a, 1)*scale.by + b
		}
	}
	if unit, tens, ok := strings.Cut(s, "und"); ok {
		a, b := germanParts(unit), germanParts(tens)
		if a > 0 && a < 10 && b >= 20 && b < 100 {
			return a + b
		}
	}
	return 0
}

// romanValue reads a roman number of two letters or more, or returns 0.
func romanValue(s []byte) float64 {
	if len(s) < 2 || len(s) > 7 {
		return 0
	}
	total, before := 0, 0
	for i := len(s) - 1; i >= 0; i-- {
		v := 0
		switch s[i] {
		case 'i':
			v = 1
		case 'v':
			v = 5
		case 'x':
			v = 10
		case 'l':
			v = 50
		case 'c':
			v = 100
		default:
			return 0
		}
		if v < before {
			total -= v
		} else {
			total += v
			before = v
		}
	}
	return float64(total)
}

// compounds are number words that other words begin with: "zehnmal",
// "пятизвездочный".
var compounds = []struct {
	word  string
	value float64
}{
	{"dreizehn", 13}, {"vierzehn", 14}, {"fünfzehn", 15}, {"sechzehn", 16}, {"siebzehn", 17}, {"achtzehn", 18}, {"neunzehn", 19},
	{"zwanzig", 20}, {"dreißig", 30}, {"vierzig", 40}, {"fünfzig", 50}, {"sechzig", 60}, {"siebzig", 70}, {"achtzig", 80}, {"neunzig", 90},
	{"zwei", 2}, {"drei", 3}, {"vier", 4}, {"fünf", 5}, {"sechs", 6}, {"sieben", 7}, {"acht", 8}, {"neun", 9}, {"zehn", 10}, {"zwölf", 12},
	{"двух", 2}, {"трех", 3}, {"трёх", 3}, {"четырех", 4}, {"четырёх", 4}, {"пятнадцати", 15}, {"двадцати", 20}, {"тридцати", 30}, {"сорока", 40},
	{"пятидесяти", 50}, {"шестидесяти", 60}, {"пяти", 5}, {"шести", 6}, {"семи", 7}, {"восьми", 8}, {"девяти", 9}, {"десяти", 10}, {"двенадцати", 12},
	{"одиннадцати", 11}, {"тринадцати", 13}, {"четырнадцати", 14}, {"шестнадцати", 16}, {"семнадцати", 17}, {"восемнадцати", 18}, {"девятнадцати", 19},
}

// compound returns the number that a longer word begins with, or 0.
func compound(s []byte) float64 {
	if len(s) < 7 || !startsLikeNumber(s) {
		return 0
	}
	for i := range compounds {
		c := &compounds[i]
		if len(s) > len(c.word) && s[0] == c.word[0] && s[1] == c.word[1] && string(s[:len(c.word)]) == c.word {
			return c.value
		}
	}
	return 0
}
