// Package acceptance holds answers of models whose right treatment is known: what
// should come out as a reference, or that nothing should.
//
// An Item is a text of a Base, a reference and a real rewriting of it, inside a
// wording: one of the ways in which models present an answer, such as reasoning
// before it or a note behind it. Wordings stand in tuning.yaml and second.yaml, by
// family. The two parts share neither wordings nor bases. Rules up to 3 were made
// with the first in view alone; since rules 4 both have served to make them.
//
//  1. Read reads a part with its own bases.
//  2. Set.Items fills the wordings with bases: its own ones, or those that the
//     caller has, such as references and rewritings of a released set.
//  3. Measure asks for the verdict on every item, and counts by family.
//
// A wording is a text with placeholders: {answer} is the rewriting, {second}
// another one, {reference} the reference, {other} the rewriting of another text.
// Behind a bar stands what is done to it, as in {answer|json}; see fill.go. All
// other braces are text. A wording is usable, and then want, by default
// {answer}, is what should come out; or it is not.
package acceptance
