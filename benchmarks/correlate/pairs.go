package correlate

import (
	"fmt"
	"math"
)

// Pairs is a table segments × systems of gold (human) and metric scores. All slices have
// Segments·Systems elements, row-major: the systems of the first segment, then those of the
// second. Higher is better in both.
//
// A score is used only if its mask is true; a nil mask means that every score is present.
// Scores that are present must be finite.
type Pairs struct {
	Segments, Systems int
	Gold, Metric      []float64
	GoldOK, MetricOK  []bool

	level *meansOf // nil unless made by Means
	known *known   // nil unless made by NewPairs; copies of a table share it
}

// NewPairs returns a table in which every score is missing.
func NewPairs(segments, systems int) *Pairs {
	n := segments * systems
	return &Pairs{
		Segments: segments, Systems: systems,
		Gold: make([]float64, n), Metric: make([]float64, n),
		GoldOK: make([]bool, n), MetricOK: make([]bool, n),
		known: &known{held: map[any]any{}},
	}
}

// Index returns the index of a cell in the slices.
func (p *Pairs) Index(segment, system int) int { return segment*p.Systems + system }

func present(mask []bool, i int) bool { return mask == nil || mask[i] }

// paired reports whether cell i has both scores.
func (p *Pairs) paired(i int) bool { return present(p.GoldOK, i) && present(p.MetricOK, i) }

// check returns an error if the table contradicts itself or has a score that is not finite.
func (p *Pairs) check() error {
	if p.Segments < 0 || p.Systems < 0 {
		return fmt.Errorf("a table of %d segments and %d systems", p.Segments, p.Systems)
	}
	n := p.Segments * p.Systems
	for _, column := range []struct {
		name   string
		scores []float64
		mask   []bool
	}{{"gold", p.Gold, p.GoldOK}, {"metric", p.Metric, p.MetricOK}} {
		if len(column.scores) != n {
			return fmt.Errorf("%d %s scores for %d segments × %d systems: want %d",
				len(column.scores), column.name, p.Segments, p.Systems, n)
		}
		if column.mask != nil && len(column.mask) != n {
			return fmt.Errorf("the mask of the %s scores has %d elements for %d segments × %d systems: want %d",
				column.name, len(column.mask), p.Segments, p.Systems, n)
		}
		for i, v := range column.scores {
			if present(column.mask, i) && (math.IsNaN(v) || math.IsInf(v, 0)) {
				return fmt.Errorf("segment %d, system %d (from 0): the %s score is %v: mark it as missing",
					i/p.Systems, i%p.Systems, column.name, v)
			}
		}
	}
	return nil
}

// Row is one vector of gold and one of metric scores, aligned.
type Row struct {
	Gold, Metric []float64
	// unit is the unit with which each element is drawn in a resample; without units, its
	// position in the table.
	unit []int32
}

// rows returns the vectors that a grouping makes of the table, with the cells that have
// both scores. Vectors may be empty.
func (p *Pairs) rows(g Grouping) []Row {
	end := p.Segments * p.Systems
	all := Row{make([]float64, 0, end), make([]float64, 0, end), make([]int32, 0, end)} // of all rows
	var rows []Row
	row := func(start, end, step int) {
		first := len(all.unit)
		for i := start; i < end; i += step {
			if p.paired(i) {
				all.Gold = append(all.Gold, p.Gold[i])
				all.Metric = append(all.Metric, p.Metric[i])
				all.unit = append(all.unit, int32(i))
			}
		}
		n := len(all.unit)
		rows = append(rows, Row{all.Gold[first:n:n], all.Metric[first:n:n], all.unit[first:n:n]})
	}
	switch g {
	case BySegment:
		rows = make([]Row, 0, p.Segments)
		for seg := range p.Segments {
			row(p.Index(seg, 0), p.Index(seg+1, 0), 1)
		}
	case BySystem:
		for start := range p.Systems {
			row(start, end, p.Systems)
		}
	default:
		row(0, end, 1)
	}
	return rows
}
