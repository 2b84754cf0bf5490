package check

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

//go:embed numerals.txt
var numeralTable string

// meaning is what a word means in numbers; numerals.txt explains the kinds.
type meaning struct {
	value   float64
	states  bool // the number value
	scales  bool // multiplies by value
	times   float64
	implied []float64
	role    string // "clock", "decade", "percent" or "part"
}

type numerals struct{ words, stems map[string]*meaning }

var numeralWords = sync.OnceValue(func() numerals {
	n := numerals{map[string]*meaning{}, map[string]*meaning{}}
	for line := range strings.Lines(numeralTable) {
		m := &meaning{}
		for i, f := range strings.Fields(line) {
			v, err := strconv.ParseFloat(strings.TrimLeft(f, "x*"), 64)
			switch {
			case f == "#":
			case f[0] == '~':
				for s := range strings.SplitSeq(f[1:], ",") {
					v, _ := strconv.ParseFloat(s, 64)
					m.implied = append(m.implied, v)
				}
				continue
			case f[0] == ':':
				m.role = f[1:]
				continue
			case err == nil && f[0] == 'x':
				m.value, m.scales = v, true
				continue
			case err == nil && f[0] == '*':
				m.times = v
				continue
			case err == nil && i == 0:
				m.value, m.states = v, true
				continue
			default:
				n.add(f, m)
				continue
			}
			break
		}
	}
	return n
})

func (n numerals) add(word string, m *meaning) {
	word, isStem := strings.CutSuffix(word, "-")
	if isStem {
		n.stems[word] = m
	}
	stem, ordinal := strings.CutSuffix(word, "+")
	if !ordinal {
		n.words[word] = m
		return
	}
	endings := "ый ой ого ому ым ом ая ую ое ые ых ыми"
	if stem[len(stem)-1] < utf8.RuneSelf {
		endings = "e en er es em"
	}
	for e := range strings.FieldsSeq(endings) {
		n.words[stem+e] = m
	}
}

// cutStem takes the longest number word off the front of a compound.
func (n numerals) cutStem(w string) (*meaning, string) {
	for end := len(w); end > 1; end-- {
		if m := n.stems[w[:end]]; m != nil {
			return m, w[end:]
		}
	}
	return nil, w
}

// number is a number of a text: the values that it may mean, as "1.234" is one thousand
// in German and between one and two in English.
type number struct {
	text   string
	values []float64
	// weak numbers, such as words, may come or go: only one in the place of another counts.
	weak bool
	// parts are those before and behind the point of "18.12", which may be a date or a time.
	parts []float64
}

// numbers are those that a text states, and those that its words imply.
type numbers struct {
	stated  []number
	implied []float64
}

var numberTokens = regexp.MustCompile(`\d+(?:[.,'’\x{a0}\x{202f}\x{2009} ]\d+)*|%|\p{Han}|\p{L}+(?:['’]\p{L}+)*`)

// numbersOf finds the numbers of a text.
func numbersOf(t string) numbers {
	t = strings.ToLower(norm.NFKC.String(t))
	s := scanner{text: t, table: numeralWords(), end: -1}
	for _, at := range numberTokens.FindAllStringIndex(t, -1) {
		if w := t[at[0]:at[1]]; isDigit(w[0]) {
			s.digits(at[0], w)
		} else {
			s.word(at[0], w)
		}
	}
	s.close()
	return s.numbers
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// scanner reads numbers. terms are those of a number in words that is not at its end,
// such as 300 and 20.
type scanner struct {
	numbers
	text       string
	table      numerals
	terms      []float64
	begin, end int  // of the number in words
	scaled     bool // its last word was "hundred" or the like
	lone       bool // it is one word that may mean nothing, as "thousand" or 一
}

func (s *scanner) close() {
	if s.terms == nil {
		return
	}
	sum := 0.0
	for _, v := range s.terms {
		sum += v
	}
	if s.lone {
		s.implied = append(s.implied, sum)
	} else {
		s.stated = append(s.stated, number{text: s.text[s.begin:s.end], values: []float64{sum}, weak: true})
	}
	s.terms = nil
}

func (s *scanner) imply(v ...float64) { s.implied = append(s.implied, v...) }

// digits reads digits in groups.
func (s *scanner) digits(at int, w string) {
	s.close()
	groups := strings.FieldsFunc(w, func(r rune) bool { return r >= utf8.RuneSelf || !isDigit(byte(r)) })
	var marks []string
	rest := w
	for _, g := range groups {
		mark, after, _ := strings.Cut(rest, g)
		marks, rest = append(marks, mark), after
	}
	before := strings.TrimRight(s.text[:at], "-_")
	weak := unicode.IsLetter(lastRune(before)) && !isDense(lastRune(before)) && len(s.text[:at])-len(before) <= 1 // COVID-19
	state := func(text string, values ...float64) {
		zero := len(values) == 1 && values[0] <= 1
		s.stated = append(s.stated, number{text: text, values: values, weak: weak || zero})
		s.begin, s.end = at, at+len(w)
	}
	value := func(s string) float64 { v, _ := strconv.ParseFloat(s, 64); return v }
	n := len(groups)
	thousands := func(n int) bool {
		for i := 1; i < n; i++ {
			if len(groups[i]) != 3 || marks[i] != marks[1] {
				return false
			}
		}
		return n == 1 || len(groups[0]) <= 3 && groups[0][0] != '0'
	}
	point := marks[n-1] == "." || marks[n-1] == ","
	decimal := value(strings.Join(groups[:n-1], "") + "." + groups[n-1])
	switch {
	case thousands(n) && n == 2 && point:
		state(w, value(strings.Join(groups, "")), decimal)
	case thousands(n):
		state(w, value(strings.Join(groups, "")))
		if v, after := value(w), s.text[at+len(w):]; n == 1 && strings.HasPrefix(after, ":") && v <= 24 {
			s.imply(v-12, v+12)
			if len(after) > 2 && isDigit(after[1]) && isDigit(after[2]) {
				s.imply(v + value(after[1:3])/100) // 10.50
			}
		}
	case point && thousands(n-1) && (n == 2 || marks[n-1] != marks[1]):
		state(w, decimal)
		if len(groups[0]) <= 2 && len(groups[1]) <= 2 { // a date or a time
			s.imply(value(groups[0]), value(groups[1]))
			s.stated[len(s.stated)-1].parts = []float64{value(groups[0]), value(groups[1])}
		}
	default:
		for _, g := range groups {
			state(g, value(g))
		}
	}
	if k := len(s.stated); k > 1 && len(w) == 2 { // the 88 of "1986-88" is 1988 too
		if v := s.stated[k-2].values[0]; v >= 1000 && v < 3000 && strings.ContainsRune("-–/", lastRune(s.text[:at])) {
			s.stated[k-1].values = append(s.stated[k-1].values, math.Floor(v/100)*100+value(w))
		}
	}
}

// word reads a word, which may be a number, part of one, or change the one before it.
func (s *scanner) word(at int, w string) {
	gap := ""
	if s.end >= 0 {
		gap = s.text[s.end:at]
	}
	near := s.end >= 0 && len(gap) <= 2 && strings.Trim(gap, " -\u00a0\u202f") == ""
	m := s.table.words[w]
	switch {
	case m == nil && near && s.terms != nil && (w == "and" || w == "und"):
		s.end = at + len(w)
		return
	case m == nil:
		s.close()
		s.compound(at, w)
		return
	case !m.states && !m.scales:
		s.close()
		if near && len(s.stated) > 0 {
			s.modify(m)
		}
		s.imply(m.implied...)
		s.end = -1
		return
	case near && m.scales && s.terms == nil && len(s.stated) > 0: // 5 million
		last := &s.stated[len(s.stated)-1]
		scaled := make([]float64, len(last.values))
		for i, v := range last.values {
			scaled[i] = v * m.value
		}
		last.values, s.end = scaled, at+len(w)
		return
	}
	if !near || s.terms == nil || !s.take(m) {
		s.close()
		s.begin, s.terms, s.scaled = at, []float64{m.value}, m.scales
		s.lone = m.scales || isDense(firstRune(w))
	} else {
		s.lone = false
	}
	s.end = at + len(w)
}

// take makes a word part of the number before it, unless it begins another one.
func (s *scanner) take(m *meaning) bool {
	top := s.terms[len(s.terms)-1]
	if m.scales {
		small := 0.0
		for len(s.terms) > 0 && s.terms[len(s.terms)-1] < m.value {
			small += s.terms[len(s.terms)-1]
			s.terms = s.terms[:len(s.terms)-1]
		}
		s.terms, s.scaled = append(s.terms, max(small, 1)*m.value), true
		return true
	}
	place := 10.0
	for place <= m.value {
		place *= 10
	}
	if isDense(firstRune(s.text[s.begin:])) && len(s.terms) == 1 && !s.scaled { // 二〇二一
		s.terms[len(s.terms)-1] = 10*top + m.value
		return true
	}
	if top < place || math.Mod(top, place) != 0 || top == 10 {
		return false
	}
	if m.value > 0 { // 零 keeps a place
		s.terms, s.scaled = append(s.terms, m.value), false
	}
	return true
}

// modify changes the number before a word by what the word means.
func (s *scanner) modify(m *meaning) {
	last := &s.stated[len(s.stated)-1]
	v := last.values[0]
	if m.times > 0 {
		last.values = append(last.values, v*m.times)
	}
	switch {
	case m.role == "clock":
		s.imply(v-12, v+12)
	case m.role == "decade" && v >= 10 && v < 100:
		last.values = append(last.values, 1900+v)
	case m.role == "percent" && v == 100:
		last.weak = true // it is fully
	case m.role == "percent" && v > 0 && v <= 50:
		last.values = append(last.values, math.Round(100/v)) // 20 of 100 are a fifth
	}
}

// compound reads a word that begins with number words. One that has no others, such as
// zweihundertdreißig, is a number; пятизвездочный implies one.
func (s *scanner) compound(at int, w string) {
	s.end = -1
	m, rest := s.table.cutStem(w)
	if m == nil {
		return
	}
	s.begin, s.terms, s.lone, s.scaled = at, []float64{m.value}, false, false
	for m, rest = s.table.cutStem(strings.TrimPrefix(rest, "und")); m != nil; m, rest = s.table.cutStem(strings.TrimPrefix(rest, "und")) {
		if m.scales {
			s.take(m)
		} else {
			s.terms = append(s.terms, m.value)
		}
	}
	s.end = at + len(w)
	s.lone = rest != ""
	s.close()
}

// relaxed makes the number in front of a reference weak, as that of a list or an article:
// answers may leave it out.
func (n numbers) relaxed(t string) numbers {
	if len(n.stated) > 0 {
		first := &n.stated[0]
		before, after, _ := strings.Cut(strings.ToLower(norm.NFKC.String(t)), first.text)
		m := numeralWords().words[strings.Trim(before, "(#№. -")]
		label := strings.HasPrefix(after, ".") || strings.HasPrefix(after, ")")
		first.weak = first.weak || before == "" && label || m != nil && m.role == "part"
	}
	return n
}

// missing returns the first number that another text lacks, a strong one if there is
// one, or nil.
func (n numbers) missing(other numbers) (weak *number) {
	for i := range n.stated {
		m := &n.stated[i]
		says := func(v float64) bool {
			return slices.Contains(other.implied, v) || slices.ContainsFunc(other.stated, func(o number) bool { return slices.Contains(o.values, v) })
		}
		has := slices.ContainsFunc(m.values, says) || m.parts != nil && says(m.parts[0]) && says(m.parts[1])
		switch {
		case has:
		case !m.weak:
			return m
		case weak == nil:
			weak = m
		}
	}
	return weak
}

// changedNumber says which number is lost, new or changed, or "".
func changedNumber(ref, got numbers) string {
	lost, added := ref.missing(got), got.missing(ref)
	switch {
	case lost != nil && added != nil:
		return fmt.Sprintf("%q in place of the reference's %q", added.text, lost.text)
	case lost != nil && !lost.weak:
		return fmt.Sprintf("the reference's %q is missing", lost.text)
	case added != nil && !added.weak:
		return fmt.Sprintf("%q is not in the reference", added.text)
	}
	return ""
}
