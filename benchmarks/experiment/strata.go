package experiment

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

// stratum is a part of the segments.
type stratum struct {
	dimension, name string
	segments        []bool
	count           int
}

// The dimensions of strata.
const (
	byDomain     = "domain"
	byLength     = "length"
	byReferences = "references"
)

// strata says where the differences come from.
func (r *run) strata(ctx context.Context, d *data, pairs []pair, res *Result) error {
	all := d.strata()
	for _, s := range all {
		if s.dimension == byLength {
			r.note("length: thirds of the segments by the number of characters of the first reference")
			break
		}
	}
	for _, pr := range pairs {
		x, y := aligned(pr.a.table, pr.b.table)
		for i := range all {
			s := &all[i]
			a, b := x.within(s.segments), y.within(s.segments)
			for _, st := range r.p.Statistics {
				if !st.ofCells() {
					continue
				}
				out := Stratum{
					About: d.about(st), A: pr.a.name, B: pr.b.name, AName: pr.a.label, BName: pr.b.label,
					Dimension: s.dimension, Name: s.name, Segments: s.count,
				}
				var err error
				if out.Value, out.Interval, out.AValue, out.BValue, err = r.gain(ctx, a, b, st); err != nil {
					return fmt.Errorf("%s %s: %w", s.dimension, s.name, err)
				}
				_, out.N = a.judged()
				out.Missing = s.count*a.Systems - out.N
				res.Strata = append(res.Strata, out)
			}
		}
	}
	return nil
}

// strata parts the segments by every dimension in which they differ.
func (d *data) strata() []stratum {
	var out []stratum
	names := make([]string, len(d.segments))
	for i, s := range d.segments {
		names[i] = s.Domain
	}
	out = append(out, parts(byDomain, names, "")...)

	lengths := make([]int, len(d.segments))
	for i, s := range d.segments {
		lengths[i] = -1
		if n, ok := length(s); ok {
			lengths[i] = n
		}
	}
	out = append(out, parts(byLength, thirds(lengths, " characters"), "")...)

	counts := make([]int, len(d.segments))
	for i, s := range d.segments {
		counts[i] = countPresent(s.AllReferences(nil))
	}
	const few = 6
	if distinct := slices.Compact(slices.Sorted(slices.Values(counts))); len(distinct) <= few {
		for i, n := range counts {
			names[i] = strconv.Itoa(n)
		}
		return append(out, parts(byReferences, names, "")...)
	}
	return append(out, parts(byReferences, thirds(counts, ""), "")...)
}

// parts makes a stratum of each name, in the order of appearance for domains
// and of numbers for the others. A dimension of one part is none, and segments
// without a name are a part of their own where others have one.
func parts(dimension string, names []string, none string) []stratum {
	var out []stratum
	for i, name := range names {
		k := slices.IndexFunc(out, func(s stratum) bool { return s.name == name })
		if k < 0 {
			k = len(out)
			out = append(out, stratum{dimension, name, make([]bool, len(names)), 0})
		}
		out[k].segments[i] = true
		out[k].count++
	}
	if len(out) < 2 {
		return nil
	}
	if dimension != byDomain {
		slices.SortStableFunc(out, func(a, b stratum) int { return leading(a.name) - leading(b.name) })
	}
	for i := range out {
		if out[i].name == none {
			out[i].name = "none stated"
		}
	}
	return out
}

// leading is the number that a name begins with, and -1 where there is none.
func leading(name string) int {
	end := 0
	for end < len(name) && name[end] >= '0' && name[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(name[:end])
	if err != nil {
		return -1
	}
	return n
}

// thirds names each value by the third of all values that it is in, such as "1
// to 40 characters". Equal values are in one third; a negative value is
// without a name.
func thirds(values []int, unit string) []string {
	sorted := slices.DeleteFunc(slices.Sorted(slices.Values(values)), func(v int) bool { return v < 0 })
	out := make([]string, len(values))
	if len(sorted) == 0 {
		return out
	}
	first, second := sorted[len(sorted)/3], sorted[2*len(sorted)/3]
	third := func(v int) int {
		switch {
		case v < first:
			return 0
		case v < second:
			return 1
		}
		return 2
	}
	var low, high [3]int
	var seen [3]bool
	for _, v := range sorted {
		k := third(v)
		if !seen[k] {
			low[k], seen[k] = v, true
		}
		high[k] = v
	}
	for i, v := range values {
		if v < 0 {
			continue
		}
		k := third(v)
		out[i] = fmt.Sprintf("%d to %d%s", low[k], high[k], unit)
		if low[k] == high[k] {
			out[i] = fmt.Sprintf("%d%s", low[k], unit)
		}
	}
	return out
}
