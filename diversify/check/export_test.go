package check

import (
	"slices"
	"strings"
)

// Normalize is the form in which texts are compared.
func Normalize(text string) string { return string(appendNormalized(nil, text)) }

// Weights are those of weigh.
type Weights = [features][partKinds]float64

// Weighed are the weights in use.
func Weighed() Weights { return weigh }

// Weigh uses other weights, and returns those that were in use.
func Weigh(w Weights) (was Weights) {
	was, weigh = weigh, w
	return was
}

// Sample is what a part is scored by, but for the weights.
type Sample struct {
	Text  string
	Kind  int
	Given float64
	X     []float64
}

// Kinds is how many kinds of parts there are.
const Kinds = int(partKinds)

// Parts are samples of the parts of an answer, where it has several, as they are
// when the first step looks at parts. What needs no weights is left out, but for its
// text, and has no X.
func Parts(c *Checker, raw, reference string) (text string, out []Sample) {
	o := newOriginal(reference)
	before := *c
	before.steps = newWanted(slices.DeleteFunc(allSteps(), func(s step) bool {
		return slices.Index(Steps(), s.name) >= slices.Index(Steps(), StepRestated)
	}))
	t, _ := before.clean(raw, o)
	if o.text == "" {
		return t, nil
	}
	parts := o.cut(t, nil)
	all := o.fitAll(t, parts)
	for i := range parts {
		if len(parts) > 1 {
			out = append(out, o.sample(t, &parts[i], i, len(parts), all))
		}
	}
	return t, out
}

// Whole is a sample of all that cleaning leaves of an answer.
func Whole(c *Checker, raw, reference string) Sample {
	o := newOriginal(reference)
	t, _ := c.clean(raw, o)
	parts := o.cut(t, nil)
	p := part{end: len(t), kind: entire, fit: o.fitAll(t, parts)}
	p.fit.script = scriptOf(t)
	s := o.sample(t, &p, 0, 1, p.fit)
	s.Given -= o.leftover(t, p.fit)
	return s
}

func (o *original) sample(t string, p *part, i, n int, all fit) Sample {
	s := Sample{Text: strings.Clone(t[p.begin:p.end]), Kind: int(p.kind)}
	given, decided := o.given(t, p, i, n)
	if s.Given = given; decided {
		return s
	}
	var x [features]float64
	o.regard(&x, t, p, i, n, all)
	s.X = x[:]
	return s
}
