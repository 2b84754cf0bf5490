package answer

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/analysis"
)

// marks are characters that decorate an answer without being part of it.
const marks = " \t\r\n*_`\"'#>“”‘’"

// The form of an answer that is one number:
//
//	[lead] number [unit] ["/" denominator] [unit] [anything except a second number]
const (
	number      = `[-−+]?(?:\d+(?:\.\d+)?|\.\d+)`
	unit        = `(?:[ \t]*(?:(?:points?|pts|marks|percent|stars?)\b|[分点점]))?`
	countWords  = `zero|one|two|three|four|five|six|seven|eight|nine|ten`
	reasonWords = `because|as|since|due|based|for|given|overall`
)

var (
	valueForm = text.Regexp("(?i)^(" + number + ")[*_`]*" + unit + `(?:[ \t]*(?:/|out[ \t]+of\b)[ \t*]*(` + number + `)|[ \t]*(%))?` + unit)
	// leadForm matches a lead before a number, such as "Score (0-100):".
	leadForm = text.Regexp("^[" + marks + "]*(?:(\\pL[\\pL'’ \t*_-]*)(?:\\([^)\n]{0,30}\\)[ \t*_]*)?([:=]?)[" + marks + "]*)?")
	// glued matches characters after a number that make it part of something else.
	glued   = text.Regexp(`^(?:[\pL\pN)\]}@\\_/]|[.,:]\d)`)
	reason  = text.Regexp(`(?i)^[ \t]*(?:(?:` + reasonWords + `)\b|[^\pL \t]|$)`)
	because = text.Regexp(`(?i)\b(?:because|since|due)\b.*`) // numbers in a reason are not scores
	aside   = text.Regexp(`[(\[][^)\]]*[)\]]?`)
	either  = text.Regexp(`(?i)[(\[](?:or|to|and)\b`)
	// sentenceEnd does not match inside "8.5".
	sentenceEnd = text.Regexp(`[.;!?](?:\D|$)`)
	counts      = text.Regexp(`(?i)[\d★⭐☆]|\b(?:` + countWords + `)\b`)
)

// scoreWords may occur in a lead, which ends with a colon or one of linkWords. refused words must
// not occur in a lead: they negate it or make it an example.
var (
	scoreWords = strings.Fields("score scores rating rate grade stars star points answer result class classification label category quality 分数 分數 评分 評分 得分 スコア 点数 점수 punktzahl bewertung puntuación pontuação оценка")
	linkWords  = strings.Fields("is of as at a an be it with assign give score rating stars the")
	refused    = strings.Fields("not no never cannot without unless if least most than example scale above below between from over under range either neither maximum minimum highest lowest mean means error errors reduction can't don't isn't wouldn't")
)

// marked matches the marks that models put around a final number, bracketed a number in brackets,
// and labelled a number labelled as the score.
var (
	marked    = text.Regexp(`\$?\\boxed\{\s*(` + number + `)\s*\}\$?|\[\[\s*(` + number + `)\s*\]\]|\$(` + number + `)\$|(?i:<(?:score|rating|answer)>\s*(` + number + `)\s*</(?:score|rating|answer)>)`)
	final     = text.Regexp(`\\boxed\{\s*(?:` + number + `)\s*\}|\[\[\s*(?:` + number + `)\s*\]\]`)
	bracketed = text.Regexp(`^[(\[]\s*["']?(` + number + `)["']?\s*[)\]]`)
	labelled  = text.Regexp(`(?i)\bscore[*_ ]*[:=][*_ ]*`)
	another   = text.Regexp(`(?i)^[.);]\s*(?:score\W*)?[-+]?\d`) // after a number, as in "1. Score: 85"
	fence     = text.Regexp("^```\\w*\\s*\\{")
)

// numberReader parses an answer that is one number, or, with Spec.After, the number after that
// mark.
func numberReader(s Spec) Parser {
	return func(text string, r *analysis.Report) string {
		text = norm.NFKC.String(text)
		finals := final().FindAllString(text, -1)
		text = marked().ReplaceAllString(text, "$1$2$3$4")
		if s.After != "" {
			return s.readAfter(regexp.MustCompile("(?i)"+regexp.QuoteMeta(s.After)), text, r)
		}
		if at := strings.IndexByte(text, '{'); at == 0 || fence().MatchString(text) || at > 0 && !counts().MatchString(text[:at]) {
			return s.readMember(text, r)
		}
		if bracketed().FindString(text) == text {
			text = bracketed().ReplaceAllString(text, "$1")
		}
		value, rest, _, why := s.number(text)
		if why != "" && labelled().MatchString(text) { // "All is said. Score: 85"
			return s.readAfter(labelled(), text, r)
		}
		if why != "" && len(finals) == 1 { // "It reads well, so I settle for \boxed{85}."
			value, _, _, why = s.number(marked().ReplaceAllString(finals[0], "$1$2$3$4"))
			rest = ""
		}
		if why == "" && another().MatchString(rest) {
			why = "the answer has a second number, or starts with that of a list"
		}
		if why = cmp.Or(why, s.second(value, rest), outside(s, value)); why == "" {
			r.SetScore(analysis.Scored, value)
		}
		return why
	}
}

// readMember parses a JSON document whose only number has the name of a score.
func (s Spec) readMember(text string, r *analysis.Report) string {
	docs, err := documentsIn(text, "{")
	if err != nil {
		return err.Error()
	}
	path := ""
	for i, name := range docs[0].root.names {
		if kid := docs[0].root.kids[i]; kid.kind == 'n' || slices.Contains(scoreWords, strings.ToLower(name)) {
			if path != "" {
				return fmt.Sprintf("the answer's JSON has both %s and %s", path, name)
			}
			path = name
		}
	}
	if !slices.Contains(scoreWords, strings.ToLower(path)) {
		return "the answer's JSON has no score"
	}
	s.Path = path
	return jsonReader(s)(text, r)
}

// readAfter parses the number after a mark. If the mark occurs several times, all numbers after
// it must be equal.
func (s Spec) readAfter(mark *regexp.Regexp, text string, r *analysis.Report) string {
	var values []float64
	sure, why := false, fmt.Sprintf("the answer has no %q", s.After)
	for _, at := range mark.FindAllStringIndex(text, -1) {
		value, rest, _, failed := s.number(bracketed().ReplaceAllString(strings.TrimLeft(text[at[1]:], marks+":"), "$1"))
		if failed == "" {
			values = append(values, value)
			failed = restProblem(rest)
			sure = sure || failed == ""
		}
		if failed != "" {
			why = fmt.Sprintf("after %q: %s", text[at[0]:at[1]], failed)
		}
		if last := len(values) - 1; last > 0 && values[last] != values[0] {
			return fmt.Sprintf("the answer states both %v and %v", values[0], values[last])
		}
	}
	if !sure {
		return why
	}
	if why = outside(s, values[0]); why == "" {
		r.SetScore(analysis.Scored, values[0])
	}
	return why
}

// number parses the number at the start of a text. led says that there is a lead.
func (s Spec) number(text string) (value float64, rest string, led bool, why string) {
	m := leadForm().FindStringSubmatch(text)
	led = m[1] != ""
	if led && !leads(m[1], m[2] != "") {
		return 0, "", led, "the answer does not start with a number"
	}
	value, rest, why = s.value(text[len(m[0]):])
	return value, rest, led, why
}

// leads reports whether words may precede a number, with or without a colon.
func leads(text string, colon bool) bool {
	const most = 14
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \t*_-", r) })
	scores := colon || slices.Contains(linkWords, all[len(all)-1])
	named := false
	for _, w := range all {
		named = named || slices.Contains(scoreWords, w)
		scores = scores && !slices.Contains(refused, w)
	}
	return scores && named && len(all) <= most
}

// value parses a number with its unit and its denominator, which must be the upper bound.
func (s Spec) value(text string) (value float64, rest, why string) {
	m := valueForm().FindStringSubmatch(text)
	if m == nil || glued().MatchString(text[len(m[0]):]) {
		return 0, "", "the answer does not start with a number"
	}
	value, err := parseNumber(m[1])
	if err != nil {
		return 0, "", "the number is too large"
	}
	if m[2] != "" || m[3] != "" {
		of, err := parseNumber(cmp.Or(m[2], "100"))
		if err != nil || s.Upper == nil || of != *s.Upper || value < 0 {
			return 0, "", fmt.Sprintf("%v is out of %v, which is not the denominator of this scale", value, of)
		}
	}
	return value, text[len(m[0]):], ""
}

// second says why the text after a value spoils it, "" if it does not: the value continues, or
// another line states another value.
func (s Spec) second(value float64, rest string) string {
	if why := restProblem(rest); why != "" {
		return why
	}
	_, others, _ := strings.Cut(rest, "\n")
	numbered := strings.HasPrefix(rest, ". ")
	for line := range strings.Lines(others) {
		line = strings.TrimSpace(line)
		if numbered && strings.HasPrefix(line, fmt.Sprintf("%v. ", value+1)) {
			return "the answer starts with a numbered list"
		}
		other, after, led, why := s.number(line)
		if why == "" && other != value && (led || strings.Trim(after, marks+".") == "") {
			return fmt.Sprintf("the answer states both %v and %v", value, other)
		}
	}
	return ""
}

// restProblem says why the rest of its sentence spoils a value, "" if it does not: the value counts
// something ("3 errors"), or there is another one ("70-80", "70 or 80").
func restProblem(rest string) string {
	line, _, _ := strings.Cut(rest, "\n")
	line = strings.TrimLeft(line, "*_`\"'”’")
	switch {
	case glued().MatchString(line):
		return "the number at the start of the answer is part of something else"
	case !reason().MatchString(line):
		return "the number at the start of the answer counts something else, or begins a range"
	case either().MatchString(line):
		return "the answer states a range or several values"
	}
	line = because().ReplaceAllString(aside().ReplaceAllString(line, ""), "")
	if at := sentenceEnd().FindStringIndex(line); at != nil {
		line = line[:at[0]]
	}
	if counts().MatchString(line) {
		return "the answer states a range or several values"
	}
	return ""
}

// outside says why the spec refuses a value, "" if it does not.
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

func parseNumber(s string) (float64, error) {
	value, err := strconv.ParseFloat(strings.Replace(s, "−", "-", 1), 64)
	return value + 0, err // turns -0 into 0
}

// Ways to write a number of stars without digits.
var (
	starSigns = text.Regexp(`[★⭐🌟☆][★⭐🌟☆\x{fe0f}\x{fe0e}]*`)
	asterisks = text.Regexp(`(?m)(^|:[ \t]*)(\*{3,})[ \t]*$`)
	starWords = text.Regexp(`(?i)\b(?:` + countWords + `)\b`)
	halfStar  = text.Regexp(`(?i)(\d)(?:½|[ \t-]+and a half\b)`)
)

// starsReader parses a number of stars: "4", "four and a half", "★★★★☆".
func starsReader(s Spec) Parser {
	read := numberReader(s)
	return func(text string, r *analysis.Report) string {
		text = starSigns().ReplaceAllStringFunc(text, func(signs string) string {
			n, hollow := strings.Count(signs, "★")+strings.Count(signs, "⭐")+strings.Count(signs, "🌟"), strings.Count(signs, "☆")
			if n == 0 || strings.Contains(strings.TrimRight(signs, "☆\ufe0f\ufe0e"), "☆") || hollow > 0 && float64(n+hollow) != *s.Upper {
				return signs
			}
			return strconv.Itoa(n)
		})
		text = asterisks().ReplaceAllStringFunc(text, func(line string) string {
			m := asterisks().FindStringSubmatch(line)
			return m[1] + strconv.Itoa(len(m[2]))
		})
		text = starWords().ReplaceAllStringFunc(text, func(word string) string { return strconv.Itoa(numberWords[strings.ToLower(word)]) })
		return read(halfStar().ReplaceAllString(text, "$1.5"), r)
	}
}
