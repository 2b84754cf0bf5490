package ter

import (
	"cmp"
	"slices"
)

// The limits of the search for moves.
const (
	maxMoveWords  = 10   // length of a moved run
	maxMoveOffset = 50   // between the positions of a run in the two texts
	maxCandidates = 1000 // the round that reaches this many is the last
)

// move swaps two adjacent runs of words: words[from:mid] and words[mid:to].
type move struct{ from, mid, to int }

// apply makes the move in place.
func (m move) apply(words []int32) {
	slices.Reverse(words[m.from:m.mid])
	slices.Reverse(words[m.mid:m.to])
	slices.Reverse(words[m.from:m.to])
}

// candidate is a run of the hypothesis and a place to move it to: before the word with the
// number target.
type candidate struct{ start, length, target int32 }

// move returns the candidate as a swap, in a text of n words. A target inside the run, or
// at one of its ends, pushes the run towards the end of the text by the distance from the
// start of the run to the target.
func (c candidate) move(n int) move {
	start, length, target := int(c.start), int(c.length), int(c.target)
	end := start + length
	switch {
	case target < start:
		return move{target, start, end}
	case target > end:
		return move{start, end, target}
	default:
		return move{start, end, min(length+target, n)}
	}
}

// rank orders candidates that lower the distance equally: the longer run first, then the
// earlier one, then the earlier target.
func rank(c, d candidate) int {
	return cmp.Or(
		cmp.Compare(d.length, c.length),
		cmp.Compare(c.start, d.start),
		cmp.Compare(c.target, d.target),
	)
}

// search counts the edits of pairs of texts. It reuses its memory.
type search struct {
	beam       beam
	words      []int32 // the hypothesis, with the moves made so far
	alignment  alignment
	index      index
	candidates []candidate
}

// edits returns the number of edits, including moves, between a hypothesis and a reference,
// whose words are numbers below size.
func (s *search) edits(hyp, ref []int32, size int) int {
	switch {
	case len(ref) == 0:
		return len(hyp)
	case len(hyp) == 0:
		return len(ref)
	case slices.Equal(hyp, ref):
		return 0
	}
	s.words = append(s.words[:0], hyp...)
	s.index.reset(ref, size)
	// A word without a counterpart stays an edit, whatever is moved.
	floor := max(len(hyp), len(ref)) - s.index.common(hyp)

	s.beam.reset(len(hyp), ref)
	s.beam.computePrefixes(s.words, 0)
	suffixes := len(hyp) // rows of suffix from here on are computed
	moves := 0
	checked := 0
	for s.beam.distance() > floor {
		s.alignment.trace(&s.beam, s.words)
		s.findCandidates(checked)
		checked += len(s.candidates)
		if checked >= maxCandidates || len(s.candidates) == 0 {
			break
		}
		slices.SortFunc(s.candidates, rank)
		s.candidates = slices.Compact(s.candidates)
		needed := suffixes
		for _, c := range s.candidates {
			needed = min(needed, c.move(len(hyp)).to)
		}
		s.beam.computeSuffixes(s.words, suffixes, needed)
		suffixes = needed

		best, distance := s.best(floor)
		if distance == s.beam.distance() {
			break
		}
		m := best.move(len(hyp))
		m.apply(s.words)
		moves++
		s.beam.computePrefixes(s.words, m.from)
		suffixes = max(suffixes, m.to)
	}
	return moves + s.beam.distance()
}

// best returns the first of the candidates that lower the distance most, and the distance
// after it, which is the current distance if none lowers it. No distance is below floor.
func (s *search) best(floor int) (best candidate, distance int) {
	distance = s.beam.distance()
	for _, c := range s.candidates {
		if distance == floor {
			break
		}
		m := c.move(len(s.words))
		if m.from == m.mid || m.mid == m.to {
			continue // moves nothing
		}
		if d := s.beam.moved(s.words, m, distance-1); d < distance {
			best, distance = c, d
		}
	}
	return best, distance
}

// findCandidates collects the moves worth trying: every run that both texts have and that
// is wrong in both. Its targets are the places next to the words aligned with its
// counterpart in the reference and with the word before that. It stops at the candidate
// that ends the search; checked is the number of candidates in earlier rounds.
func (s *search) findCandidates(checked int) {
	s.candidates = s.candidates[:0]
	ref, a := s.beam.ref, &s.alignment
	s.index.rewind()
	for start, word := range s.words {
		if !a.hypWrong(start, min(start+maxMoveWords, len(s.words))) {
			continue
		}
		for r := s.index.first(word, start-maxMoveOffset); r >= 0 && r <= start+maxMoveOffset; r = s.index.after(r) {
			longest := min(maxMoveWords, len(s.words)-start, len(ref)-r)
			for length := 1; length <= longest && s.words[start+length-1] == ref[r+length-1]; length++ {
				if !a.hypWrong(start, start+length) || !a.refWrong(r, r+length) {
					continue
				}
				if t := int(a.targets[r+1]); start < t && t <= start+length {
					continue // already in place
				}
				last := int32(-1)
				for _, target := range a.targets[r : r+length+1] {
					if target == last {
						continue
					}
					last = target
					s.candidates = append(s.candidates, candidate{int32(start), int32(length), target})
				}
				if checked+len(s.candidates) >= maxCandidates {
					return
				}
			}
		}
	}
}
