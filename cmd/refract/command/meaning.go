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
		say := e.note
		switch {
		case !f.Measured() || f.Share() >= least && f.BeforeSelection():
			say = unmeasured
		case f.Share() < least:
			say = e.warn
		}
		say("%s%s", &f, from)
		e.note("  %s", f.Advice(least))
	}
}
