package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/report"
)

// slice is a part of the segments.
type slice struct {
	by, name string
	segments int
	within   func(segment int) bool // nil for all
}

// parts are all segments, those of each quarter of reference lengths, and those of
// each domain.
func (d *testedSystems) parts() []slice {
	out := []slice{{by: "all", name: "all", segments: len(d.lengths)}}
	known := slices.DeleteFunc(slices.Clone(d.lengths), func(n int) bool { return n < 0 })
	slices.Sort(known)
	for from := 0; from < len(known); {
		// Segments of equal lengths stand in one part.
		quarter := from * 4 / len(known)
		to := max(from+1, (quarter+1)*len(known)/4)
		for to < len(known) && known[to] == known[to-1] {
			to++
		}
		low, high := known[from], known[to-1]
		out = append(out, slice{"length", fmt.Sprintf("%d–%d", low, high), to - from, func(i int) bool { return low <= d.lengths[i] && d.lengths[i] <= high }})
		from = to
	}
	var domains []string
	counts := map[string]int{}
	for _, name := range d.domains {
		if counts[name]++; counts[name] == 1 {
			domains = append(domains, name)
		}
	}
	for _, name := range domains {
		if len(domains) == 1 && name == "" {
			break // there are none
		}
		shown := name
		if name == "" {
			shown = "(none)"
		}
		out = append(out, slice{"domain", shown, counts[name], func(i int) bool { return d.domains[i] == name }})
	}
	return out
}

// slices compares the systems with the baseline in parts of the segments: people
// see a column a part, programs a row.
func (d *testedSystems) slices(ctx context.Context) (*report.NamedTable, error) {
	parts := d.parts()
	t := d.keyed(report.Column{Name: "system"}, report.Column{Name: "by"}, report.Column{Name: "slice"}, report.Column{Name: "segments", Kind: report.KindInt},
		report.Column{Name: "score", Kind: report.KindFloat}, report.Column{Name: "baseline_score", Kind: report.KindFloat}, report.Column{Name: "delta", Kind: report.KindFloat},
		report.Column{Name: "p", Kind: report.KindFloat}, report.Column{Name: "result"}, report.Column{Name: "baseline"})
	if d.format.ForPeople() {
		t = d.keyed(report.Column{Name: "system"})
		for _, part := range parts {
			t.Columns = append(t.Columns, report.Column{Name: part.by + " " + part.name, Header: fmt.Sprintf("%s\nn = %d", part.name, part.segments)})
		}
	}
	for k := range d.settings {
		found := make([][]*significance.SystemPair, len(d.names)) // of each system, by part
		for _, part := range parts {
			c, err := d.samples(k, part.within).Compare(ctx, d.comparison(d.against))
			if err != nil {
				return nil, err
			}
			for i := range c.Pairs {
				found[c.Pairs[i].A] = append(found[c.Pairs[i].A], &c.Pairs[i])
			}
		}
		for i, pairs := range found {
			if i != d.against {
				d.sliceRows(t, k, i, parts, pairs)
			}
		}
	}
	if d.format.ForPeople() {
		t.Note("score less that of %s; * p up to %g, which no correction raises; n: segments; lengths are characters of the first reference", d.names[d.against], d.alpha)
	}
	return t, nil
}

// sliceRows adds what was found of a system in all parts.
func (d *testedSystems) sliceRows(t *report.NamedTable, setting, system int, parts []slice, pairs []*significance.SystemPair) {
	row := []any{d.names[system]}
	for i, p := range pairs {
		result := report.StringOrNull(d.result(setting, p, p.P))
		if !d.format.ForPeople() {
			d.add(t, setting, d.names[system], parts[i].by, parts[i].name, p.Segments, p.ScoreA, p.ScoreB, p.Delta, p.P, result, d.names[d.against])
			continue
		}
		cell := report.Null()
		if p.Segments > 0 {
			shown := fmt.Sprintf("%+.*f", d.digits(), p.Delta)
			if d.result(setting, p, p.P) != tied {
				shown += "*"
			}
			cell = report.String(shown)
		}
		row = append(row, cell)
	}
	if d.format.ForPeople() {
		d.add(t, setting, row...)
	}
}
