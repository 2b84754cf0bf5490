package correlate

import "math/bits"

// NumPyRandom gives the random numbers of NumPy's default_rng, so that draws of other tools
// with a fixed seed can be repeated: PCG64, the generator PCG XSL RR 128/64 (O'Neill,
// 2014).
type NumPyRandom struct {
	high, low       uint64 // the state
	incHigh, incLow uint64 // the increment
	rest            uint32 // the second half of a step
	hasRest         bool
}

// NewNumPyRandom returns default_rng(seed).
func NewNumPyRandom(seed uint64) *NumPyRandom {
	s := newSeedSequence(seed)
	high, low := s.next(), s.next()
	incHigh, incLow := s.next(), s.next()
	g := &NumPyRandom{incHigh: incHigh<<1 | incLow>>63, incLow: incLow<<1 | 1}
	g.step()
	var carry uint64
	g.low, carry = bits.Add64(g.low, low, 0)
	g.high, _ = bits.Add64(g.high, high, carry)
	g.step()
	return g
}

// step multiplies the state by a constant and adds the increment.
func (g *NumPyRandom) step() {
	const multiplierHigh, multiplierLow = 0x2360ed051fc65da4, 0x4385df649fccf645
	high, low := bits.Mul64(g.low, multiplierLow)
	high += g.high*multiplierLow + g.low*multiplierHigh
	var carry uint64
	g.low, carry = bits.Add64(low, g.incLow, 0)
	g.high, _ = bits.Add64(high, g.incHigh, carry)
}

// Uint64 returns the next 64 bits.
func (g *NumPyRandom) Uint64() uint64 {
	g.step()
	return bits.RotateLeft64(g.high^g.low, -int(g.high>>58))
}

// Uint32 returns the next 32 bits: a step gives two of them, the lower ones
// first.
func (g *NumPyRandom) Uint32() uint32 {
	if g.hasRest {
		g.hasRest = false
		return g.rest
	}
	word := g.Uint64()
	g.rest, g.hasRest = uint32(word>>32), true
	return uint32(word)
}

// Below returns a number from 0 to n - 1 by Lemire's method, like Generator.integers and
// Generator.choice. n is at least 1; for n = 1 nothing is drawn.
func (g *NumPyRandom) Below(n uint32) uint32 {
	if n == 1 {
		return 0
	}
	product := uint64(g.Uint32()) * uint64(n)
	if uint32(product) < n {
		for threshold := -n % n; uint32(product) < threshold; {
			product = uint64(g.Uint32()) * uint64(n)
		}
	}
	return uint32(product >> 32)
}

// seedSequence is NumPy's SeedSequence: it spreads the bits of a seed over the
// state of a generator.
type seedSequence struct {
	pool  [4]uint32
	at    int
	state uint32
}

func newSeedSequence(seed uint64) *seedSequence {
	s := &seedSequence{state: 0x8b51f9dd}
	state := uint32(0x43b0d7e5)
	hash := func(v uint32) uint32 {
		v ^= state
		state *= 0x931e8875
		v *= state
		return v ^ v>>16
	}
	for i := range s.pool {
		s.pool[i] = hash(uint32(seed)) // a short seed is padded with 0
		seed >>= 32
	}
	for from := range s.pool {
		for to := range s.pool {
			if from != to {
				v := 0xca01f9dd*s.pool[to] - 0x4973f715*hash(s.pool[from])
				s.pool[to] = v ^ v>>16
			}
		}
	}
	return s
}

// next returns the next 64 bits of the state.
func (s *seedSequence) next() uint64 {
	var words [2]uint64
	for i := range words {
		v := s.pool[s.at%len(s.pool)] ^ s.state
		s.at++
		s.state *= 0x58f38ded
		v *= s.state
		words[i] = uint64(v ^ v>>16)
	}
	return words[1]<<32 | words[0]
}
