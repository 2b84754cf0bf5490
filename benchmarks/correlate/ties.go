package correlate

// ties holds groups of elements with the same score.
type ties struct {
	parts []tiedPart // of the groups that have several units
	ends  []int32    // end of each group
	alone []aloneTies
}

// tiedPart is a number of elements of a unit.
type tiedPart struct{ unit, size int32 }

// aloneTies are the groups that have only elements of one unit: their number, and the sum of the
// squares of their sizes.
type aloneTies struct{ groups, squares int64 }

// newTies takes elements in an order in which each group ends there, and their units.
func newTies(order, ends, unit []int32, units int) *ties {
	t := &ties{alone: make([]aloneTies, units)}
	start := int32(0)
	for _, end := range ends {
		first := len(t.parts)
		for i, e := range order[start:end] {
			if u := unit[e]; i == 0 || u != t.parts[len(t.parts)-1].unit {
				t.parts = append(t.parts, tiedPart{unit: u})
			}
			t.parts[len(t.parts)-1].size++
		}
		if part := t.parts[first]; len(t.parts) == first+1 {
			t.alone[part.unit].groups++
			t.alone[part.unit].squares += int64(part.size) * int64(part.size)
			t.parts = t.parts[:first]
		} else {
			t.ends = append(t.ends, int32(len(t.parts)))
		}
		start = end
	}
	return t
}

// tieCounts are, per resample, the squares of the sizes of the groups, and how many groups there are.
type tieCounts struct{ squares, groups [mostOfBlock]int64 }

// count adds the groups of a block to counts, their number only on demand.
func (t *ties) count(b *block, to *tieCounts, groups bool) {
	start := int32(0)
	for _, end := range t.ends {
		var size lanes
		for _, p := range t.parts[start:end] {
			if p.size == 1 {
				size.add(&b.units[p.unit])
			} else {
				size.addTimes(&b.units[p.unit], int64(p.size))
			}
		}
		b.addProducts(&to.squares, &size, &size)
		if groups {
			for k := range b.weights {
				to.groups[k] += min(b.number(&size, k), 1)
			}
		}
		start = end
	}
	for k, weights := range b.weights {
		for u, of := range t.alone {
			w := int64(weights[u])
			to.squares[k] += w * w * of.squares
			if groups {
				to.groups[k] += min(w, 1) * of.groups
			}
		}
	}
}
