package answer

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/metrics/analysis"
)

// scalar reads an answer that is one value:
//
//	[lead] candidate ["/" denominator] [unit] [anything that is no second candidate]
type scalar struct {
	spec  Spec
	units map[string]bool
	outOf []float64
	// candidate reads the value that s starts with.
	candidate func(s string) (value float64, width int, ok bool)
	what      string // the value, for people
	marks     string // what decorates the value
}

func numberReader(s Spec) reader {
	sc := scalar{
		spec:  s,
		units: words("points point pts marks percent"),
		outOf: s.OutOf, candidate: leadingNumber, what: "number", marks: marks,
	}
	if s.After != "" {
		return sc.readAfter
	}
	return sc.read
}

// readAfter reads the number behind a mark, of which each occurrence that has one
// must have the same.
func (sc *scalar) readAfter(text string, r *analysis.Report) string {
	var found *float64
	mark := regexp.MustCompile("(?i)" + regexp.QuoteMeta(sc.spec.After))
	why := fmt.Sprintf("the answer has no %q", sc.spec.After)
	for _, at := range mark.FindAllStringIndex(text, -1) {
		value, rest, failed := sc.value(strings.TrimLeft(text[at[1]:], sc.marks+":"))
		if failed == "" {
			line, _, _ := strings.Cut(rest, "\n")
			failed = sc.sameLine(line)
		}
		switch {
		case failed != "":
			why = fmt.Sprintf("behind %q: %s", sc.spec.After, failed)
			continue
		case found != nil && *found != value:
			return fmt.Sprintf("the answer states both %v and %v", *found, value)
		}
		found = &value
	}
	if found == nil {
		return why
	}
	if why = outside(sc.spec, *found); why == "" {
		r.SetScore(analysis.Scored, *found)
	}
	return why
}

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

func (sc *scalar) read(text string, r *analysis.Report) string {
	rest, _ := skipLead(text, sc.marks)
	value, rest, why := sc.value(rest)
	if why == "" {
		why = cmp.Or(sc.second(value, rest), outside(sc.spec, value))
	}
	if why == "" {
		r.SetScore(analysis.Scored, value)
	}
	return why
}

// outside says why the spec refuses the value.
func outside(s Spec, value float64) string {
	switch {
	case s.Lower != nil && value < *s.Lower:
		return fmt.Sprintf("%v is below %v", value, *s.Lower)
	case s.Upper != nil && value > *s.Upper:
		return fmt.Sprintf("%v is above %v", value, *s.Upper)
	case s.Integer && value != math.Trunc(value):
		return fmt.Sprintf("%v is not a whole number", value)
	}
	return ""
}

// value reads a candidate with its denominator and unit.
func (sc *scalar) value(s string) (value float64, rest, why string) {
	value, n, ok := sc.candidate(s)
	if !ok {
		return 0, "", "the answer does not start with a " + sc.what
	}
	rest = strings.TrimLeft(s[n:], "*_`")
	after := strings.TrimLeft(rest, " \t")
	if word, w := leadingWord(after); sc.units[word] {
		rest = after[w:]
		after = strings.TrimLeft(rest, " \t")
	}
	denominator, ok := "", false
	switch {
	case strings.HasPrefix(after, "/"):
		denominator, ok = after[1:], true
	case hasWords(after, "out", "of"):
		denominator, ok = after[len("out"):], true
		denominator = strings.TrimLeft(denominator, " \t")[len("of"):]
	}
	if ok {
		d, n, isNumber := sc.candidate(strings.TrimLeft(denominator, " \t*"))
		switch {
		case !isNumber:
			return 0, "", fmt.Sprintf("%v is out of something that is no number", value)
		case !slices.Contains(sc.outOf, d):
			return 0, "", fmt.Sprintf("%v is out of %v, which is no denominator of this scale", value, d)
		case value < 0 || value > d:
			return 0, "", fmt.Sprintf("%v is not within 0 and its denominator, %v", value, d)
		}
		if sc.spec.Upper != nil && d != *sc.spec.Upper {
			value = value * *sc.spec.Upper / d
		}
		rest = strings.TrimLeft(denominator, " \t*")[n:]
	} else if strings.HasPrefix(after, "%") {
		if !slices.Contains(sc.outOf, 100) {
			return 0, "", fmt.Sprintf("%v%% is out of 100, which is no denominator of this scale", value)
		}
		if sc.spec.Upper != nil && *sc.spec.Upper != 100 {
			value = value * *sc.spec.Upper / 100
		}
		rest = after[1:]
	}
	if word, w := leadingWord(strings.TrimLeft(rest, " \t")); sc.units[word] {
		rest = strings.TrimLeft(rest, " \t")[w:]
	}
	return value, rest, ""
}

func hasWords(s, first, second string) bool {
	word, n := leadingWord(s)
	if word != first {
		return false
	}
	word, _ = leadingWord(strings.TrimLeft(s[n:], " \t"))
	return word == second
}

// reasons are the words that may follow a value in its sentence.
var reasons = words("because as since due based for given overall")

// second says why the text after the value makes it none, or no longer the
// only one: it counts something ("3 errors"), goes on ("70-80", "70 or 80"),
// or another line states another value.
func (sc *scalar) second(value float64, rest string) string {
	line, others, _ := strings.Cut(rest, "\n")
	if why := sc.sameLine(line); why != "" {
		return why
	}
	numbered := strings.HasPrefix(line, ". ")
	for others != "" {
		line, others, _ = strings.Cut(others, "\n")
		line = strings.TrimSpace(line)
		if numbered && strings.HasPrefix(line, fmt.Sprintf("%v. ", value+1)) {
			return "the answer starts with a numbered list"
		}
		start, marked := skipLead(line, sc.marks)
		other, after, why := sc.value(start)
		if why != "" || other == value || !marked && strings.Trim(after, marks+".") != "" {
			continue
		}
		return fmt.Sprintf("the answer states both %v and %v", value, other)
	}
	return ""
}

// sameLine looks at what follows the value in its line, up to the end of the
// sentence.
func (sc *scalar) sameLine(line string) string {
	glued := strings.TrimLeft(line, "*_`\"'”’")
	if r, n := utf8.DecodeRuneInString(glued); n > 0 {
		switch {
		case unicode.IsLetter(r), unicode.IsNumber(r), r == ')', r == ']', r == '}', r == '@', r == '\\':
			return "the answer does not start with a " + sc.what + " that stands alone"
		}
	}
	s := strings.TrimLeft(glued, " \t")
	if word, n := leadingWord(s); n > 0 && !reasons[word] {
		if word == "to" || word == "or" || word == "and" {
			return "the answer states a range or several values"
		}
		return "the " + sc.what + " at the start of the answer counts something else"
	}
	inside := false
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '(' || r == '[':
			inside = true
			if word, _ := leadingWord(s[n:]); word == "or" || word == "to" || word == "and" {
				return "the answer states a range or several values"
			}
		case r == ')' || r == ']':
			inside = false
		case !inside && (r == '.' || r == ';' || r == '!' || r == '?') && !startsWithDigit(s[n:]):
			return ""
		case !inside && (isCandidateStart(r)):
			if _, _, ok := sc.candidate(s); ok || isDigit(byte(r)) && r < 0x80 {
				return "the answer states a range or several values"
			}
		case unicode.IsLetter(r):
			word, w := leadingWord(s)
			if !inside && w > 0 {
				if _, isCount := numberWords[word]; isCount && word != "a" && word != "an" && word != "no" {
					return "the answer states a range or several values"
				}
				n = w
			}
		}
		s = s[n:]
	}
	return ""
}

func isCandidateStart(r rune) bool {
	return r >= '0' && r <= '9' || r == '★' || r == '⭐' || r == '☆'
}

func startsWithDigit(s string) bool { return s != "" && isDigit(s[0]) }

// scoreWords end a lead, and refused are words that a lead cannot hold: they
// turn what it says around or make it an example.
var (
	scoreWords = words("score scores rating rate grade stars star points answer result class classification label category quality")
	linkWords  = words("is of as at a an be it with assign give score rating stars the")
	refused    = words("not no never cannot without unless if least most than example scale above below between from over under range either neither maximum minimum highest lowest mean means error errors reduction can't don't isn't wouldn't")
)

// longestLead is how many words may stand before a value.
const longestLead = 14

// skipLead cuts off what may stand before a value: marks, and a lead such as
// "Score:", "Score (0-100):" or "I would give this translation a score of". A
// text without one is returned without its marks.
func skipLead(text, decoration string) (rest string, found bool) {
	s := strings.TrimLeft(text, marks)
	plain := strings.TrimLeft(text, decoration)
	scored := false
	last := ""
	for range longestLead {
		word, n := leadingWord(s)
		if n == 0 || refused[word] {
			return plain, false
		}
		if _, counts := numberWords[word]; counts && word != "a" && word != "an" {
			return s, scored && linkWords[last] // "a rating of four"; or the text starts with it
		}
		scored = scored || scoreWords[word]
		last = word
		s = strings.TrimLeft(s[n:], " \t*_-")
		if strings.HasPrefix(s, "(") { // "Score (0-100):"
			end := strings.IndexAny(s[:min(len(s), 32)], ")\n")
			if end < 0 || s[end] == '\n' {
				return plain, false
			}
			s = strings.TrimLeft(s[end+1:], " \t*_")
		}
		if s == "" {
			break
		}
		if s[0] == ':' || s[0] == '=' {
			if !scored {
				break
			}
			return strings.TrimLeft(s[1:], decoration), true
		}
		if r, _ := utf8.DecodeRuneInString(s); unicode.IsLetter(r) {
			continue
		}
		if scored && linkWords[last] {
			return strings.TrimLeft(s, decoration), true
		}
		break
	}
	return plain, false
}

// continuesNumber reports whether what follows a number makes it a range or a
// fraction.
func continuesNumber(rest string) bool {
	rest = strings.TrimLeft(rest, " \t")
	r, n := utf8.DecodeRuneInString(rest)
	switch r {
	case '-', '–', '—', '/', '~', '^', '−':
		return startsWithDigit(strings.TrimLeft(rest[n:], " \t"))
	}
	return hasNumberAfter(rest, "to") || hasNumberAfter(rest, "or")
}

func hasNumberAfter(s, word string) bool {
	w, n := leadingWord(s)
	return w == word && startsWithDigit(strings.TrimLeft(s[n:], " \t"))
}
