package command

import (
	"cmp"

	"github.com/refract-eval/refract/internal/meaning"
)

// leastKept is the share of variants that are to keep the meaning.
const leastKept = 0.8

// tellMeaning says of each model how many of its variants keep the meaning, and
// what to do; unmeasured says it where nobody has looked, or not at what was
// selected.
func (e *env) tellMeaning(findings []meaning.Finding, least float64, unmeasured func(string, ...any)) {
	for _, f := range findings {
		from := ""
		if len(findings) > 1 {
			from = ", variants of " + cmp.Or(f.Model, "a model that is not named")
		}
		say, w := e.note, f.Worst()
		switch {
		case w == nil || w.Share() >= least && w.BeforeSelection():
			say = unmeasured
		case w.Share() < least:
			say = e.warn
		}
		for _, line := range f.Lines() {
			say("%s%s", line, from)
		}
		if w != nil {
			e.note("  %s", w.Advice(least))
		} else {
			e.note("  'refract review' shows variants to people, whose decisions measure it")
		}
	}
}
