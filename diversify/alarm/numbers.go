package alarm

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/refract-eval/refract/internal/text"
)

//go:embed numerals.txt
var numeralTable string

// meaning is the meaning of a word in numbers; numerals.txt explains the kinds.
type meaning struct {
	value, scale, times float64 // 0 for none
	implied             []float64
	role                string // "clock", "decade" or "part"
}

func parseNumber(s string) float64 {
	v, _ := strconv.ParseFloat(s, 64)
	return v
}

var numeralWords = sync.OnceValue(func() map[string]*meaning {
	words := map[string]*meaning{}
	for line := range strings.Lines(numeralTable) {
		line, _, _ = strings.Cut(line, "#")
		m := &meaning{}
		for _, f := range strings.Fields(line) {
			switch first := f[0]; {
			case first == '~':
				for s := range strings.SplitSeq(f[1:], ",") {
					m.implied = append(m.implied, parseNumber(s))
				}
			case first == ':':
				m.role = f[1:]
			case first == 'x':
				m.scale = parseNumber(f[1:])
			case first == '*':
				m.times = parseNumber(f[1:])
			case isDigit(first):
				m.value = parseNumber(f)
			default:
				words[f] = m
			}
		}
	}
	return words
})

// number is a number in a text, with all values that it may have: "1.234" is over a thousand
// in German and between one and two in English.
type number struct {
	text   string
	values []float64
	// weak numbers, such as words, may be added or dropped; only replacing one by another
	// counts.
	weak bool
	// parts are the numbers before and after the point of "18.12", which may be a date or a
	// time.
	parts []float64
}

// numbers are the numbers that a text states, and those that its words imply.
type numbers struct {
	stated  []number
	implied []float64
}

var numberTokens = text.Regexp(`\d+(?:[.,'’\x{a0}\x{202f}\x{2009} ]\d+)*|\p{Han}|\p{L}+(?:['’]\p{L}+)*`)

// numbersOf finds the numbers of a text.
func numbersOf(t string) numbers {
	s := scanner{text: strings.ToLower(norm.NFKC.String(t)), end: -1}
	for _, at := range numberTokens().FindAllStringIndex(s.text, -1) {
		switch w := s.text[at[0]:at[1]]; {
		case isDigit(w[0]):
			s.digits(at[0], w)
		case numeralWords()[w] != nil:
			s.word(at[0], w, numeralWords()[w])
		case w != "and" && w != "und":
			s.end = -1
		}
	}
	return s.numbers
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// scanner reads numbers.
type scanner struct {
	numbers
	text string
	end  int // end of the number before, which a word may modify; -1 for none
}

func (s *scanner) state(at, end int, weak bool, values ...float64) {
	s.stated = append(s.stated, number{text: s.text[at:end], values: values, weak: weak})
	s.end = end
}

// digits reads digits in groups.
func (s *scanner) digits(at int, w string) {
	groups := strings.FieldsFunc(w, func(r rune) bool { return r >= utf8.RuneSelf || !isDigit(byte(r)) })
	weak, n, end := followsWord(s.text[:at]), len(groups), at+len(w)
	whole, decimal := parseNumber(strings.Join(groups, "")), parseNumber(strings.Join(groups[:n-1], "")+"."+groups[n-1])
	point := n > 1 && strings.Contains(".,", string(w[len(w)-len(groups[n-1])-1]))
	switch {
	case n == 1:
		all := whole == 100 && strings.HasPrefix(strings.TrimSpace(s.text[end:]), "%")
		s.state(at, end, weak || whole <= 1 || all, whole)
		if strings.HasPrefix(s.text[end:], ":") && whole <= 24 {
			s.implied = append(s.implied, whole-12, whole+12)
		}
	case thousands(groups) && point:
		s.state(at, end, weak, whole, decimal)
	case thousands(groups):
		s.state(at, end, weak, whole)
	case point && (n == 2 || thousands(groups[:n-1])):
		s.state(at, end, weak, decimal)
		if len(groups[0]) <= 2 && len(groups[1]) <= 2 { // a date or a time
			s.stated[len(s.stated)-1].parts = []float64{parseNumber(groups[0]), parseNumber(groups[1])}
			s.implied = append(s.implied, parseNumber(groups[0]), parseNumber(groups[1]))
		}
	default:
		for _, g := range groups {
			end := at + strings.Index(s.text[at:], g) + len(g)
			s.state(end-len(g), end, weak || parseNumber(g) <= 1, parseNumber(g))
			at = end
		}
	}
}

// followsWord reports whether a number after a text belongs to a word, as in COVID-19.
func followsWord(before string) bool {
	word := strings.TrimRight(before, "-_")
	last, _ := utf8.DecodeLastRuneInString(word)
	return unicode.IsLetter(last) && !text.IsUnspaced(last) && len(before)-len(word) <= 1
}

// thousands reports whether groups of digits are those of a number with separators.
func thousands(groups []string) bool {
	return len(groups[0]) <= 3 && groups[0][0] != '0' && !slices.ContainsFunc(groups[1:], func(g string) bool { return len(g) != 3 })
}

// word reads a word that is a number or part of one, or modifies the number before it.
func (s *scanner) word(at int, w string, m *meaning) {
	last := &number{}
	if s.end >= 0 && slices.Contains([]string{"", " ", "-", "\u00a0", "\u202f", " and "}, s.text[s.end:at]) {
		last = &s.stated[len(s.stated)-1]
	}
	v, follows := m.value, last.values != nil
	switch {
	case follows && m.scale > 0: // 5 million
		for i := range last.values {
			last.values[i] *= m.scale
		}
	case follows && v > 0 && last.weak && last.values[0] >= 20 && (v < 10 && int(last.values[0])%10 == 0 || v < 100 && int(last.values[0])%100 == 0): // twenty-five
		last.values[0] += v
	case m.scale > 0 || v > 0:
		s.state(at, at+len(w), true, max(m.scale, v))
		return
	default:
		if follows {
			s.modify(last, m)
		}
		s.implied = append(s.implied, m.implied...)
		s.end = -1
		return
	}
	last.text = s.text[strings.LastIndex(s.text[:s.end], last.text) : at+len(w)]
	s.end = at + len(w)
}

// modify adds to a number what the word after it makes it mean.
func (s *scanner) modify(n *number, m *meaning) {
	if m.times > 0 {
		n.values = append(n.values, n.values[0]*m.times)
	}
	switch m.role {
	case "clock":
		s.implied = append(s.implied, n.values[0]-12, n.values[0]+12)
	case "decade":
		n.values = append(n.values, 1900+n.values[0])
	}
}

// relaxed makes the number at the beginning of a reference weak, because answers may leave out
// the number of a list item or an article.
func (n numbers) relaxed(t string) numbers {
	if len(n.stated) > 0 {
		first := &n.stated[0]
		before, after, _ := strings.Cut(strings.ToLower(norm.NFKC.String(t)), first.text)
		label := strings.HasPrefix(after, ".") || strings.HasPrefix(after, ")")
		m := numeralWords()[strings.Trim(before, "(#№. -")]
		first.weak = first.weak || before == "" && label || m != nil && m.role == "part"
	}
	return n
}

// missing returns the first strong number that the other text lacks, else the first weak one,
// else nil.
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

// ChangedNumber says which number of the reference the variant lost or changed, or which it
// added, such as `"8" instead of the reference's "9"`, or returns "".
func ChangedNumber(reference, variant string) string {
	reference = strings.TrimSpace(reference)
	ref, got := numbersOf(reference).relaxed(reference), numbersOf(variant)
	lost, added := ref.missing(got), got.missing(ref)
	switch {
	case lost != nil && added != nil:
		return fmt.Sprintf("%q instead of the reference's %q", added.text, lost.text)
	case lost != nil && !lost.weak:
		return fmt.Sprintf("the reference's %q is missing", lost.text)
	case added != nil && !added.weak:
		return fmt.Sprintf("%q is not in the reference", added.text)
	}
	return ""
}
