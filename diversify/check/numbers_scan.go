package check

import (
	"bytes"
	"hash/fnv"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// scan finds the numbers of a text in lower case. It takes over the slice.
func (ns *numbers) scan(low []byte) {
	if ns.list == nil {
		ns.list, ns.optional = make([]number, 0, 8), make([]float64, 0, 16)
	}
	ns.list, ns.optional, ns.digits, ns.text, ns.mentions, ns.spaced = ns.list[:0], ns.optional[:0], ns.digits[:0], low, 0, false
	ns.index = nil
	words := wordNumber{ns: ns}
	for i := 0; i < len(low); {
		c := low[i]
		switch {
		case isDigit(c):
			words.end()
			i = ns.scanDigits(i)
			continue
		case 'a' <= c && c <= 'z':
			end := i + 1
			for end < len(low) && 'a' <= low[end] && low[end] <= 'z' {
				end++
			}
			if end < len(low) && (low[end] >= utf8.RuneSelf || low[end] == '\'') {
				end = wordEnd(low, i)
			}
			words.word(i, end)
			i = end
			continue
		case c < utf8.RuneSelf:
			i++
			continue
		}
		r, n := utf8.DecodeRune(low[i:])
		switch {
		case hanDigit(r) != 0:
			words.end()
			i = ns.scanHan(i)
			continue
		case unicode.Is(unicode.Nd, r):
			words.end()
			i = ns.scanWide(i)
			continue
		case unicode.Is(unicode.Han, r) || unicode.In(r, unicode.Hiragana, unicode.Katakana):
			words.end()
			ns.hanUnit(r)
			ns.mentions |= mentionedByHan(r)
		case unicode.IsLetter(r):
			end := wordEnd(low, i)
			words.word(i, end)
			i = end
			continue
		case unicode.Is(unicode.No, r):
			ns.fraction(r)
		}
		i += n
	}
	words.end()
}

// group separators that are not ASCII: no-break, narrow no-break and thin
// spaces, the apostrophe.
var wideSeparators = [...]string{"\u00a0", "\u202f", "\u2009", "’"}

// separator returns the kind of what stands between two groups of digits and
// its size: ' ' for spaces and apostrophes, '.' and ','; 0 for anything else.
func separator(s []byte, i int) (kind byte, size int) {
	switch s[i] {
	case '.', ',':
		return s[i], 1
	case ' ', '\'':
		return ' ', 1
	}
	if s[i] >= utf8.RuneSelf {
		for _, w := range wideSeparators {
			if bytes.HasPrefix(s[i:], []byte(w)) {
				return ' ', len(w)
			}
		}
	}
	return 0, 0
}

// groups are digits with separators between them.
type groups struct {
	digits [8][2]int
	seps   [8]byte // seps[k] stands before group k
	n      int
}

// scanDigits reads the number whose first digit is at i, and returns where it
// ends.
func (ns *numbers) scanDigits(i int) int {
	s := ns.text
	var g groups
	end := i
	for {
		begin := end
		for end < len(s) && isDigit(s[end]) {
			end++
		}
		g.digits[g.n] = [2]int{begin, end}
		g.n++
		ns.digits = append(ns.digits, s[begin:end]...)
		if g.n == len(g.digits) || end == len(s) {
			break
		}
		kind, size := separator(s, end)
		if kind == 0 || end+size >= len(s) || !isDigit(s[end+size]) {
			break
		}
		ns.spaced = ns.spaced || kind == ' '
		if kind == ' ' && !groupOfThree(s, end+size, g.digits[0], g.n) {
			break
		}
		g.seps[g.n] = kind
		end += size
	}
	n := number{at: [2]int{i, end}, weak: glued(s, i)}
	if !ns.value(&n, &g) {
		return end
	}
	if end < len(s) && s[end] == ':' {
		end = ns.clock(&n, end)
	}
	end = ns.suffix(&n, end)
	n.at[1] = end
	ns.year(&n, &g)
	if n.n == 1 && (n.values[0] <= 1 || n.values[0] == 100 && percent(s, end)) {
		n.weak = true // "1 photo" is a photo, and "100 %" is fully
		if n.values[0] == 1 {
			ns.optional = append(ns.optional, 1)
		}
	}
	ns.list = append(ns.list, n)
	return end
}

// year reads the 88 of "1986-88" as 1988 too.
func (ns *numbers) year(n *number, g *groups) {
	if len(ns.list) == 0 || g.n != 1 || g.digits[0][1]-g.digits[0][0] != 2 {
		return
	}
	last := &ns.list[len(ns.list)-1]
	if v := last.values[0]; v >= 1000 && v < 3000 && n.at[0]-last.at[1] <= len("–") {
		n.add(math.Floor(v/100)*100 + n.values[0])
	}
}

// groupOfThree reports whether three digits and no more stand at i, behind
// groups of which the first has up to three.
func groupOfThree(s []byte, i int, first [2]int, n int) bool {
	if n == 1 && first[1]-first[0] > 3 {
		return false
	}
	k := i
	for k < len(s) && isDigit(s[k]) {
		k++
	}
	return k-i == 3
}

// glued reports whether a letter, maybe with a hyphen, stands before a number:
// "COVID-19", "A4". Such a number is part of a name.
func glued(s []byte, i int) bool {
	if i > 0 && (s[i-1] == '-' || s[i-1] == '_') {
		i--
	}
	if i == 0 {
		return false
	}
	r, n := utf8.DecodeLastRune(s[:i])
	if (r == 'x' || r == 'х') && i > n && isDigit(s[i-n-1]) {
		return false // 10x15
	}
	return unicode.IsLetter(r) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// value finds the values of groups of digits. It returns false if it has added
// the groups as numbers of their own.
func (ns *numbers) value(n *number, g *groups) bool {
	size := func(k int) int { return g.digits[k][1] - g.digits[k][0] }
	threes := true // all groups but the first have three digits
	same := true   // all separators are the same
	for k := 1; k < g.n; k++ {
		threes = threes && size(k) == 3
		same = same && g.seps[k] == g.seps[1]
	}
	switch {
	case g.n == 1:
		n.add(ns.whole(g, 0, 1))
	case g.n == 2 && g.seps[1] != ' ':
		if threes && size(0) <= 3 && ns.text[g.digits[0][0]] != '0' {
			n.add(ns.whole(g, 0, 2))
		}
		n.add(ns.decimal(g, 1))
		if size(0) <= 2 && size(1) <= 2 { // maybe a date, a time or a list
			n.parts, n.split = [2]float64{ns.whole(g, 0, 1), ns.whole(g, 1, 2)}, true
			ns.optional = append(ns.optional, n.parts[0], n.parts[1])
		}
	case threes && same:
		n.add(ns.whole(g, 0, g.n))
	case !same && g.seps[g.n-1] != ' ' && ns.thousands(g):
		n.add(ns.decimal(g, g.n-1))
	case same && g.seps[1] == ',' || g.n == 3 && same && size(0) <= 2 && size(1) <= 2 && (size(2) == 2 || size(2) == 4):
		ns.apart(g, n.weak) // a list, or a date with points
		return false
	default: // a version, an address, a product code
		h := fnv.New64a()
		for k := range g.n {
			h.Write(ns.text[g.digits[k][0]:g.digits[k][1]])
			ns.optional = append(ns.optional, ns.whole(g, k, k+1))
		}
		n.add(-1 - float64(h.Sum64()>>12))
	}
	return true
}

// thousands reports whether all groups but the last are a number with
// thousands separators.
func (ns *numbers) thousands(g *groups) bool {
	for k := 1; k < g.n-1; k++ {
		if g.digits[k][1]-g.digits[k][0] != 3 || g.seps[k] != g.seps[1] {
			return false
		}
	}
	return true
}

// apart adds each group as a number.
func (ns *numbers) apart(g *groups, weak bool) {
	for k := range g.n {
		n := number{at: g.digits[k], weak: weak}
		n.add(ns.whole(g, k, k+1))
		n.weak = weak || n.values[0] <= 1
		ns.list = append(ns.list, n)
	}
}

// whole is the value of the groups from a to b read as one row of digits. What
// has more digits than a float64 is told apart by a hash.
func (ns *numbers) whole(g *groups, a, b int) float64 {
	v, digits := 0.0, 0
	for k := a; k < b; k++ {
		for _, c := range ns.text[g.digits[k][0]:g.digits[k][1]] {
			v = 10*v + float64(c-'0')
			if v > 0 {
				digits++
			}
		}
	}
	if digits <= 15 {
		return v
	}
	h := fnv.New64a()
	for k := a; k < b; k++ {
		h.Write(ns.text[g.digits[k][0]:g.digits[k][1]])
	}
	return -1 - float64(h.Sum64()>>12)
}

// decimal is the value with the decimal mark before group k.
func (ns *numbers) decimal(g *groups, k int) float64 {
	v := ns.whole(g, 0, k)
	part := ns.text[g.digits[k][0]:g.digits[k][1]]
	frac := 0.0
	for _, c := range part[:min(len(part), 15)] {
		frac = 10*frac + float64(c-'0')
	}
	return v + frac/math.Pow10(min(len(part), 15))
}

// clock reads ":30" behind an hour, and returns where it ends. Full hours have
// no number of minutes, and hours of both clocks are the same.
func (ns *numbers) clock(hour *number, i int) int {
	s := ns.text
	if i+2 >= len(s) || !isDigit(s[i+1]) || !isDigit(s[i+2]) || i+3 < len(s) && isDigit(s[i+3]) || hour.values[0] > 24 {
		return i
	}
	ns.halfDay(hour.values[0])
	ns.optional = append(ns.optional, hour.values[0]+float64(10*(s[i+1]-'0')+s[i+2]-'0')/100) // 10.50
	if s[i+1] == '0' && s[i+2] == '0' {
		ns.digits = append(ns.digits, "00"...)
		return i + 3
	}
	return i
}

func (ns *numbers) halfDay(h float64) {
	if h < 12 {
		ns.optional = append(ns.optional, h+12)
	} else if h > 12 && h <= 24 {
		ns.optional = append(ns.optional, h-12)
	}
}

// suffix reads a scale behind a number: "k", "million", "тыс.", "万". It
// returns where that ends.
func (ns *numbers) suffix(n *number, i int) int {
	s := ns.text
	for range 2 {
		at := i
		for at < len(s) && at-i < 3 && (s[at] == ' ' || s[at] == '-' || s[at] == 0xc2 || s[at] == 0xa0) {
			at++
		}
		if at == len(s) {
			return i
		}
		if by := hanScale(s[at:]); by > 0 {
			n.scale(by, false)
			i = at + 3
			continue
		}
		if _, letter := letterAt(s, at); !letter {
			return i
		}
		end := wordEnd(s, at)
		word := s[at:end]
		if hourWords()[string(word)] && n.values[0] <= 24 {
			ns.halfDay(n.values[0])
		}
		if sc, ok := scaleWords()[string(word)]; ok {
			n.scale(sc.by, sc.maybe)
			i = end
			continue
		}
		return i
	}
	return i
}

// percent reports whether a percent sign or word stands at i.
func percent(s []byte, i int) bool {
	rest := strings.TrimLeft(string(s[i:min(len(s), i+12)]), " \u00a0\u202f-")
	return strings.HasPrefix(rest, "%") || strings.HasPrefix(rest, "％") || strings.HasPrefix(rest, "per") ||
		strings.HasPrefix(rest, "proz") || strings.HasPrefix(rest, "проц")
}

// scanWide reads digits that are not ASCII, such as full-width ones, with the
// separators between them, through their ASCII form.
func (ns *numbers) scanWide(i int) int {
	s := ns.text
	var ascii []byte
	end := i
	for end < len(s) {
		r, n := utf8.DecodeRune(s[end:])
		switch {
		case unicode.Is(unicode.Nd, r):
			ascii = append(ascii, byte('0'+digitValue(r)))
		case (r == '.' || r == ',' || r == '．' || r == '，') && end+n < len(s) && nextIsDigit(s[end+n:]):
			if r == '．' {
				r = '.'
			} else if r == '，' {
				r = ','
			}
			ascii = append(ascii, byte(r))
		default:
			n = 0
		}
		if n == 0 {
			break
		}
		end += n
	}
	sub := numbers{text: ascii}
	sub.scanDigits(0)
	for k := range sub.list {
		n := sub.list[k]
		n.at = [2]int{i, end}
		stop := ns.suffix(&n, end)
		n.at[1] = stop
		ns.list = append(ns.list, n)
	}
	ns.optional = append(ns.optional, sub.optional...)
	ns.digits = append(ns.digits, sub.digits...)
	return end
}

func nextIsDigit(s []byte) bool {
	r, _ := utf8.DecodeRune(s)
	return unicode.Is(unicode.Nd, r)
}

// digitValue is the value of a decimal digit: each script has ten in a row,
// beginning at a code point whose predecessor is none.
func digitValue(r rune) int {
	v := 0
	for v < 9 && unicode.Is(unicode.Nd, r-1) {
		r--
		v++
	}
	return v
}

// fraction notes what ½ and the like mean.
func (ns *numbers) fraction(r rune) {
	switch r {
	case '½':
		ns.optional = append(ns.optional, 0.5, 50, 1, 2)
	case '¼':
		ns.optional = append(ns.optional, 0.25, 25, 1, 4)
	case '¾':
		ns.optional = append(ns.optional, 0.75, 75, 3, 4)
	}
}
