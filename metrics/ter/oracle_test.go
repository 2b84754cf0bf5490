package ter

import (
	"math"
	"slices"
)

// slowEdits is TER's rule computed the plain way: every candidate costs a full edit
// distance with its path, and nothing is reused.
func slowEdits(hyp, ref []string) int {
	if len(ref) == 0 {
		return len(hyp)
	}
	moves, checked := 0, 0
	for {
		moved, gain, n := slowRound(hyp, ref, checked)
		checked += n
		if checked >= 1000 || gain <= 0 {
			d, _ := slowDistance(hyp, ref)
			return moves + d
		}
		hyp = moved
		moves++
	}
}

// slowRound returns the best move, how much it gains, and how many were tried.
func slowRound(hyp, ref []string, checked int) (best []string, gain, tried int) {
	before, path := slowDistance(hyp, ref)
	hypWrong := make([]bool, len(hyp))
	refWrong := make([]bool, len(ref))
	aligned := make([]int, len(ref)) // index of the hypothesis word, -1 before the first
	i, j := -1, -1
	for _, op := range path {
		if op != 'i' {
			i++
			hypWrong[i] = op != '='
		}
		if op != 'd' {
			j++
			refWrong[j] = op != '='
			aligned[j] = i
		}
	}

	found := false
	var rank [4]int
	for start := range hyp {
		for r := range ref {
			if r-start > 50 || start-r > 50 {
				continue
			}
			for n := 1; n <= 10 && start+n <= len(hyp) && r+n <= len(ref) && hyp[start+n-1] == ref[r+n-1]; n++ {
				if !slices.Contains(hypWrong[start:start+n], true) || !slices.Contains(refWrong[r:r+n], true) {
					continue
				}
				if start <= aligned[r] && aligned[r] < start+n {
					continue
				}
				last := -1
				for k := r - 1; k < r+n; k++ {
					target := 0
					if k >= 0 {
						target = aligned[k] + 1
					}
					if target == last {
						continue
					}
					last = target
					moved := slowMove(hyp, start, n, target)
					after, _ := slowDistance(moved, ref)
					tried++
					this := [4]int{before - after, n, -start, -target}
					if !found || slices.Compare(this[:], rank[:]) > 0 {
						found, rank, best = true, this, moved
					}
				}
				if checked+tried >= 1000 {
					return best, rank[0], tried
				}
			}
		}
	}
	return best, rank[0], tried
}

// slowMove moves n words from start to target. If the target lies within the run, the run
// moves that many words further on.
func slowMove(words []string, start, n, target int) []string {
	run := words[start : start+n]
	rest := slices.Concat(words[:start], words[start+n:])
	at := target
	switch {
	case target > start+n:
		at = target - n
	case target >= start:
		at = min(target, len(rest))
	}
	return slices.Concat(rest[:at], run, rest[at:])
}

// slowDistance returns the edit distance within the beam and the path: '='
// and 's' consume a word of both, 'd' one of hyp, 'i' one of ref.
func slowDistance(hyp, ref []string) (int, string) {
	const far = 1 << 40
	ratio := 1.0
	if len(hyp) > 0 {
		ratio = float64(len(ref)) / float64(len(hyp))
	}
	beam := 25
	if 25 < ratio/2 {
		beam = int(math.Ceil(ratio/2 + 25))
	}
	type cell struct {
		cost int
		op   byte
	}
	table := make([][]cell, len(hyp)+1)
	for i := range table {
		table[i] = make([]cell, len(ref)+1)
		for j := range table[i] {
			table[i][j] = cell{far, '?'}
		}
	}
	for j := range table[0] {
		table[0][j] = cell{j, 'i'}
	}
	for i := 1; i <= len(hyp); i++ {
		centre := int(math.Floor(float64(i) * ratio))
		for j := range table[i] {
			if j < centre-beam || j >= centre+beam && i < len(hyp) {
				continue
			}
			if j == 0 {
				table[i][0] = cell{table[i-1][0].cost + 1, 'd'}
				continue
			}
			c := cell{table[i-1][j-1].cost, '='}
			if hyp[i-1] != ref[j-1] {
				c = cell{c.cost + 1, 's'}
			}
			if d := table[i-1][j].cost + 1; d < c.cost {
				c = cell{d, 'd'}
			}
			if d := table[i][j-1].cost + 1; d < c.cost {
				c = cell{d, 'i'}
			}
			table[i][j] = c
		}
	}
	var path []byte
	for i, j := len(hyp), len(ref); i > 0 || j > 0; {
		op := table[i][j].op
		path = append(path, op)
		if op != 'i' {
			i--
		}
		if op != 'd' {
			j--
		}
	}
	slices.Reverse(path)
	return table[len(hyp)][len(ref)].cost, string(path)
}
