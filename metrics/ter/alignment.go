package ter

// alignment is the shortest path through a beam, as a correspondence of the words of both
// texts.
type alignment struct {
	// targets[j] is the number of words of the hypothesis that the path consumes up to and
	// including reference word j-1. A run that belongs after that word moves there. targets[0]
	// is 0.
	targets []int32
	// hyp[i] and ref[j] count the wrong words among the first i and j.
	hyp, ref []int32
}

// hypWrong reports whether one of the words from to to-1 of the hypothesis is deleted or
// substituted.
func (a *alignment) hypWrong(from, to int) bool { return a.hyp[from] != a.hyp[to] }

// refWrong reports whether one of these words of the reference is inserted or substituted.
func (a *alignment) refWrong(from, to int) bool { return a.ref[from] != a.ref[to] }

// trace follows the path back from the last cell. Of equally short steps it prefers the
// diagonal, then a deletion, then an insertion.
func (a *alignment) trace(b *beam, words []int32) {
	i, j := len(words), len(b.ref)
	a.targets = resize(a.targets, j+1)
	a.hyp = resize(a.hyp, i+1)
	a.ref = resize(a.ref, j+1)
	a.targets[0], a.hyp[0], a.ref[0] = 0, 0, 0

	// Mark each word first, and sum the marks afterwards.
	for i > 0 && j > 0 {
		here, above := b.row(i), b.row(i-1)
		d := here.cells[j-here.lo]
		wrong := int32(0)
		if words[i-1] != b.ref[j-1] {
			wrong = 1
		}
		switch {
		case above.lo < j && j <= above.hi() && above.cells[j-1-above.lo]+wrong == d:
			a.targets[j], a.hyp[i], a.ref[j] = int32(i), wrong, wrong
			i--
			j--
		case above.lo <= j && j < above.hi() && above.cells[j-above.lo]+1 == d:
			a.hyp[i] = 1
			i--
		default:
			a.targets[j], a.ref[j] = int32(i), 1
			j--
		}
	}
	for ; i > 0; i-- {
		a.hyp[i] = 1
	}
	for ; j > 0; j-- {
		a.targets[j], a.ref[j] = 0, 1
	}
	accumulate(a.hyp)
	accumulate(a.ref)
}

func accumulate(s []int32) {
	sum := int32(0)
	for k, v := range s {
		sum += v
		s[k] = sum
	}
}
