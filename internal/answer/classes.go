package answer

import (
	"slices"
	"strings"
	"unicode"

	"github.com/refract-eval/refract/metrics/analysis"
)

// stop is the token for the end of a sentence or line.
const stop = "."

// tokens splits a text into words in lower case and stops. Other marks only
// part words.
func tokens(s string) []string {
	var all []string
	start := -1
	word := func(end int) {
		if start >= 0 {
			all = append(all, strings.ToLower(s[start:end]))
			start = -1
		}
	}
	for i, r := range s {
		switch {
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			if start < 0 {
				start = i
			}
		default:
			word(i)
			if strings.ContainsRune(".!?;:\n", r) && (len(all) == 0 || all[len(all)-1] != stop) {
				all = append(all, stop)
			}
		}
	}
	word(len(s))
	return all
}

// nameTokens are the tokens of a class without stops at its ends.
func nameTokens(name string) []string {
	t := tokens(name)
	for len(t) > 0 && t[0] == stop {
		t = t[1:]
	}
	for len(t) > 0 && t[len(t)-1] == stop {
		t = t[:len(t)-1]
	}
	return t
}

// classKey is the same for names that cannot be told apart in an answer.
func classKey(name string) string { return strings.Join(nameTokens(name), " ") }

// classesReader reads an answer that starts with the name of a class. The
// longest name that fits counts; a name that is the start of others is only
// read where nothing follows it that would make it one of them.
func classesReader(s Spec) reader {
	names := make([][]string, len(s.Classes))
	for i, c := range s.Classes {
		names[i] = nameTokens(c.Name)
	}
	match := func(t []string) int {
		best := -1
		for i, name := range names {
			if len(t) >= len(name) && slices.Equal(t[:len(name)], name) && (best < 0 || len(name) > len(names[best])) {
				best = i
			}
		}
		return best
	}
	return func(text string, r *analysis.Report) string {
		t := tokens(text)
		t = t[leadTokens(t, match):]
		found := match(t)
		if found < 0 {
			return "the answer does not start with one of the classes"
		}
		rest := t[len(names[found]):]
		// What glues another name to the first, or opens a sentence with it,
		// makes two answers.
		opens := true
		for i := range rest {
			if opens {
				if other := match(rest[i:]); other >= 0 && s.Classes[other].Value != s.Classes[found].Value {
					return "the answer names two classes, " + s.Classes[found].Name + " and " + s.Classes[other].Name
				}
			}
			switch rest[i] {
			case stop, "or", "and", "to", "class", "but", "actually", "rather":
				opens = true
			default:
				opens = false
			}
		}
		if len(rest) > 0 && rest[0] != stop && !classFollows[rest[0]] {
			return "the answer does not end the name of the class " + s.Classes[found].Name
		}
		r.SetScore(analysis.Scored, s.Classes[found].Value)
		return ""
	}
}

// classFollows are the words that may follow a class in its sentence.
var classFollows = words("because as since due based given with the this although though but while there it")

// leadTokens counts the tokens that may stand before a class: marks, "Class:",
// "The class is", and its number ("4. Perfect translation").
func leadTokens(t []string, match func([]string) int) int {
	i := 0
	for i < len(t) && t[i] == stop {
		i++
	}
	if match(t[i:]) >= 0 {
		return i
	}
	start := i
	scored := false
	for n := 0; i < len(t) && n < 8; n++ {
		switch w := t[i]; {
		case w == stop && scored, w == "is" && scored, w == "class" && n == 0, classLead[w]:
			scored = scored || scoreWords[w]
			i++
		case len(w) <= 2 && strings.Trim(w, "0123456789") == "":
			i++
			scored = true
		default:
			if scored && match(t[i:]) >= 0 {
				return i
			}
			return start
		}
		if scored && match(t[i:]) >= 0 {
			return i
		}
	}
	return start
}

var classLead = words("the this my final translation output quality class classification answer label category rating of i would classify it as")
