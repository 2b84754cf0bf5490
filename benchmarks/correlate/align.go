package correlate

import (
	"errors"
	"fmt"
)

// Align returns copies of two tables with the same gold scores, restricted to the cells
// that have the gold score and both metric scores, and the number of these cells. A paired
// test of two metrics uses these tables. Tables of means are recomputed from these cells of
// the segments.
func Align(a, b *Pairs) (x, y *Pairs, cells int, err error) {
	if (a.level == nil) != (b.level == nil) || a.Segments != b.Segments || a.Systems != b.Systems {
		return nil, nil, 0, fmt.Errorf("tables of %d × %d and %d × %d scores cannot be compared", a.Segments, a.Systems, b.Segments, b.Systems)
	}
	if a.level != nil {
		x, y, cells, err = Align(a.level.base, b.level.base)
		if err != nil {
			return nil, nil, 0, err
		}
		if x, err = a.Remade(x); err == nil {
			y, err = b.Remade(y)
		}
		return x, y, cells, err
	}
	for _, p := range []*Pairs{a, b} {
		if err := p.check(); err != nil {
			return nil, nil, 0, err
		}
	}
	x, y = NewPairs(a.Segments, a.Systems), NewPairs(a.Segments, a.Systems)
	for i := range a.Gold {
		if !a.paired(i) || !b.paired(i) {
			continue
		}
		if a.Gold[i] != b.Gold[i] {
			return nil, nil, 0, fmt.Errorf("segment %d, system %d (from 0): the gold scores of the two tables differ", i/a.Systems, i%a.Systems)
		}
		for _, t := range []struct{ to, from *Pairs }{{x, a}, {y, b}} {
			t.to.Gold[i], t.to.GoldOK[i] = a.Gold[i], true
			t.to.Metric[i], t.to.MetricOK[i] = t.from.Metric[i], true
		}
		cells++
	}
	if cells == 0 {
		return nil, nil, 0, errors.New("no cell has a gold score and both metric scores")
	}
	return x, y, cells, nil
}
