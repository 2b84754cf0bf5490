package significance

import "github.com/refract-eval/refract/benchmarks/correlate"

// numpyBits returns the booleans of NumPy's integers(2, dtype=bool), from a generator used
// for nothing else.
type numpyBits struct {
	g    *correlate.NumPyRandom
	rest uint64 // unused bits of the last step
	left int    // their number
}

// fill sets the first n bits of words to the next booleans, lowest bit first, and the bits
// after them to 0.
func (b *numpyBits) fill(words []uint64, n int) {
	for i := range words {
		need := max(0, min(64, n-64*i))
		word := b.rest
		if b.left < need {
			next := b.g.Uint64()
			word |= next << b.left
			b.rest, b.left = next>>(need-b.left), 64-(need-b.left)
		} else {
			b.rest, b.left = b.rest>>need, b.left-need
		}
		words[i] = word & (1<<need - 1)
	}
}
