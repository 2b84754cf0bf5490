package check

import "strings"

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
	Text   string
	Kind   int
	Given  float64
	Shares bool // it has words of the reference
	X      []float64
}

// Kinds is how many kinds of parts there are.
const Kinds = int(partKinds)

// Parts are samples of the parts of an answer, where it has several, as they are
// when the first step looks at parts. What needs no weights is left out, but for its
// text, and has no X.
func Parts(c *Checker, raw, reference string) (text string, out []Sample) {
	o := newOriginal(reference)
	t, _ := c.cleanBy(&c.prepare, raw, o)
	if o.text == "" {
		return t, nil
	}
	parts := o.cut(t, nil)
	all := o.fitAll(t, parts)
	for i := range parts {
		out = append(out, o.sample(t, &parts[i], i, len(parts), all))
	}
	return t, out
}

// Whole is a sample of all that cleaning leaves of an answer.
func Whole(c *Checker, raw, reference string) Sample {
	o := newOriginal(reference)
	t, _ := c.clean(raw, o)
	parts := o.cut(t, nil)
	p := part{end: len(t), kind: entire, fit: o.fitAll(t, parts), lex: o.lean(t)}
	p.fit.script = scriptOf(t)
	s := o.sample(t, &p, 0, 1, p.fit)
	s.Given -= o.leftover(t, p.fit)
	return s
}

func (o *original) sample(t string, p *part, i, n int, all fit) Sample {
	s := Sample{Text: strings.Clone(t[p.begin:p.end]), Kind: int(p.kind), Shares: p.fit.shared > 0}
	given, decided := o.given(t, p, i, n)
	if s.Given = given; decided {
		return s
	}
	var x [features]float64
	o.regard(&x, t, p, i, n, all)
	s.X = x[:]
	return s
}

// Phrases are those of a text beside a reference.
func Phrases(reference, t string) (out []string) {
	newOriginal(reference).phrases(t, func(p []byte) { out = append(out, string(p)) })
	return out
}

// UseLexicon makes a lexicon the one in use.
func UseLexicon(l map[string]float64) { talkPhrases = func() lexicon { return l } }

// ForestOf returns what the forest of a table makes of features.
func ForestOf(table string) func(x []float64) float64 { return parseForest(table).of }

// UseForest makes the forest of a table the one in use.
func UseForest(table string) {
	f := parseForest(table)
	trusted = func() forest { return f }
}

// Block is a row of parts of an answer that may be the rewriting, and what it shows.
type Block struct {
	Text string
	X    []float64
}

// Blocks are those of an answer before the first step that looks at parts.
func Blocks(c *Checker, raw, reference string) (out []Block) {
	o := newOriginal(reference)
	t, _ := c.cleanBy(&c.prepare, raw, o)
	if o.text == "" {
		return nil
	}
	v := o.view(t)
	for _, b := range v.blocks(o) {
		out = append(out, Block{strings.Clone(t[v.parts[b.from].begin:v.parts[b.to-1].end]), v.describe(o, b, nil)})
	}
	return out
}

// LeastTrust makes a value the least trust, and returns the one that was.
func LeastTrust(p float64) (was float64) {
	was, leastTrust = leastTrust, p
	return was
}

// Lexicon is the one in use.
func Lexicon() map[string]float64 { return talkPhrases() }

// Asked are the aspects that the forest in use asks for.
func Asked() (out []int) {
	for _, tree := range trusted() {
		for _, n := range tree {
			if n.feature >= 0 {
				out = append(out, n.feature)
			}
		}
	}
	return out
}

// Holding is the block of a text that holds another one, or "".
func Holding(reference, before, text string) string {
	v := newOriginal(reference).view(before)
	b, ok := v.holding(text)
	if !ok {
		return ""
	}
	return strings.TrimSpace(before[v.parts[b.from].begin:v.parts[b.to-1].end])
}

// Shown is what the forest is asked with of a text that was kept; nil where no block has it.
func Shown(c *Checker, raw, reference, text string) []float64 {
	o := newOriginal(reference)
	before, _ := c.cleanBy(&c.prepare, raw, o)
	v := o.view(before)
	b, ok := v.holding(text)
	if !ok {
		return nil
	}
	return v.describe(o, b, nil)
}
