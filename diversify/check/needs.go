package check

import (
	"unicode"
	"unicode/utf8"
)

// needs is what a text must have for a step to have anything to do: one of
// these. Letters of Latin, Cyrillic and Chinese, and apostrophes within words,
// are no step's.
type needs struct {
	always bool
	ascii  string            // characters
	other  func(r rune) bool // characters that are not of ASCII
	bytes  bool              // characters that may be bytes of one, or drawn as ones of another script
	text   func(t string) bool
}

// stepSet is a set of steps, by their place.
type stepSet uint32

// wanted has the steps by what they need.
type wanted struct {
	steps         []step
	always, bytes stepSet
	ascii         [utf8.RuneSelf]stepSet
	others, texts []int // places of steps
}

func newWanted(steps []step) wanted {
	w := wanted{steps: steps}
	for i, s := range steps {
		bit := stepSet(1) << i
		if s.needs.always {
			w.always |= bit
		}
		if s.needs.bytes {
			w.bytes |= bit
		}
		for _, c := range []byte(s.needs.ascii) {
			w.ascii[c] |= bit
		}
		if s.needs.other != nil {
			w.others = append(w.others, i)
		}
		if s.needs.text != nil {
			w.texts = append(w.texts, i)
		}
	}
	return w
}

// by returns the steps that may have something to do with a text.
func (w *wanted) by(t string) stepSet {
	set := w.always
	for _, i := range w.texts {
		if w.steps[i].needs.text(t) {
			set |= 1 << i
		}
	}
	var latin, cyrillic bool
	var before rune
	for i := 0; i < len(t); {
		if c := t[i]; c < utf8.RuneSelf {
			i++
			if 'a' <= c|0x20 && c|0x20 <= 'z' {
				latin = true
			} else if of := w.ascii[c]; of != 0 && !(c == '\'' && within(before, t[i:])) {
				set |= of
			}
			before = rune(c)
			continue
		}
		r, n := utf8.DecodeRuneInString(t[i:])
		i += n
		latin, cyrillic = latin || r < 0x250, cyrillic || r >= 0x400 && r < 0x530
		if before >= utf8.RuneSelf && (!wholly(before) || !wholly(r)) {
			set |= w.bytes
		}
		if !isCommon(r) && !(r == '’' && within(before, t[i:])) {
			for _, k := range w.others {
				if w.steps[k].needs.other(r) {
					set |= 1 << k
				}
			}
		}
		before = r
	}
	if latin && cyrillic {
		set |= w.bytes
	}
	return set
}

// within reports whether what stands between a character and a text is in a word.
func within(before rune, after string) bool {
	return unicode.IsLetter(before) && unicode.IsLetter(firstRune(after))
}

// wholly reports whether a character is one that is no byte of another: in no
// character set such letters beside each other are.
func wholly(r rune) bool { return r >= 0x410 && r < 0x450 || r >= 0x3000 }

// isCommon reports whether a character is a letter that no step looks at.
func isCommon(r rune) bool {
	return r >= 0xc0 && r < 0x250 && r != 0x120 && unicode.IsLetter(r) || r >= 0x400 && r < 0x482 || r >= 0x4e00 && r < 0xa000
}
