package rouge

import "bytes"

// Stems of English words by Porter's algorithm (Porter, 1980), with NLTK's extensions: some
// irregular words, and rules for short words in -ies and -ied, for -y after a vowel, and
// for -alli, -fulli and -logi.

// irregular lists words whose stems follow no rule.
var irregular = map[string]string{
	"sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
	"innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing",
	"cannings": "canning", "canning": "canning", "howe": "howe",
	"proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}

// rule replaces a suffix by to if the rest of the word meets a condition. Of a list, only
// the first rule whose suffix the word has is tried.
type rule struct {
	suffix, to string
	where      func(word, rest []byte) bool
}

var (
	plural = []rule{{"sses", "ss", always}, {"ies", "i", always}, {"ss", "ss", always}, {"s", "", always}}

	past = []rule{{"at", "ate", always}, {"bl", "ble", always}, {"iz", "ize", always}}

	final = []rule{{"y", "i", func(_, rest []byte) bool { return len(rest) > 1 && consonant(rest, len(rest)-1) }}}

	double = []rule{
		{"ational", "ate", measured}, {"tional", "tion", measured}, {"enci", "ence", measured}, {"anci", "ance", measured},
		{"izer", "ize", measured}, {"bli", "ble", measured}, {"alli", "al", measured}, {"entli", "ent", measured},
		{"eli", "e", measured}, {"ousli", "ous", measured}, {"ization", "ize", measured}, {"ation", "ate", measured},
		{"ator", "ate", measured}, {"alism", "al", measured}, {"iveness", "ive", measured}, {"fulness", "ful", measured},
		{"ousness", "ous", measured}, {"aliti", "al", measured}, {"iviti", "ive", measured}, {"biliti", "ble", measured},
		{"fulli", "ful", measured},
		{"logi", "log", func(word, _ []byte) bool { return measure(word[:len(word)-3]) > 0 }},
	}

	simple = []rule{
		{"icate", "ic", measured}, {"ative", "", measured}, {"alize", "al", measured}, {"iciti", "ic", measured},
		{"ical", "ic", measured}, {"ful", "", measured}, {"ness", "", measured},
	}

	residual = []rule{
		{"al", "", long}, {"ance", "", long}, {"ence", "", long}, {"er", "", long}, {"ic", "", long}, {"able", "", long},
		{"ible", "", long}, {"ant", "", long}, {"ement", "", long}, {"ment", "", long}, {"ent", "", long},
		{"ion", "", func(_, rest []byte) bool { return measure(rest) > 1 && (ends(rest, "s") || ends(rest, "t")) }},
		{"ou", "", long}, {"ism", "", long}, {"ate", "", long}, {"iti", "", long}, {"ous", "", long}, {"ive", "", long},
		{"ize", "", long},
	}

	tidy = []rule{
		{"e", "", func(_, rest []byte) bool { n := measure(rest); return n > 1 || n == 1 && !short(rest) }},
	}

	twice = []rule{{"ll", "l", func(word, _ []byte) bool { return measure(word[:len(word)-1]) > 1 }}}
)

func always(_, _ []byte) bool      { return true }
func measured(_, rest []byte) bool { return measure(rest) > 0 }
func long(_, rest []byte) bool     { return measure(rest) > 1 }

// stem returns the stem of a word in lower case. It overwrites the word, and the stem
// shares its memory; no stem is longer than its word. Bytes other than a to z count as
// consonants.
func stem(w []byte) []byte {
	if s, ok := irregular[string(w)]; ok {
		return append(w[:0], s...)
	}
	if len(w) <= 2 {
		return w
	}
	if len(w) == 4 && ends(w, "ies") {
		w = w[:3]
	} else {
		w, _ = apply(w, plural)
	}
	w = withoutPast(w)
	w, _ = apply(w, final)
	for ends(w, "alli") && measure(w[:len(w)-4]) > 0 {
		w = w[:len(w)-2]
	}
	for _, step := range [][]rule{double, simple, residual, tidy, twice} {
		w, _ = apply(w, step)
	}
	return w
}

// withoutPast is step 1b, for words in -ed and -ing.
func withoutPast(w []byte) []byte {
	rest := w
	switch {
	case ends(w, "ied") && len(w) == 4:
		return w[:3]
	case ends(w, "ied"):
		return w[:len(w)-2]
	case ends(w, "eed"):
		if measure(w[:len(w)-3]) > 0 {
			return w[:len(w)-1]
		}
		return w
	case ends(w, "ed"):
		rest = w[:len(w)-2]
	case ends(w, "ing"):
		rest = w[:len(w)-3]
	}
	if len(rest) == len(w) || !hasVowel(rest) {
		return w
	}
	if restored, ok := apply(rest, past); ok {
		return restored
	}
	last := len(rest) - 1
	switch {
	case last > 0 && rest[last] == rest[last-1] && consonant(rest, last):
		if !ends(rest, "l") && !ends(rest, "s") && !ends(rest, "z") {
			return rest[:last]
		}
	case measure(rest) == 1 && short(rest):
		return append(rest, 'e')
	}
	return rest
}

// apply tries a list of rules and reports whether the word had the suffix of one.
func apply(w []byte, rules []rule) ([]byte, bool) {
	for _, r := range rules {
		if !ends(w, r.suffix) {
			continue
		}
		if rest := w[:len(w)-len(r.suffix)]; r.where(w, rest) {
			return append(rest, r.to...), true
		}
		return w, true
	}
	return w, false
}

func ends(w []byte, suffix string) bool { return bytes.HasSuffix(w, []byte(suffix)) }

// consonant reports whether a letter is a consonant: not a, e, i, o or u, nor y after a
// consonant.
func consonant(w []byte, i int) bool {
	y := 0
	for ; i > 0 && w[i] == 'y'; i-- {
		y++
	}
	return vowel[w[i]] == (y%2 == 1)
}

var vowel = [256]bool{'a': true, 'e': true, 'i': true, 'o': true, 'u': true}

// measure counts the runs of vowels followed by a consonant.
func measure(w []byte) (m int) {
	before := true // whether the letter before is a consonant
	for i, c := range w {
		now := !vowel[c] && (c != 'y' || i == 0 || !before)
		if now && !before {
			m++
		}
		before = now
	}
	return m
}

func hasVowel(w []byte) bool {
	for i, c := range w {
		if vowel[c] || c == 'y' && i > 0 && consonant(w, i-1) {
			return true
		}
	}
	return false
}

// short reports whether a word ends in consonant, vowel and a consonant other than w, x and
// y, or consists of a vowel and a consonant.
func short(w []byte) bool {
	n := len(w)
	if n == 2 {
		return !consonant(w, 0) && consonant(w, 1)
	}
	return n > 2 && consonant(w, n-3) && !consonant(w, n-2) && consonant(w, n-1) && w[n-1] != 'w' && w[n-1] != 'x' && w[n-1] != 'y'
}
