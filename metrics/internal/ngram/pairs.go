package ngram

import "slices"

// Texts are the texts of one side of a block. Systems often agree, and so do a model's
// paraphrases, so equal texts are read once. T is what a metric keeps of a text.
type Texts[T any] struct {
	First []int // for each text: the first one equal to it
	Slot  []int // for each text: its position in All
	All   []T   // what was read of the distinct texts
}

// Of returns what was read of text i.
func (t *Texts[T]) Of(i int) *T { return &t.All[t.Slot[i]] }

// few is the number of texts up to which comparing all pairs is faster than a map.
const few = 64

// Load replaces the texts and calls read with the distinct ones in order. What into holds
// of an earlier text is there for its memory.
func (t *Texts[T]) Load(texts []string, read func(s string, into *T)) {
	t.First, t.Slot, t.All = t.First[:0], t.Slot[:0], t.All[:0]
	var seen map[string]int
	if len(texts) > few {
		seen = make(map[string]int, len(texts))
	}
	for i, s := range texts {
		first, again := seen[s]
		if seen == nil {
			first = slices.Index(texts[:i], s)
			again = first >= 0
		}
		if again {
			t.First, t.Slot = append(t.First, first), append(t.Slot, t.Slot[first])
			continue
		}
		if seen != nil {
			seen[s] = i
		}
		distinct := len(t.All)
		t.First, t.Slot = append(t.First, i), append(t.Slot, distinct)
		t.All = slices.Grow(t.All, 1)[:distinct+1]
		read(s, &t.All[distinct])
	}
}

// Pairs are the two sides of a block with the scores of their pairs. Metrics embed them in
// their workspaces, which then have Cells and Native.
type Pairs[T any] struct {
	Hyps, Refs Texts[T]
	Pair       func(h, r int) float64 // scores hypothesis h against reference r
	Union      func(h int) float64    // scores hypothesis h against all references
}

// Cells appends the matrix of scores, hypotheses × references, row-major. Pairs of equal
// texts are scored once.
func (p *Pairs[T]) Cells(dst []float64) []float64 {
	base, columns := len(dst), len(p.Refs.First)
	for h, same := range p.Hyps.First {
		if same != h {
			dst = append(dst, dst[base+same*columns:base+(same+1)*columns]...)
			continue
		}
		start := len(dst)
		for r, same := range p.Refs.First {
			if same != r {
				dst = append(dst, dst[start+same])
				continue
			}
			dst = append(dst, p.Pair(h, r))
		}
	}
	return dst
}

// Native appends the score of each hypothesis against all references.
func (p *Pairs[T]) Native(dst []float64) []float64 { return p.PerHypothesis(dst, p.Union) }

// PerHypothesis appends one score per hypothesis. It calls score only for distinct texts.
func (p *Pairs[T]) PerHypothesis(dst []float64, score func(h int) float64) []float64 {
	base := len(dst)
	for h, same := range p.Hyps.First {
		if same != h {
			dst = append(dst, dst[base+same])
			continue
		}
		dst = append(dst, score(h))
	}
	return dst
}

// Pooled are Pairs whose scores follow from statistics that a corpus pools. The workspace
// then has CellStatistics and NativeStatistics too.
type Pooled[T any] struct {
	Pairs[T]
	OfPair  func(dst []float64, h, r int) []float64 // appends the statistics of a pair
	OfUnion func(dst []float64, h int) []float64    // appends those against all references
	stats   []float64
}

// ScoreBy makes Pair and Union from the statistics.
func (p *Pooled[T]) ScoreBy(score func(statistics []float64) float64) {
	p.Pair = func(h, r int) float64 {
		p.stats = p.OfPair(p.stats[:0], h, r)
		return score(p.stats)
	}
	p.Union = func(h int) float64 {
		p.stats = p.OfUnion(p.stats[:0], h)
		return score(p.stats)
	}
}

// CellStatistics appends the statistics of hypothesis h against reference r.
func (p *Pooled[T]) CellStatistics(dst []float64, h, r int) []float64 { return p.OfPair(dst, h, r) }

// NativeStatistics appends the statistics of hypothesis h against all references.
func (p *Pooled[T]) NativeStatistics(dst []float64, h int) []float64 { return p.OfUnion(dst, h) }
