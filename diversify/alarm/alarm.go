// Package alarm points at places where a rewriting may have changed the meaning. Each alarm
// comes from a rule on words that a person can check; an alarm does not prove a variant wrong.
// The package has word lists for English, German, French, Spanish, Russian, Chinese and
// Japanese. In other languages it raises only the alarms that need no list: names, questions,
// and dropped or added words.
package alarm

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
)

// The kinds of alarms.
const (
	Negation = "negation" // one text is negated, the other is not
	Modality = "modality" // must became may
	Name     = "name"     // a name is lost or new
	Number   = "number"   // a number or a day of the week is lost, new or another
	Unit     = "unit"     // miles became kilometres
	Quantity = "quantity" // all became some
	Dropped  = "dropped"  // words were removed and not replaced
	Added    = "added"    // words were added that replace nothing
	Role     = "role"     // two words swapped places, and nothing else changed
	Question = "question" // one text asks, the other states
	// Embedding: the vectors of the two texts are far apart. Find never raises it: it has no vectors.
	Embedding = "embedding"
)

// Kinds returns the kinds of alarms that Find may raise.
func Kinds() []string {
	return []string{Negation, Modality, Name, Number, Unit, Quantity, Dropped, Added, Role, Question}
}

// ByWords returns the kinds that need a word list for the language.
func ByWords() []string { return []string{Negation, Modality, Unit, Quantity} }

// HasWords reports whether there is a word list for a language, or if it is "" for the one that
// the reference's words show.
func HasWords(language, reference string) bool {
	ref, _ := newTexts(language, reference, "")
	return ref.lex != nil
}

// Kind returns the kind of an alarm that Find returned.
func Kind(alarm string) string {
	kind, _, _ := strings.Cut(alarm, ":")
	return kind
}

// Of returns the alarms of a variant: those that it states, and otherwise what Find finds.
// language is that of the references; "" means the one that the segment states.
func Of(language string, s *refract.Segment, v *refract.Variant) []string {
	if v.Alarms == nil && v.Text.Valid && v.Reference < len(s.References) {
		return Find(cmp.Or(language, s.Language), s.References[v.Reference].Value, v.Text.Value)
	}
	return v.Alarms
}

// Find returns the alarms for a variant of a reference, in the order of Kinds. Each names its
// kind and the words that raised it, such as "modality: must → may". language is the code of the
// language of both, and is recognised if it is "".
func Find(language, reference, variant string) (found []string) {
	ref, got := newTexts(language, reference, variant)
	var lost, added string
	lost, added, ref.alike = balance(ref, got)
	alarm := func(kind, words string) {
		if words != "" {
			found = append(found, kind+": "+words)
		}
	}
	alarm(Negation, negation(ref, got))
	alarm(Modality, exchanged(ref, got, Modality))
	alarm(Name, names(ref, got))
	alarm(Number, ChangedNumber(reference, variant))
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

// arrow formats lost and added words as "lost → added".
func arrow(lost, added []string) string {
	return strings.Join(slices.Compact(lost), ", ") + " → " + strings.Join(slices.Compact(added), ", ")
}
