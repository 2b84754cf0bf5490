package guard

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"
)

// The flags: what can be suspicious in a text that goes to a judge.
const (
	// FlagClosingQuote: a double quote that closes the field of a prompt, with
	// what looks like more of a prompt or an answer behind it, or with any text
	// behind it where nothing opened it.
	FlagClosingQuote = "closing-quote"
	// FlagControl: control characters, and others that are not seen and that no
	// script needs where they stand.
	FlagControl = "control"
	// FlagEndOfSequence: a token with which a model begins or ends a text.
	FlagEndOfSequence = "end-of-sequence"
	// FlagInstruction: words that tell the judge what to do.
	FlagInstruction = "instruction"
	// FlagLength: much longer or shorter than the other hypotheses.
	FlagLength = "length"
	// FlagRoleToken: a token or heading that begins another turn of a chat.
	FlagRoleToken = "role-token"
	// FlagScorePhrase: a statement of a score, or that there are no errors, in
	// the way in which a judge answers.
	FlagScorePhrase = "score-phrase"
)

// AllFlags lists the names of all flags, sorted.
func AllFlags() []string {
	return []string{FlagClosingQuote, FlagControl, FlagEndOfSequence, FlagInstruction, FlagLength, FlagRoleToken, FlagScorePhrase}
}

// Flags names what is suspicious in a text, sorted; nil where nothing is. The
// time is linear in its length.
//
// What is said in words is looked for in English, German, French, Spanish,
// Russian, Chinese and Japanese. Letters of another width, and invisible
// characters between letters, hide nothing.
func Flags(text string) []string { return flags(text, false) }

// FlagAll returns the Flags of each of a segment's hypotheses. Of each, the length may
// be an outlier among the others: with x = ln(runes + 20) and the quartiles q1 and q3
// of the others' x, it is one outside of [q1 − d, q3 + d], where d is the larger of
// 3·(q3 − q1) and ln 2, or ln 4 where there are fewer than four others.
func FlagAll(hypotheses []string) [][]string {
	lengths := make([]float64, len(hypotheses))
	for i, t := range hypotheses {
		lengths[i] = logLength(t)
	}
	sorted := slices.Sorted(slices.Values(lengths))
	all := make([][]string, len(hypotheses))
	for i, t := range hypotheses {
		own, _ := slices.BinarySearch(sorted, lengths[i])
		all[i] = flags(t, outlier(lengths[i], slices.Concat(sorted[:own], sorted[own+1:])))
	}
	return all
}

func flags(text string, outlier bool) []string {
	plain := normalize(text)
	ascii := isASCII(plain)
	found := map[string]bool{
		FlagLength:       outlier,
		FlagControl:      hasControl(text),
		FlagClosingQuote: closesQuote(text),
	}
	for _, p := range patterns() {
		found[p.flag] = found[p.flag] || p.in(plain, ascii)
	}
	var names []string
	for _, name := range AllFlags() {
		if found[name] {
			names = append(names, name)
		}
	}
	return names
}

// logLength is a length on a scale on which twice as long is as far as half as
// long, and on which a word more or less of a short text is little.
func logLength(text string) float64 {
	return math.Log(float64(utf8.RuneCountInString(text) + 20))
}

// outlier applies the rule of FlagAll to x and the others, in ascending order.
func outlier(x float64, others []float64) bool {
	if len(others) == 0 {
		return false
	}
	quantile := func(p float64) float64 {
		pos := p * float64(len(others)-1)
		i := int(pos)
		next := others[min(i+1, len(others)-1)]
		return others[i] + (pos-float64(i))*(next-others[i])
	}
	q1, q3 := quantile(0.25), quantile(0.75)
	least := math.Ln2
	if len(others) < 4 {
		least = 2 * math.Ln2
	}
	far := max(least, 3*(q3-q1))
	return x < q1-far || x > q3+far
}

// closesQuote looks for a double quote that closes what no other one opened,
// with a letter somewhere behind it: in a prompt that puts the text between
// quotes, the rest stands outside of them. Quotes of other kinds count as
// openings, as outputs mix them; inches do not count.
func closesQuote(text string) bool {
	depth := 0
	closed := false
	var last rune // 0 at the start
	for i, r := range text {
		before := last
		last = r
		if closed && unicode.IsLetter(r) {
			return true
		}
		if !isDoubleQuote(r) {
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		if i+utf8.RuneLen(r) == len(text) {
			next = ' '
		}
		opens := before == 0 || opensBefore(before)
		closes := !wordish(next)
		switch {
		case opens && !closes:
			depth++
		case closes && !opens:
			if depth > 0 {
				depth--
			} else if r == '"' && !unicode.IsDigit(before) {
				closed = true
			}
		case depth > 0: // either, as between letters of a script without spaces
			depth--
		default:
			depth++
		}
	}
	return false
}

// opensBefore reports whether a quote behind r is an opening one.
func opensBefore(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Ps, unicode.Pi, unicode.Pd, unicode.Sm) || isDoubleQuote(r) || r == '\'' || r == '/' || r == ':' || r == '：' || r == '，' || r == '=' || r == '<'
}

func wordish(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSymbol(r) }
