package ngram

import "slices"

// Texts are the texts of one side of a block. Systems often agree, and so do a model's
// paraphrases, so equal texts are read once.
type Texts struct {
	First []int // for each text: the first one equal to it
	Slot  []int // for each text: its position among the distinct ones
}

// few is the number of texts up to which comparing all pairs is faster than a map.
const few = 64

// Load replaces the texts and calls read with the distinct ones in order.
func (t *Texts) Load(texts []string, read func(s string)) {
	t.First, t.Slot = t.First[:0], t.Slot[:0]
	var seen map[string]int
	if len(texts) > few {
		seen = make(map[string]int, len(texts))
	}
	distinct := 0
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
		t.First, t.Slot = append(t.First, i), append(t.Slot, distinct)
		distinct++
		read(s)
	}
}

// Cells appends the matrix of scores, hypotheses × references, row-major. It calls score
// only for pairs of distinct texts.
func Cells(dst []float64, hyps, refs *Texts, score func(h, r int) float64) []float64 {
	base, columns := len(dst), len(refs.First)
	for h, same := range hyps.First {
		if same != h {
			dst = append(dst, dst[base+same*columns:base+(same+1)*columns]...)
			continue
		}
		start := len(dst)
		for r, same := range refs.First {
			if same != r {
				dst = append(dst, dst[start+same])
				continue
			}
			dst = append(dst, score(h, r))
		}
	}
	return dst
}

// PerHypothesis appends one score per hypothesis. It calls score only for distinct texts.
func PerHypothesis(dst []float64, hyps *Texts, score func(h int) float64) []float64 {
	base := len(dst)
	for h, same := range hyps.First {
		if same != h {
			dst = append(dst, dst[base+same])
			continue
		}
		dst = append(dst, score(h))
	}
	return dst
}
