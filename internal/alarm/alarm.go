// Package alarm finds what a rewriting may have changed of the meaning. Each alarm is a
// rule by words that a person can check; none of them makes a variant wrong. It knows the
// words of English, German, French, Spanish, Russian, Chinese and Japanese. In other
// languages it finds what needs none: names, questions, and what was dropped or added.
package alarm

import (
	"maps"
	"slices"
	"strings"

	"github.com/refract-eval/refract/diversify/language"
)

// The kinds of alarms.
const (
	Negation = "negation" // one of the two denies
	Modality = "modality" // must became may
	Name     = "name"     // a name is lost or new
	Unit     = "unit"     // miles became kilometres
	Quantity = "quantity" // all became some
	Dropped  = "dropped"  // words are lost, with none in their place
	Added    = "added"    // words are new, in the place of none
	Role     = "role"     // two words are exchanged, and nothing else
	Question = "question" // one of the two asks, and the other states
	// Embedding: the vectors of the two texts are far apart. Find asks nobody for them.
	Embedding = "embedding"
)

// Kinds returns the kinds of alarms that Find may raise.
func Kinds() []string {
	return []string{Negation, Modality, Name, Unit, Quantity, Dropped, Added, Role, Question}
}

// ByWords returns the kinds that need the words of a language.
func ByWords() []string { return []string{Negation, Modality, Unit, Quantity} }

// HasWords reports whether the words of the language of a text are known.
func HasWords(reference string) bool { return lexicons()[language.Of(reference)] != nil }

// Kind returns the kind of an alarm that Find has returned.
func Kind(alarm string) string {
	kind, _, _ := strings.Cut(alarm, ":")
	return kind
}

// Find returns the alarms about a variant of a reference, each a kind and the words that
// raised it, such as "modality: must → may", in the order of Kinds. The source may be "".
func Find(reference, source, variant string) (found []string) {
	code := language.Of(reference)
	if code == "" {
		code = language.Of(variant)
	}
	ref, got := newText(reference, code), newText(variant, code)
	var lost, added string
	lost, added, ref.alike = balance(ref, got)
	alarm := func(kind, words string) {
		if words != "" {
			found = append(found, kind+": "+words)
		}
	}
	alarm(Negation, negation(ref, got))
	alarm(Modality, exchanged(ref, got, Modality))
	alarm(Name, names(ref, got, source))
	for _, scale := range slices.Sorted(maps.Keys(ref.lex)) {
		if strings.HasPrefix(scale, Unit) {
			alarm(Unit, exchanged(ref, got, scale))
		}
	}
	alarm(Quantity, exchanged(ref, got, Quantity))
	alarm(Dropped, lost)
	alarm(Dropped, brokenEnd(ref, got))
	alarm(Added, added)
	alarm(Role, roles(ref, got))
	alarm(Question, question(ref, got))
	return found
}

// arrow shows an exchange.
func arrow(lost, added []string) string {
	return strings.Join(slices.Compact(lost), ", ") + " → " + strings.Join(slices.Compact(added), ", ")
}
