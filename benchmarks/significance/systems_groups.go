package significance

import "slices"

// Grouped replaces segments by groups of segments, such as documents, because segments of a
// group depend on each other. of is the group of each segment, from 0. The statistics of a
// group are the sums of its segments' statistics, and their number. A system has a group if
// it has all of the group's segments that any system has.
func (s *Systems) Grouped(of []int) *Systems {
	groups := 0
	has := make([]bool, len(of)) // whether any system has a segment
	for i, g := range of {
		groups = max(groups, g+1)
		for _, rows := range s.Statistics {
			has[i] = has[i] || rows[i] != nil
		}
	}
	out := &Systems{LowerIsBetter: s.LowerIsBetter, Score: func(sums []float64, _ int) float64 {
		last := len(sums) - 1
		return s.Score(sums[:last], int(sums[last]))
	}}
	for _, rows := range s.Statistics {
		sums, lacks := make([][]float64, groups), make([]bool, groups)
		for i, g := range of {
			switch row := rows[i]; {
			case row == nil:
				lacks[g] = lacks[g] || has[i]
			case sums[g] == nil:
				sums[g] = append(slices.Clone(row), 1)
			default:
				for k, v := range row {
					sums[g][k] += v
				}
				sums[g][len(row)]++
			}
		}
		for g := range sums {
			if lacks[g] {
				sums[g] = nil
			}
		}
		out.Statistics = append(out.Statistics, sums)
	}
	return out
}
