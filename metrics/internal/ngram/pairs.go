package ngram

// Distinct appends to dst, for each text, the index of the first text equal
// to it: systems often agree, and so do a model's paraphrases.
func Distinct(dst []int, texts []string) []int {
	const few = 64
	var seen map[string]int
	if len(texts) > few {
		seen = make(map[string]int, len(texts))
	}
	for i, t := range texts {
		first := i
		if seen != nil {
			if j, ok := seen[t]; ok {
				first = j
			} else {
				seen[t] = i
			}
		} else {
			for j := range i {
				if texts[j] == t {
					first = j
					break
				}
			}
		}
		dst = append(dst, first)
	}
	return dst
}

// Cells appends the matrix of scores, hypotheses × references, row-major.
// hyps and refs are what Distinct says of the texts; score is called for
// pairs of distinct texts alone.
func Cells(dst []float64, hyps, refs []int, score func(h, r int) float64) []float64 {
	base := len(dst)
	for h, same := range hyps {
		if same != h {
			dst = append(dst, dst[base+same*len(refs):base+(same+1)*len(refs)]...)
			continue
		}
		start := len(dst)
		for r, same := range refs {
			if same != r {
				dst = append(dst, dst[start+same])
				continue
			}
			dst = append(dst, score(h, r))
		}
	}
	return dst
}

// PerHypothesis appends one score per hypothesis, computed for distinct texts
// alone.
func PerHypothesis(dst []float64, hyps []int, score func(h int) float64) []float64 {
	base := len(dst)
	for h, same := range hyps {
		if same != h {
			dst = append(dst, dst[base+same])
			continue
		}
		dst = append(dst, score(h))
	}
	return dst
}
