package correlate

import "math/bits"

// wordsOfBlock is the number of words that hold the numbers of a block of resamples.
const wordsOfBlock = 8

// mostOfBlock is the largest number of resamples in a block.
const mostOfBlock = wordsOfBlock * (64 / narrowest)

// narrowest is the number of bits of the narrowest lane.
const narrowest = 21

// lanes holds a number for each resample of a block. A word holds several numbers, so that
// one addition adds them all.
type lanes [wordsOfBlock]uint64

func (l *lanes) add(m *lanes) {
	l[0] += m[0]
	l[1] += m[1]
	l[2] += m[2]
	l[3] += m[3]
	l[4] += m[4]
	l[5] += m[5]
	l[6] += m[6]
	l[7] += m[7]
}

// addTimes adds numbers n times.
func (l *lanes) addTimes(m *lanes, n int64) {
	for i := range l {
		l[i] += m[i] * uint64(n)
	}
}

// block holds the weights of the units in some resamples.
type block struct {
	width   int       // of a lane, in bits
	weights [][]int32 // of each resample
	units   []lanes   // the same weights
	drawn   [][]uint8 // their draws, if these are held
}

// draw is the place of a held draw, nil if it is not held.
func (b *block) draw(resample int) *uint8 {
	if b.drawn == nil {
		return nil
	}
	return &b.drawn[resample][0]
}

// laneWidth is the number of bits of a lane that holds numbers up to most.
func laneWidth(most int64) int {
	switch n := bits.Len64(uint64(most)); {
	case n <= narrowest:
		return narrowest
	case n <= 32:
		return 32
	}
	return 64
}

// laneCapacity is the number of resamples in a block with lanes of this width.
func laneCapacity(width int) int { return wordsOfBlock * (64 / width) }

// pack sets the weights of the block, at most its capacity.
func (b *block) pack(weights [][]int32, width int) {
	b.weights, b.width = weights, width
	b.units = zeros(b.units, len(weights[0]))
	for r, of := range weights {
		word, shift := r%wordsOfBlock, r/wordsOfBlock*width
		for u, w := range of {
			b.units[u][word] |= uint64(w) << shift
		}
	}
}

// number returns the number of one resample.
func (b *block) number(l *lanes, resample int) int64 {
	return int64(l[resample%wordsOfBlock] >> (resample / wordsOfBlock * b.width) & (1<<b.width - 1))
}

// addProducts adds, per resample, the products of two numbers to sums.
func (b *block) addProducts(sums *[mostOfBlock]int64, x, y *lanes) {
	per, mask, shift := 64/b.width, uint64(1)<<b.width-1, b.width&63 // a shift by less than 64 needs no check
	for word := range wordsOfBlock {
		v, w := x[word], y[word]
		sums[word] += int64(v & mask * (w & mask))
		if per > 1 {
			v, w = v>>shift, w>>shift
			sums[wordsOfBlock+word] += int64(v & mask * (w & mask))
		}
		if per > 2 {
			sums[2*wordsOfBlock+word] += int64(v >> shift * (w >> shift))
		}
	}
}
