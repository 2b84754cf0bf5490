package matrix

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

// group collects the rows of one segment.
type group struct {
	id      string
	first   int64 // position of the first row
	known   []*metricState
	fixed   bool // whether known is complete: this is not the first segment
	systems []string
	index   map[string]int // of systems
	found   []found        // of each metric of known
	// Rows of a system and of a metric follow each other.
	lastSystem, lastMetric int
}

// found are the rows of one metric.
type found struct {
	cells      []cell // their ref is NoReference in all or in none
	native     []cell // their ref is NoReference
	references int    // of the native rows
}

// cell is the score of a row.
type cell struct {
	system, ref int32
	status      metrics.Status
	score       float64
	at          int64
}

func newGroup(id string, first int64, known []*metricState) *group {
	return &group{
		id: id, first: first, known: known, fixed: known != nil,
		index: map[string]int{}, found: make([]found, len(known)),
	}
}

// add takes a row, which is right by itself.
func (g *group) add(r *Row, at int64) error {
	h := g.system(r.System)
	k, err := g.metric(r)
	if err != nil {
		return err
	}
	m, f := g.known[k], &g.found[k]
	if r.Direction != m.direction {
		return fmt.Errorf("direction %q, but %q in rows before; a metric has one", r.Direction, m.direction)
	}
	c := cell{int32(h), int32(r.Reference), r.Status, 0, at}
	if r.Status == metrics.Scored {
		c.score = r.Score
	}
	if r.Aggregate == Native {
		return g.addNative(m, f, r, c)
	}
	if len(f.cells) > 0 && (f.cells[0].ref == NoReference) != (r.Reference == NoReference) {
		return errors.New("some cells have a reference and some have none; a metric's cells of a segment are alike")
	}
	if m.cellAt == 0 {
		m.cellAt, m.signature = at, r.Signature
	} else if m.signature != r.Signature {
		return fmt.Errorf("signature %s, but %s in row %d; scores of different settings cannot be aggregated together",
			text.Quote(r.Signature), text.Quote(m.signature), m.cellAt)
	}
	switch {
	case r.Reference != NoReference, r.Status == metrics.MissingReference:
		err = m.learn(yes)
	case r.Status == metrics.Scored:
		err = m.learn(no)
	}
	f.cells = append(f.cells, c)
	return err
}

func (g *group) addNative(m *metricState, f *found, r *Row, c cell) error {
	if len(f.native) > 0 && r.References != f.references {
		return fmt.Errorf("a native score of %d references, but of %d for another system; they must be the same", r.References, f.references)
	}
	if s, ok := m.natives[r.References]; !ok {
		m.natives[r.References] = r.Signature
	} else if s != r.Signature {
		return fmt.Errorf("signature %s of native scores of %d references, but %s in rows before",
			text.Quote(r.Signature), r.References, text.Quote(s))
	}
	if m.nativeAt == 0 {
		m.nativeAt = c.at
	}
	f.references = r.References
	f.native = append(f.native, c)
	return nil
}

// system returns the index of a system in the segment.
func (g *group) system(name string) int {
	if len(g.systems) > 0 && g.systems[g.lastSystem] == name {
		return g.lastSystem
	}
	h, ok := g.index[name]
	if !ok {
		h = len(g.systems)
		g.index[name] = h
		g.systems = append(g.systems, name)
	}
	g.lastSystem = h
	return h
}

// metric returns the index of a row's metric.
func (g *group) metric(r *Row) (int, error) {
	if len(g.known) > 0 && g.known[g.lastMetric].name == r.Metric {
		return g.lastMetric, nil
	}
	k := slices.IndexFunc(g.known, func(m *metricState) bool { return m.name == r.Metric })
	if k < 0 {
		if g.fixed {
			return 0, errors.New("the segments before have no scores of this metric; all segments need the same metrics")
		}
		k = len(g.known)
		g.known = append(g.known, &metricState{name: r.Metric, direction: r.Direction, natives: map[int]string{}})
		g.found = append(g.found, found{})
	}
	g.lastMetric = k
	return k, nil
}

// learn takes what a row shows of a metric's need of references.
func (m *metricState) learn(n need) error {
	if m.needs == unknown {
		m.needs = n
	}
	if m.needs != n {
		return errors.New("cells with a reference in one place and scores without in another; a metric needs references or it does not")
	}
	return nil
}

// finish checks that the segment is whole.
func (g *group) finish() (*refract.SegmentScores, error) {
	s := &refract.SegmentScores{
		Segment: &refract.Segment{ID: g.id, Hypotheses: make([]refract.Hypothesis, len(g.systems))},
		Metrics: make([]refract.MetricScores, len(g.known)),
	}
	for h, name := range g.systems {
		s.Segment.Hypotheses[h].System = name
	}
	widest := -1 // the first metric with references
	for k, m := range g.known {
		ms, f := &s.Metrics[k], &g.found[k]
		if len(f.cells) == 0 {
			return nil, fmt.Errorf("no cell of %s; all segments need the same metrics", text.Brief(m.name))
		}
		if err := g.fill(ms, f.cells); err != nil {
			return nil, fmt.Errorf("%s: %w", text.Brief(m.name), err)
		}
		if f.cells[0].ref == NoReference {
			continue
		}
		if widest < 0 {
			widest = k
		} else if n := s.Metrics[widest].Columns; n != ms.Columns {
			return nil, fmt.Errorf("%d references for %s, but %d for %s", ms.Columns, text.Brief(m.name), n, text.Brief(g.known[widest].name))
		}
	}
	if widest >= 0 {
		s.Segment.References = make([]refract.Text, s.Metrics[widest].Columns)
	}
	present := g.placeTexts(s)
	for k, m := range g.known {
		f := &g.found[k]
		without := f.cells[0].ref == NoReference
		if without && widest >= 0 {
			if err := m.learn(no); err != nil {
				return nil, fmt.Errorf("%s: %w", text.Brief(m.name), err)
			}
		}
		references := present
		if without {
			references = 0
		}
		if err := g.fillNative(m, &s.Metrics[k], f, references); err != nil {
			return nil, fmt.Errorf("%s: %w", text.Brief(m.name), err)
		}
	}
	return s, nil
}

// fill makes the matrix of one metric.
func (g *group) fill(ms *refract.MetricScores, cells []cell) error {
	// The number of columns is looked at before memory is made for them.
	counts, last := make([]int, len(g.systems)), make([]int, len(g.systems))
	for _, c := range cells {
		counts[c.system]++
		last[c.system] = max(last[c.system], int(c.ref))
	}
	for h := range counts {
		if counts[h] != last[h]+1 {
			return g.explain(cells, h)
		}
	}
	for h, n := range counts {
		if n != counts[0] {
			return fmt.Errorf("%d references for system %s, but %d for system %s; all systems need the same",
				n, text.Quote(g.systems[h]), counts[0], text.Quote(g.systems[0]))
		}
	}
	ms.Columns = counts[0]
	ms.Values = make([]float64, len(cells))
	ms.Status = make([]metrics.Status, len(cells))
	filled := make([]bool, len(cells))
	for _, c := range cells {
		i := int(c.system)*ms.Columns + max(0, int(c.ref))
		if filled[i] {
			return g.explain(cells, int(c.system))
		}
		filled[i] = true
		ms.Values[i], ms.Status[i] = c.score, c.status
	}
	return nil
}

// explain finds the cell of a system that is there twice, or not at all.
func (g *group) explain(cells []cell, system int) error {
	of := slices.DeleteFunc(slices.Clone(cells), func(c cell) bool { return int(c.system) != system })
	slices.SortFunc(of, func(a, b cell) int { return cmp.Or(cmp.Compare(a.ref, b.ref), cmp.Compare(a.at, b.at)) })
	name := text.Quote(g.systems[system])
	if len(of) == 0 {
		return fmt.Errorf("no cell for system %s; every system of a segment needs one for each metric and reference", name)
	}
	for i := 1; i < len(of); i++ {
		if of[i].ref == of[i-1].ref {
			return fmt.Errorf("two cells for system %s%s, in rows %d and %d", name, reference(of[i].ref), of[i-1].at, of[i].at)
		}
	}
	for i, c := range of {
		if int(c.ref) != i {
			return fmt.Errorf("no cell for system %s%s; a gap would change aggregates, so write a row with a status for it", name, reference(int32(i)))
		}
	}
	return fmt.Errorf("the cells for system %s are incomplete", name)
}

func reference(ref int32) string {
	if ref == NoReference {
		return ""
	}
	return fmt.Sprintf(", reference %d", ref)
}

// placeTexts says which hypotheses and references are there, and returns how
// many of the references.
func (g *group) placeTexts(s *refract.SegmentScores) (present int) {
	missing := make([]bool, len(s.Segment.References))
	for k := range g.known {
		for _, c := range g.found[k].cells {
			if c.status != metrics.MissingHypothesis {
				s.Segment.Hypotheses[c.system].Text.Valid = true
			}
			if c.ref == NoReference {
				continue
			}
			switch c.status {
			case metrics.MissingReference:
				missing[c.ref] = true
			case metrics.Scored, metrics.Failed, metrics.Unparseable, metrics.Blocked, metrics.Cut, metrics.Unneeded:
				s.Segment.References[c.ref].Valid = true
			}
		}
		for _, c := range g.found[k].native {
			if c.status != metrics.MissingHypothesis {
				s.Segment.Hypotheses[c.system].Text.Valid = true
			}
		}
	}
	for i := range missing {
		t := &s.Segment.References[i]
		t.Valid = t.Valid || !missing[i]
		if t.Valid {
			present++
		}
	}
	return present
}

// fillNative takes the native rows of one metric.
func (g *group) fillNative(m *metricState, ms *refract.MetricScores, f *found, references int) error {
	if len(f.native) == 0 {
		if m.withoutNative == 0 && slices.Contains(ms.Status, metrics.Scored) {
			m.withoutNative = g.first
		}
	} else {
		if f.references != references {
			return fmt.Errorf("a native score of %d references, but %d are there", f.references, references)
		}
		ms.Native = make([]float64, len(g.systems))
		ms.NativeStatus = make([]metrics.Status, len(g.systems))
		at := make([]int64, len(g.systems))
		for _, c := range f.native {
			if at[c.system] != 0 {
				return fmt.Errorf("two native scores for system %s, in rows %d and %d", text.Quote(g.systems[c.system]), at[c.system], c.at)
			}
			at[c.system] = c.at
			ms.Native[c.system], ms.NativeStatus[c.system] = c.score, c.status
		}
		if h := slices.Index(at, 0); h >= 0 {
			return fmt.Errorf("no native score for system %s, but for others; write a row with a status for it", text.Quote(g.systems[h]))
		}
	}
	if m.nativeAt != 0 && m.withoutNative != 0 {
		return fmt.Errorf("native scores in rows from %d, but none in the segment from %d; all scored segments need them", m.nativeAt, m.withoutNative)
	}
	return nil
}
