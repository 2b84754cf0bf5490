package experiment

import (
	"context"
	"fmt"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/english"
)

// columns resolves a set for a dataset.
func (d *data) columns(s Set) (columnsOf, error) {
	for _, p := range s.Prompts {
		switch {
		case len(d.prompts) == 0:
			return nil, fmt.Errorf("references, prompts: dataset %s has no variants, so there is no prompt %q", d.Name, p)
		case !slices.Contains(d.prompts, p):
			return nil, fmt.Errorf("references, prompts: %s", english.Unknown("prompt", p, d.prompts))
		}
	}
	if !s.All && s.First == 0 {
		return d.withPrompts(s.Prompts), nil
	}
	return d.each(func(seg *refract.Segment, _ int) []int {
		all := everything(seg)
		if s.First > 0 {
			all = all[:min(s.First, len(all))]
		}
		return all
	}), nil
}

// withPrompts returns the originals and the variants of some prompts.
func (d *data) withPrompts(prompts []string) columnsOf {
	return d.each(func(s *refract.Segment, _ int) []int {
		var chosen []int
		for v := range s.Variants {
			if slices.Contains(prompts, s.Variants[v].Prompt) {
				chosen = append(chosen, v)
			}
		}
		return withVariants(s, chosen)
	})
}

// variantsOnly removes the originals from a choice.
func (d *data) variantsOnly(c columnsOf) columnsOf {
	return d.each(func(s *refract.Segment, i int) []int { return c[i][len(s.References):] })
}

func (d *data) each(of func(s *refract.Segment, i int) []int) columnsOf {
	out := make(columnsOf, len(d.segments))
	for i, s := range d.segments {
		out[i] = of(s, i)
	}
	return out
}

func everything(s *refract.Segment) []int {
	out := make([]int, s.NumReferences())
	for i := range out {
		out[i] = i
	}
	return out
}

// ordered is the columns of each segment in the order in which they are chosen; those in
// fixed are always included.
type ordered struct{ fixed, chosen columnsOf }

// take returns the fixed columns of a segment and the first k of the others.
func (o *ordered) take(i, k int) []int {
	out := slices.Concat(o.fixed[i], o.chosen[i][:min(k, len(o.chosen[i]))])
	slices.Sort(out)
	return out
}

// most is the largest number of columns that can be chosen.
func (o *ordered) most() int { return o.chosen.most() }

// orders returns the order in which a method chooses. Variants are chosen in addition to
// the originals; in a dataset without variants, originals after the first.
func (d *data) orders(ctx context.Context, m selection.Method, seed uint64) (*ordered, error) {
	fixed := d.withPrompts(nil)
	if !d.variants {
		fixed = fixed.first()
	}
	others := d.each(func(s *refract.Segment, i int) []int { return everything(s)[len(fixed[i]):] })
	chosen, err := d.arrange(ctx, &selection.Selector{Method: m, Seed: seed, Similarity: selection.NGrams()}, fixed, others)
	return &ordered{fixed, chosen}, err
}

// arrange puts the columns of each segment in the order in which they are chosen in addition to the
// fixed ones, and leaves out those that have no text.
func (d *data) arrange(ctx context.Context, by *selection.Selector, fixed, columns columnsOf) (columnsOf, error) {
	var out columnsOf
	for segments := range slices.Chunk(d.segments, 1024) { // of which there are copies
		segments = slices.Clone(segments)
		for k, s := range segments {
			i := len(out) + k
			segments[k] = only(s, fixed[i])
			for _, text := range only(s, columns[i]).References {
				segments[k].Variants = append(segments[k].Variants, refract.Variant{Text: text})
			}
		}
		orders, err := by.Orders(ctx, segments)
		if err != nil {
			return nil, err
		}
		for k, order := range orders {
			order, of := withBlank(order, segments[k].Variants), columns[len(out)]
			for at, v := range order {
				order[at] = of[v]
			}
			out = append(out, order)
		}
	}
	return out, nil
}

// withBlank appends the blank variants, which a selection leaves out: they are references,
// too.
func withBlank(order []int, variants []refract.Variant) []int {
	for v := range variants {
		if variants[v].Text.Valid && !slices.Contains(order, v) {
			order = append(order, v)
		}
	}
	return order
}

// columnsOf is a choice of references: for each segment its columns, in ascending order.
type columnsOf [][]int

// only returns a segment with only these references. Variants become originals; the scores
// are the same.
func only(s *refract.Segment, columns []int) *refract.Segment {
	all, t := s.AllReferences(nil), *s
	t.References, t.Variants = make([]refract.Text, 0, len(columns)), nil
	for _, k := range columns {
		t.References = append(t.References, all[k])
	}
	return &t
}

// subset fills in a segment's scores against some references, using out's memory. Native scores and
// statistics use all references and are left out. It returns false if no reference is left.
func subset(columns []int, out, ms *refract.MetricScores) bool {
	values, status := out.Values[:0], out.Status[:0] // local, because each append would write to the heap
	for from := 0; from < len(ms.Values); from += ms.Columns {
		for _, k := range columns {
			values, status = append(values, ms.Values[from+k]), append(status, ms.Status[from+k])
		}
	}
	out.Columns, out.Values, out.Status = len(columns), values, status
	return len(columns) > 0
}

// first returns only the first reference of each segment.
func (c columnsOf) first() columnsOf {
	out := make(columnsOf, len(c))
	for i := range c {
		out[i] = c[i][:min(1, len(c[i]))]
	}
	return out
}

// whole reports whether the choice is all references.
func (c columnsOf) whole(segments []*refract.Segment) bool {
	for i, s := range segments {
		if len(c[i]) != s.NumReferences() {
			return false
		}
	}
	return true
}

// most is the largest number of references of a segment.
func (c columnsOf) most() int {
	n := 0
	for _, columns := range c {
		n = max(n, len(columns))
	}
	return n
}

// withVariants returns the columns of all originals and of some variants of a segment.
func withVariants(s *refract.Segment, variants []int) []int {
	columns := everything(s)[:len(s.References)]
	for _, v := range variants {
		columns = append(columns, len(s.References)+v)
	}
	slices.Sort(columns)
	return columns
}
