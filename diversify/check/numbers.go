package check

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"
)

// statedNumber is a number of a text: the values that it may mean, as "1.234" is one
// thousand in German and between one and two in English.
type statedNumber struct {
	values [4]float64
	n      int
	at     [2]int // where it stands in the text
	// weak numbers, such as number words, may disappear or appear: only one
	// that is replaced by another counts.
	weak bool
	// split are the numbers before and behind the point of "18.12", which may
	// be a date or a time.
	split [2]float64
}

func (n *statedNumber) add(v float64) {
	if n.n < len(n.values) && !n.is(v) {
		n.values[n.n] = v
		n.n++
	}
}

func (n *statedNumber) is(v float64) bool { return slices.Contains(n.values[:n.n], v) }

// statedNumbers are what a text says in numbers.
type statedNumbers struct {
	list  []statedNumber
	known []float64 // the values of the list and those that words imply, such as 2 by "both"
	ready bool      // known is complete and sorted
	text  []byte    // in lower case, with the digits of all scripts as ASCII
	run   run
}

// run is the number that was read last, which the next word may change.
type run struct {
	statedNumber
	open   bool
	terms  []float64 // of a number in words, such as 300 and 20
	words  int
	scaled bool // the last word was "hundred" or the like
	han    bool
	end    int // of the last word, which may be "and"
}

// scan finds the numbers of a text in lower case.
func (ns *statedNumbers) scan(low []byte) {
	if ns.list == nil {
		ns.list, ns.known = make([]statedNumber, 0, 8), make([]float64, 0, 16)
	}
	*ns = statedNumbers{list: ns.list[:0], known: ns.known[:0], text: low, run: run{terms: ns.run.terms[:0]}}
	for i := 0; i < len(ns.text); {
		c := ns.text[i]
		if isDigit(c) {
			i = ns.digits(i)
			continue
		}
		if c < utf8.RuneSelf && c != '%' && (c < 'a' || c > 'z') {
			i++
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(ns.text[i:])
		}
		end := i + size
		switch {
		case unicode.Is(unicode.Nd, r):
			ns.scan(asciiDigits(low))
			return
		case unicode.IsLetter(r) && !isDense(r):
			end = wordEnd(ns.text, i)
		case !isDense(r) && r != '%' && r != '％' && !unicode.Is(unicode.No, r):
			i = end
			continue
		}
		ns.word(i, end)
		i = end
	}
	ns.close()
}

func isDense(r rune) bool {
	return r >= 0x3000 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// asciiDigits writes the digits of all scripts as ASCII, and full-width points
// and commas too.
func asciiDigits(s []byte) []byte {
	return bytes.Map(func(r rune) rune {
		switch {
		case r == '．':
			return '.'
		case r == '，':
			return ','
		case r < utf8.RuneSelf || !unicode.Is(unicode.Nd, r):
			return r
		}
		// Each script has its ten digits in a row, behind what is no digit.
		digit := '0'
		for ; digit < '9' && unicode.Is(unicode.Nd, r-1); digit++ {
			r--
		}
		return digit
	}, s)
}

// imply notes numbers that the text does not state.
func (ns *statedNumbers) imply(values ...float64) { ns.known = append(ns.known, values...) }

// close adds the last number to the list.
func (ns *statedNumbers) close() {
	r := &ns.run
	if !r.open {
		return
	}
	r.open = false
	if r.words == 1 && (r.scaled || r.han) {
		ns.imply(r.values[0]) // "thousand", or 一, which is part of many words
		return
	}
	ns.list = append(ns.list, r.statedNumber)
	ns.share()
}

// share makes the last two numbers a share of 100 too: "six in ten" are 60 %.
func (ns *statedNumbers) share() {
	if len(ns.list) < 2 {
		return
	}
	of, all := &ns.list[len(ns.list)-2], &ns.list[len(ns.list)-1]
	switch string(bytes.TrimSpace(ns.text[of.at[1]:all.at[0]])) {
	case "in", "of", "out of", "in every", "out of every", "von", "von je", "из", "из каждых":
	default:
		return
	}
	if v, m := of.values[0], all.values[0]; v < m && m <= 100 && math.Mod(100*v, m) == 0 {
		of.add(100 * v / m)
		all.add(100 * v / m)
	}
}

// Digits

// groups are digits with separators between them.
type groups struct {
	digits [8][]byte
	begin  [8]int
	marks  [8]byte // marks[k] stands before group k: '.', ',' or ' '
	n      int
}

// separators stand between groups of digits. Apostrophes and spaces of all
// kinds are ' '.
var separators = [...]struct {
	text string
	mark byte
}{{".", '.'}, {",", ','}, {" ", ' '}, {"'", ' '}, {"\u00a0", ' '}, {"\u202f", ' '}, {"\u2009", ' '}, {"’", ' '}}

// readGroups reads the groups of digits from i on, and returns where they end.
// A space only goes before three digits.
func readGroups(s []byte, i int) (g groups, end int) {
	digits := func(i int) int {
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		return i
	}
	mark := byte(0)
	for g.n < len(g.digits) {
		end = digits(i)
		g.digits[g.n], g.begin[g.n], g.marks[g.n] = s[i:end], i, mark
		g.n++
		mark = 0
		for _, sep := range separators {
			if end < len(s) && s[end] == sep.text[0] && bytes.HasPrefix(s[end:], []byte(sep.text)) {
				i, mark = end+len(sep.text), sep.mark
			}
		}
		next := digits(i)
		if mark == 0 || next == i || mark == ' ' && (next-i != 3 || g.n == 1 && len(g.digits[0]) > 3) {
			return g, end
		}
	}
	return g, end
}

// one reports whether the first groups are one number with thousands
// separators, or without any.
func (g *groups) one(n int) bool {
	for k := 1; k < n; k++ {
		if len(g.digits[k]) != 3 || g.marks[k] != g.marks[1] {
			return false
		}
	}
	return n == 1 || len(g.digits[0]) <= 3 && g.digits[0][0] != '0'
}

// whole is the value of groups read as one row of digits. Rows that are too
// long for a float64 are told apart by a remainder.
func whole(groups ...[]byte) float64 {
	v := 0.0
	for _, digits := range groups {
		for _, c := range digits {
			if v = 10*v + float64(c-'0'); v >= 1e15 {
				v = math.Mod(v, 99999999999973)
			}
		}
	}
	return v
}

// digits reads the number whose first digit is at i, and returns where it ends.
func (ns *statedNumbers) digits(i int) int {
	ns.close()
	g, end := readGroups(ns.text, i)
	n := statedNumber{at: [2]int{i, end}, weak: inName(ns.text, i)}
	switch last := g.n - 1; {
	case g.one(g.n):
		n.add(whole(g.digits[:g.n]...))
		if g.n == 2 && g.marks[1] != ' ' {
			n.add(decimal(&g))
		}
	case g.marks[last] != ' ' && g.one(last) && (last == 1 || g.marks[last] != g.marks[1]):
		n.add(decimal(&g))
		if a, b := g.digits[0], g.digits[1]; last == 1 && len(a) <= 2 && len(b) <= 2 {
			n.split = [2]float64{whole(a), whole(b)}
			ns.imply(n.split[0], n.split[1])
		}
	default: // a date with points, a list, a version
		for k, digits := range g.digits[:g.n] {
			ns.close()
			ns.begin(statedNumber{values: [4]float64{whole(digits)}, n: 1, at: [2]int{g.begin[k], g.begin[k] + len(digits)}, weak: n.weak})
		}
		return end
	}
	end = ns.clock(n.values[0], end)
	n.at[1] = end
	// The 88 of "1986-88" is 1988 too.
	if len(ns.list) > 0 && g.n == 1 && len(g.digits[0]) == 2 {
		last := &ns.list[len(ns.list)-1]
		if v := last.values[0]; v >= 1000 && v < 3000 && i-last.at[1] <= len("–") {
			n.add(math.Floor(v/100)*100 + n.values[0])
		}
	}
	ns.begin(n)
	return end
}

// begin opens a number in digits. 0 and 1 are weak: "1 photo" is a photo.
func (ns *statedNumbers) begin(n statedNumber) {
	if n.n == 1 && n.values[0] <= 1 {
		n.weak = true
	}
	ns.run = run{statedNumber: n, open: true, end: n.at[1], terms: ns.run.terms[:0]}
}

// decimal is the value with the decimal mark before the last group.
func decimal(g *groups) float64 {
	part := g.digits[g.n-1]
	part = part[:min(len(part), 15)]
	return whole(g.digits[:g.n-1]...) + whole(part)/math.Pow10(len(part))
}

// inName reports whether a letter, maybe with a hyphen, stands before a number:
// "COVID-19", "A4". Such a number is part of a name.
func inName(s []byte, i int) bool {
	if i > 0 && (s[i-1] == '-' || s[i-1] == '_') {
		i--
	}
	r, n := utf8.DecodeLastRune(s[:i])
	if (r == 'x' || r == 'х') && i > n && isDigit(s[i-n-1]) {
		return false // 10x15
	}
	return unicode.IsLetter(r) && !isDense(r)
}

// clock reads ":30" behind an hour, and returns where it ends. Full hours have
// no number of minutes.
func (ns *statedNumbers) clock(hour float64, i int) int {
	s := ns.text
	if i+2 >= len(s) || s[i] != ':' || !isDigit(s[i+1]) || !isDigit(s[i+2]) || i+3 < len(s) && isDigit(s[i+3]) || hour > 24 {
		return i
	}
	ns.implyHour(hour)
	minutes := whole(s[i+1 : i+3])
	ns.imply(hour + minutes/100) // 10.50
	if minutes == 0 {
		return i + 3
	}
	return i
}

// implyHour notes an hour of the other clock: 3 of 15 and 15 of 3.
func (ns *statedNumbers) implyHour(h float64) {
	if h <= 24 {
		ns.imply(h-12, h+12)
	}
}

// Words

// word takes the word from begin to end of the text.
func (ns *statedNumbers) word(begin, end int) {
	table, r := numeralWords(), &ns.run
	s := ns.text[begin:end]
	near := r.open && begin-r.end <= len("\u00a0-") && len(bytes.Trim(ns.text[r.end:begin], " -\u00a0\u202f")) == 0
	m := table.find(s)
	switch {
	case m != nil:
	case near && r.words > 0 && (string(s) == "and" || string(s) == "und"):
		r.end = end
		return
	default:
		ns.close()
		ns.compound(table, begin, end)
		return
	}
	if m.kind == impliesNumbers {
		if near {
			ns.modify(m, begin)
		}
		ns.close()
		ns.imply(m.implied...)
		return
	}
	han := s[0] >= 0xe3
	if !near || !r.take(m, han) {
		ns.close()
		*r = run{statedNumber: statedNumber{at: [2]int{begin, end}, weak: true}, open: true, terms: append(r.terms[:0], m.value), scaled: m.kind == multiplies, han: han}
	}
	r.words++
	r.end, r.at[1] = end, end
	r.sum()
}

// sum makes the sum of the terms the value.
func (r *run) sum() {
	if len(r.terms) == 0 {
		return
	}
	r.values[0], r.n = 0, 1
	for _, t := range r.terms {
		r.values[0] += t
	}
}

// take makes a word part of the number before it. It returns false where the
// word begins another number.
func (r *run) take(m *meaning, han bool) bool {
	switch {
	case m.kind == multiplies && len(r.terms) == 0: // 5 million
		old := r.statedNumber
		r.n = 0
		for _, v := range old.values[:old.n] {
			r.add(v * m.value)
		}
		return true
	case m.kind == multiplies:
		r.multiply(m.value)
		return true
	case len(r.terms) == 0:
		return false
	}
	top := r.terms[len(r.terms)-1]
	if han && len(r.terms) == 1 && !r.scaled { // 二〇二一
		r.terms[0] = 10*top + m.value
		return true
	}
	place := 10.0
	for place <= m.value {
		place *= 10
	}
	if top < place || math.Mod(top, place) != 0 || top == 10 && !r.scaled { // "two, three", "ten, two"
		return false
	}
	if m.value > 0 { // 零 keeps a place
		r.terms, r.scaled = append(r.terms, m.value), false
	}
	return true
}

// multiply multiplies the terms at the end that are smaller than a scale: the
// twenty and five of "three million twenty-five thousand".
func (r *run) multiply(by float64) {
	small := 0.0
	for len(r.terms) > 0 && r.terms[len(r.terms)-1] < by {
		small += r.terms[len(r.terms)-1]
		r.terms = r.terms[:len(r.terms)-1]
	}
	r.terms, r.scaled = append(r.terms, max(small, 1)*by), true
}

// modify changes the number before a word by what the word means.
func (ns *statedNumbers) modify(m *meaning, begin int) {
	r := &ns.run
	v := r.values[0]
	if m.times > 0 {
		for _, v := range r.values[:r.n] {
			r.add(v * m.times)
		}
	}
	switch {
	case m.role == "clock":
		ns.implyHour(v)
	case m.role == "decade" && begin <= r.end+1 && v >= 10 && v < 100:
		r.add(1900 + v)
	case m.role == "percent" && v == 100:
		r.weak = true // it is fully
	case m.role == "percent" && v > 0 && v <= 50:
		if n := math.Round(100 / v); math.Abs(100/n-v) < 1 {
			r.add(n) // 20 of 100 are a fifth
		}
	}
}

// compound reads a word that begins with number words. One that has no others,
// such as zweihundertdreißig, is a number; пятизвездочный implies one.
func (ns *statedNumbers) compound(table *numerals, begin, end int) {
	m, rest := table.cutStem(ns.text[begin:end])
	if m == nil {
		return
	}
	r := &ns.run
	*r = run{statedNumber: statedNumber{at: [2]int{begin, end}, weak: true}, end: end, words: 2, terms: r.terms[:0]}
	for m != nil {
		if m.kind == multiplies {
			r.multiply(m.value)
		} else {
			r.terms = append(r.terms, m.value)
		}
		m, rest = table.cutStem(bytes.TrimPrefix(rest, []byte("und")))
	}
	r.sum()
	if r.open = len(rest) == 0; !r.open {
		ns.imply(r.values[0])
	}
}

// Comparison

// has reports whether a text says a number, in whatever form.
func (ns *statedNumbers) has(n *statedNumber) bool {
	if !ns.ready {
		for i := range ns.list {
			ns.known = append(ns.known, ns.list[i].values[:ns.list[i].n]...)
		}
		slices.Sort(ns.known)
		ns.ready = true
	}
	is := func(v float64) bool { _, ok := slices.BinarySearch(ns.known, v); return ok }
	return slices.ContainsFunc(n.values[:n.n], is) || n.split[1] > 0 && is(n.split[0]) && is(n.split[1])
}

// inRow reports whether number i continues its neighbours: the 4 and 5 of "3, 4,
// 5, 6", which is "3 to 6" too.
func (ns *statedNumbers) inRow(i int) bool {
	return i > 0 && i+1 < len(ns.list) && ns.list[i-1].is(ns.list[i].values[0]-1) && ns.list[i+1].is(ns.list[i].values[0]+1)
}

// missing returns the first number that another text lacks, a strong one if
// there is one, or nil.
func (ns *statedNumbers) missing(other *statedNumbers) *statedNumber {
	var weak *statedNumber
	for i := range ns.list {
		n := &ns.list[i]
		switch {
		case other.has(n) || ns.inRow(i):
		case !n.weak:
			return n
		case weak == nil:
			weak = n
		}
	}
	return weak
}

// changedNumber says which number is lost, new or changed, or "".
func changedNumber(ref, got *statedNumbers) string {
	lost, added := ref.missing(got), got.missing(ref)
	show := func(ns *statedNumbers, n *statedNumber) string { return quote(string(ns.text[n.at[0]:n.at[1]])) }
	switch {
	case lost != nil && added != nil:
		return fmt.Sprintf("%s in place of the reference's %s", show(got, added), show(ref, lost))
	case lost != nil && !lost.weak:
		return fmt.Sprintf("the reference's %s is missing", show(ref, lost))
	case added != nil && !added.weak:
		return fmt.Sprintf("%s is not in the reference", show(got, added))
	}
	return ""
}

// relaxLabel makes the list number in front of a reference weak, and so the
// one behind its first word: "Article 26", "Step 3:". Answers may leave it out.
func (ns *statedNumbers) relaxLabel() {
	if len(ns.list) == 0 {
		return
	}
	first := &ns.list[0]
	before, after := bytes.Trim(ns.text[:first.at[0]], "(#№. -"), ns.text[first.at[1]:]
	if len(before) == 0 {
		first.weak = first.weak || len(after) > 0 && (after[0] == '.' || after[0] == ')')
	} else if m := numeralWords().find(before); m != nil && m.role == "part" {
		first.weak = true
	}
}
