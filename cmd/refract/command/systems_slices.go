package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"

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
	from := 0
	for quarter := range 4 {
		to := ((quarter+1)*len(known) + 3) / 4
		if to <= from {
			continue
		}
		for to < len(known) && known[to] == known[to-1] { // segments of equal lengths stand in one part
			to++
		}
		low, high := known[from], known[to-1]
		name := strconv.Itoa(low)
		if high > low {
			name = fmt.Sprintf("%d–%d", low, high)
		}
		out = append(out, slice{"length", name, to - from, func(i int) bool { return low <= d.lengths[i] && d.lengths[i] <= high }})
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
// see a row a part and a column a system, programs a row for both.
func (d *testedSystems) slices(ctx context.Context) (*report.NamedTable, error) {
	t := d.tested(d.keyed(textColumn("by"), textColumn("slice"), textColumn("system"), d.unit(), numberColumn("score", 0), numberColumn("baseline_score", 0),
		numberColumn("delta", 0), numberColumn("p", 0), textColumn("result"), textColumn("baseline")))
	if d.format.ForPeople() {
		t = d.keyed(textColumn("by"), textColumn("slice"), countColumn("segments"))
		for i, name := range d.names {
			if i != d.against {
				t.Columns = append(t.Columns, report.Column{Name: "system " + name, Header: name})
			}
		}
		t.Note("score less that of %s; * p up to %g, which no correction raises%s; lengths are characters of the first reference", d.names[d.against], d.alpha, d.enough(1))
	}
	for k := range d.settings {
		for _, part := range d.parts() {
			c, err := d.compare(ctx, k, part.within, d.against)
			if err != nil {
				return nil, err
			}
			row := []any{part.by, part.name, part.segments}
			for i := range c.Pairs {
				p := &c.Pairs[i]
				result := d.result(k, p, p.Decisive, 1)
				if d.format.ForPeople() {
					row = append(row, d.shownDelta(p, result))
				} else {
					d.addTested(t, k, part.by, part.name, d.names[p.A], p.Segments, p.ScoreA, p.ScoreB, p.Delta, shownP(p, p.P), report.StringOrNull(result), d.names[d.against])
				}
			}
			if d.format.ForPeople() {
				d.add(t, k, row...)
			}
		}
	}
	return t, nil
}

// shownDelta is a difference with its sign, and a star where it is significant.
func (d *testedSystems) shownDelta(p *significance.SystemPair, result string) report.Value {
	star := ""
	switch result {
	case "":
		return report.Null()
	case won, lost:
		star = "*"
	}
	return report.String(fmt.Sprintf("%+.*f%s", d.digits(), p.Delta, star))
}
