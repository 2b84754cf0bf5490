package rouge

import "math/bits"

// sequences finds longest common subsequences, 64 words of a reference at a time (Hyyrö,
// 2004). Each word of the hypothesis gives a column of bits. Bit i is 0 if word i of the
// reference makes the subsequence of the words so far longer. So the zeros of the last
// column count its words, and all columns together tell which words they are. The columns
// are recomputed 64 words at a time from the carries, so that long lines take little
// memory.
type sequences struct {
	masks   []uint64 // of each word: its positions among the 64; all 0 between calls
	carries []uint64 // of each word of the hypothesis: carry into the next 64
	kept    []uint64 // carries of all 64s, one bit each
	columns []uint64 // of each word of the hypothesis, within one 64
	found   []uint64 // words of a line of the reference that are common
	left    []int32  // of each word: occurrences in the hypothesis not yet counted; all 0 between calls
}

// words makes room for n distinct words.
func (s *sequences) words(n int) {
	s.masks, s.left = resize(s.masks, n), resize(s.left, n)
}

// resize returns a slice of n elements. Elements taken from s keep their values.
func resize[T any](s []T, n int) []T {
	if n > cap(s) {
		return make([]T, n)
	}
	return s[:n]
}

// length is the length of the longest common subsequence. With keep, the carries are kept.
func (s *sequences) length(ref, hyp []uint32, keep bool) int {
	n, row := 0, words64(len(hyp))
	s.carries = resize(s.carries, len(hyp))
	clear(s.carries)
	if keep {
		s.kept = resize(s.kept, row*words64(len(ref)))
		clear(s.kept)
	}
	for at := 0; at < len(ref); at += 64 {
		if keep {
			for j, c := range s.carries {
				s.kept[at/64*row+j/64] |= c << (j % 64)
			}
		}
		block := ref[at:min(at+64, len(ref))]
		n += bits.OnesCount64(^s.read(block, hyp, nil) << (64 - len(block)))
	}
	return n
}

func words64(n int) int { return (n + 63) / 64 }

// read goes over the hypothesis with up to 64 words of a reference and returns the last
// column. It fills in columns unless it is nil.
func (s *sequences) read(block, hyp []uint32, columns []uint64) uint64 {
	for i, t := range block {
		s.masks[t] |= 1 << i
	}
	v := ^uint64(0)
	for j, t := range hyp {
		m := s.masks[t]
		sum, carry := bits.Add64(v, v&m, s.carries[j])
		v = sum | v&^m
		s.carries[j] = carry
		if columns != nil {
			columns[j] = v
		}
	}
	for _, t := range block {
		s.masks[t] = 0
	}
	return v
}

// mark adds the words of a longest common subsequence to found: of several, the one that
// rouge-score takes.
func (s *sequences) mark(ref, hyp []uint32) {
	if s.length(ref, hyp, true) == 0 {
		return
	}
	s.columns = resize(s.columns, len(hyp))
	row := words64(len(hyp))
	for i, j := len(ref)-1, len(hyp)-1; i >= 0 && j >= 0; {
		from := i &^ 63
		for k := range s.carries {
			s.carries[k] = s.kept[from/64*row+k/64] >> (k % 64) & 1
		}
		s.read(ref[from:i+1], hyp[:j+1], s.columns)
		for i >= from && j >= 0 {
			switch longer := s.columns[j]>>(i-from)&1 == 0; {
			case ref[i] == hyp[j]:
				s.found[i/64] |= 1 << (i % 64)
				i--
				j--
			case longer:
				j--
			default:
				i--
			}
		}
	}
}

// union returns how many words of a reference are in subsequences that one of its lines
// shares with a line of the hypothesis. A word counts at most as often as it is in the
// hypothesis.
func (s *sequences) union(ref, hyp *document) int {
	if len(ref.lines) == 1 && len(hyp.lines) == 1 {
		return s.length(ref.lines[0], hyp.lines[0], false)
	}
	for _, line := range hyp.lines {
		for _, t := range line {
			s.left[t]++
		}
	}
	hits := 0
	for _, line := range ref.lines {
		s.found = resize(s.found, words64(len(line)))
		clear(s.found)
		for _, other := range hyp.lines {
			s.mark(line, other)
		}
		for i, t := range line {
			if s.found[i/64]>>(i%64)&1 == 1 && s.left[t] > 0 {
				s.left[t]--
				hits++
			}
		}
	}
	for _, line := range hyp.lines {
		for _, t := range line {
			s.left[t] = 0
		}
	}
	return hits
}
