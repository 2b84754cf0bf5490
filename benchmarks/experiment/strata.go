package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
)

// stratum is a part of the segments, or of the systems.
type stratum struct {
	dimension, name string
	segments        []bool
	systems         []bool // nil for all
	count, least    int    // segments, and what they are ordered by
	favoured        bool   // the systems may be favoured over the others
}

// The dimensions of strata.
const (
	byDomain     = "domain"
	byLength     = "length"
	byReferences = "references"
	byFamily     = "family"
)

// strata says where the differences come from.
func (r *run) strata(ctx context.Context, d *data, pairs []pair, res *Result) error {
	all := append(d.strata(), r.families(d)...)
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
			a, b := x.within(s), y.within(s)
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
				out.Missing = s.count*s.of(a.Systems) - out.N
				res.Strata = append(res.Strata, out)
			}
			if s.favoured {
				res.Strata = append(res.Strata, r.favour(d, pr, x, y, s))
			}
		}
	}
	return nil
}

// strata parts the segments by every dimension in which they differ.
func (d *data) strata() []stratum {
	domains, lengths, counts := make([]string, len(d.segments)), make([]int, len(d.segments)), make([]int, len(d.segments))
	for i, s := range d.segments {
		domains[i], counts[i], lengths[i] = s.Domain, countPresent(s.AllReferences(nil)), -1
		if n, ok := length(s); ok {
			lengths[i] = n
		}
	}
	out := slices.Concat(parts(byDomain, domains, nil), parts(byLength, thirds(lengths, " characters"), lengths))
	const few = 6
	if distinct := slices.Compact(slices.Sorted(slices.Values(counts))); len(distinct) > few {
		return append(out, parts(byReferences, thirds(counts, ""), counts)...)
	}
	names := make([]string, len(counts))
	for i, n := range counts {
		names[i] = strconv.Itoa(n)
	}
	return append(out, parts(byReferences, names, counts)...)
}

// parts makes a stratum of each name, in the order of the least value that has
// it, or of appearance without values. A dimension of one part is none, and
// segments without a name are a part of their own where others have one.
func parts(dimension string, names []string, values []int) []stratum {
	var out []stratum
	for i, name := range names {
		k := slices.IndexFunc(out, func(s stratum) bool { return s.name == name })
		if k < 0 {
			k = len(out)
			out = append(out, stratum{dimension: dimension, name: name, segments: make([]bool, len(names))})
			if values != nil {
				out[k].least = values[i]
			}
		}
		if out[k].segments[i] = true; values != nil {
			out[k].least = min(out[k].least, values[i])
		}
		out[k].count++
	}
	if len(out) < 2 {
		return nil
	}
	slices.SortStableFunc(out, func(a, b stratum) int { return cmp.Compare(a.least, b.least) })
	for i := range out {
		out[i].name = cmp.Or(out[i].name, "none stated")
	}
	return out
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
	// Where a third begins, and where the last one ends.
	first, _ := slices.BinarySearch(sorted, sorted[len(sorted)/3])
	second, _ := slices.BinarySearch(sorted, sorted[2*len(sorted)/3])
	bounds := []int{0, first, second, len(sorted)}
	for i, v := range values {
		at, there := slices.BinarySearch(sorted, v)
		if !there {
			continue
		}
		k := 0
		for at >= bounds[k+1] {
			k++
		}
		low, high := sorted[bounds[k]], sorted[bounds[k+1]-1]
		if out[i] = fmt.Sprintf("%d to %d%s", low, high, unit); low == high {
			out[i] = fmt.Sprintf("%d%s", low, unit)
		}
	}
	return out
}
