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
	value := func(s string) float64 { v, _ := strconv.ParseFloat(s, 64); return v }
	for line := range strings.Lines(numeralTable) {
		line, _, _ = strings.Cut(line, "#")
		m := &meaning{}
		for _, f := range strings.Fields(line) {
			switch first := f[0]; {
			case first == '~':
				for s := range strings.SplitSeq(f[1:], ",") {
					m.implied = append(m.implied, value(s))
				}
			case first == ':':
				m.role = f[1:]
			case first == 'x':
				m.value, m.scales = value(f[1:]), true
			case first == '*':
				m.times = value(f[1:])
			case isDigit(first):
				m.value, m.states = value(f), true
			default:
				n.add(f, m)
			}
		}
	}
	return n
})

// add adds a word: a stem of longer words before "-", of German and Russian ordinals
// before "+".
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
	lone bool // it is one word that may mean nothing, as "thousand" or 一
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
	s := scanner{text: strings.ToLower(norm.NFKC.String(t)), table: numeralWords(), end: -1}
	for _, at := range numberTokens.FindAllStringIndex(s.text, -1) {
		switch w := s.text[at[0]:at[1]]; {
		case isDigit(w[0]):
			s.digits(at[0], w)
		case s.table.words[w] != nil:
			s.word(at[0], w, s.table.words[w])
		case w == "and" || w == "und":
		default:
			s.compound(at[0], w)
		}
	}
	return s.numbers
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// scanner reads numbers.
type scanner struct {
	numbers
	text  string
	table numerals
	end   int     // of the number before, which words may change; -1 for none
	added float64 // what the word before added to it, such as 20 to 300
}

func (s *scanner) state(at, end int, weak bool, values ...float64) {
	s.stated = append(s.stated, number{text: s.text[at:end], values: values, weak: weak})
	s.end, s.added = end, values[0]
}

func (s *scanner) imply(v ...float64) { s.implied = append(s.implied, v...) }

// digits reads digits in groups.
func (s *scanner) digits(at int, w string) {
	groups := strings.FieldsFunc(w, func(r rune) bool { return r >= utf8.RuneSelf || !isDigit(byte(r)) })
	before := strings.TrimRight(s.text[:at], "-_")
	weak := unicode.IsLetter(lastRune(before)) && !isDense(lastRune(before)) && at-len(before) <= 1 // COVID-19
	value := func(groups ...string) float64 { v, _ := strconv.ParseFloat(strings.Join(groups, ""), 64); return v }
	n, end := len(groups), at+len(w)
	thousands := func(n int) bool {
		return n == 1 || len(groups[0]) <= 3 && groups[0][0] != '0' && !slices.ContainsFunc(groups[1:n], func(g string) bool { return len(g) != 3 })
	}
	whole, decimal := value(groups...), value(strings.Join(groups[:n-1], ""), ".", groups[n-1])
	point := n > 1 && strings.Contains(".,", string(w[len(w)-len(groups[n-1])-1]))
	switch {
	case n == 1:
		after := s.text[end:]
		all := whole == 100 && strings.HasPrefix(strings.TrimSpace(after), "%")
		s.state(at, end, weak || whole <= 1 || all, whole)
		if strings.HasPrefix(after, ":") && whole <= 24 {
			s.imply(whole-12, whole+12)
			if len(after) > 2 && isDigit(after[1]) && isDigit(after[2]) {
				s.imply(whole + value(after[1:3])/100) // 10.50
			}
		}
	case thousands(n) && point:
		s.state(at, end, weak, whole, decimal)
	case thousands(n):
		s.state(at, end, weak, whole)
	case point && thousands(n-1):
		s.state(at, end, weak, decimal)
		if len(groups[0]) <= 2 && len(groups[1]) <= 2 { // a date or a time
			s.stated[len(s.stated)-1].parts = []float64{value(groups[0]), value(groups[1])}
			s.imply(value(groups[0]), value(groups[1]))
		}
	default:
		for _, g := range groups {
			end := at + strings.Index(s.text[at:], g) + len(g)
			s.state(end-len(g), end, weak || value(g) <= 1, value(g))
			at = end
		}
	}
}

// word reads a word, which is a number, part of one, or changes the one before it.
func (s *scanner) word(at int, w string, m *meaning) {
	var last *number
	if s.end >= 0 && slices.Contains([]string{"", " ", "-", "\u00a0", "\u202f", " and ", "und"}, s.text[s.end:at]) {
		last = &s.stated[len(s.stated)-1]
	}
	end := at + len(w)
	switch {
	case !m.states && !m.scales:
		if last != nil && m.times > 0 {
			last.values = append(last.values, last.values[0]*m.times)
		}
		switch {
		case last == nil:
		case m.role == "clock":
			s.imply(last.values[0]-12, last.values[0]+12)
		case m.role == "decade" && last.values[0] < 100:
			last.values = append(last.values, 1900+last.values[0])
		}
		s.imply(m.implied...)
		s.end = -1
		return
	case last == nil:
	case m.scales && (m.value > last.values[0] || s.added == last.values[0]): // 5 million
		for i := range last.values {
			last.values[i] *= m.value
		}
		s.extend(last, end, last.values[0])
		return
	case m.scales: // the 20 of 520 in 五百二十
		last.values[0] += s.added * (m.value - 1)
		s.extend(last, end, s.added*m.value)
		return
	case isDense(firstRune(w)) && m.value < 10 && s.added < 10: // 二〇二一
		last.values[0] = 10*last.values[0] + m.value
		s.extend(last, end, m.value)
		return
	case m.value == 0: // 零 keeps a place
		s.end = end
		return
	case last.weak && (fits(m.value, s.added) || s.text[s.end:at] == "und" && fits(s.added, m.value)):
		last.values[0] += m.value
		s.extend(last, end, m.value)
		return
	}
	s.state(at, end, true, m.value)
	s.stated[len(s.stated)-1].lone = m.scales || isDense(firstRune(w))
}

// extend makes a word part of a number.
func (s *scanner) extend(n *number, end int, added float64) {
	n.text = s.text[strings.LastIndex(s.text[:s.end], n.text):end]
	n.lone, s.end, s.added = false, end, added
}

// fits reports whether a number may follow another one within a number: 5 follows 20, and
// not 12.
func fits(v, after float64) bool {
	place := 10.0
	for place <= v {
		place *= 10
	}
	return v > 0 && after >= place && math.Mod(after, place) == 0 && after != 10
}

// compound reads a word that begins with number words. One that has no others, such as
// zweihundertdreißig, is a number; пятизвездочный implies one.
func (s *scanner) compound(at int, w string) {
	s.end = -1
	known := len(s.stated)
	rest := w
	for m, after := s.table.cutStem(rest); m != nil; m, after = s.table.cutStem(rest) {
		s.word(at+len(w)-len(rest), rest[:len(rest)-len(after)], m)
		rest = strings.TrimPrefix(after, "und")
	}
	if rest != "" && len(s.stated) > known {
		s.stated[known].lone = true
	}
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
		has := m.lone || slices.ContainsFunc(m.values, says) || m.parts != nil && says(m.parts[0]) && says(m.parts[1])
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
