package diversify

import (
	"cmp"
	"slices"

	refract "github.com/refract-eval/refract"
)

// result returns a copy of the segment with the new variants, ordered by reference, prompt
// and sample.
func (e *Expander) result(j *job) *refract.Segment {
	out := *j.seg
	out.Variants = slices.Grow(slices.Clip(out.Variants), len(j.asks))
	out.Rejected = slices.Clip(out.Rejected)
	order := make([]int, 0, len(j.asks))
	for i := range j.asks {
		if j.asks[i].items == nil {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		p, q := &j.asks[a], &j.asks[b]
		return cmp.Or(cmp.Compare(p.cell, q.cell), cmp.Compare(p.sample, q.sample), cmp.Compare(p.room, q.room))
	})
	for _, i := range order {
		v := e.variant(j, &j.asks[i])
		if rejects(v.Verdict) {
			out.Rejected = append(out.Rejected, v)
		} else {
			out.Variants = append(out.Variants, v)
		}
	}
	if j.judged != nil {
		out.Judged = j.judged
	}
	return &out
}
