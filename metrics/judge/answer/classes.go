package answer

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/refract-eval/refract/metrics/analysis"
)

// className returns a normal form, which is equal for names that cannot be told apart in an
// answer.
func className(name string) string { return strings.Trim(classKey(name), " .") }

// classKey returns the words of a text in lower case, with "." for the end of a sentence or
// line.
func classKey(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			return unicode.ToLower(r)
		case strings.ContainsRune(".!?;:\n", r):
			return '.'
		}
		return ' '
	}, text)
	return strings.Join(strings.FieldsFunc(strings.ReplaceAll(text, ".", " . "), unicode.IsSpace), " ")
}

// What may surround the name of a class: "The class is", "4." and a reason.
const (
	classLead    = `the|this|my|final|translation|output|of|i|would|classify|it|as|is|\.`
	classScore   = `quality|class|classification|answer|label|category|rating|\d{1,2}`
	classFollows = `because|as|since|due|based|given|with|the|this|although|though|but|while|there|it|\.`
	classAgain   = `\.|or|and|to|class|but|actually|rather`
)

// classesReader parses an answer that starts with the name of a class; the longest matching
// name wins. If another name is joined to it, or begins a later sentence, the answer names two
// classes and is unparseable.
func classesReader(s Spec) Parser {
	var names []string
	values := map[string]Class{}
	for _, c := range s.Classes {
		key := className(c.Name)
		names = append(names, regexp.QuoteMeta(key))
		values[key] = c
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	name := `(` + strings.Join(names, "|") + `)`
	first := regexp.MustCompile(`^(?:\. )*(?:(?:(?:` + classLead + `) )*(?:` + classScore + `) (?:(?:` + classLead + `|` + classScore + `) )*)?` + name + `( (?:` + classFollows + `)(?: |$)|$)`)
	again := regexp.MustCompile(`(?:^| )(?:` + classAgain + `)(?: (?:\.|` + classAgain + `))* ` + name + `(?: |$)`)
	return func(text string, r *analysis.Report) string {
		text = classKey(text)
		m := first.FindStringSubmatchIndex(text)
		if m == nil {
			return "the answer does not start with the name of one of the classes"
		}
		found := values[text[m[2]:m[3]]]
		for _, other := range again.FindAllStringSubmatch(text[m[4]:], -1) {
			if other := values[other[1]]; other.Value != found.Value {
				return "the answer names two classes, " + found.Name + " and " + other.Name
			}
		}
		r.SetScore(analysis.Scored, found.Value)
		return ""
	}
}
