package correlate

import "context"

// OfSums returns a function of sums over segments, such as a ratio of two, and that of each
// resample of the units. Each segment has as many numbers as there are sums.
func (b Bootstrap) OfSums(ctx context.Context, segments [][]float64, of func(sums []float64) float64) (float64, Resamples, error) {
	p := NewPairs(len(segments), 1)
	for i := range segments {
		p.GoldOK[i], p.MetricOK[i] = true, true
	}
	sums := &sumsRow{of: of}
	pool, resamples, err := b.ofRow(ctx, p, func(unit []int32, units int) row {
		sums.units = make([][]float64, units)
		for i, numbers := range segments {
			u := &sums.units[unit[i]]
			if *u == nil {
				*u = make([]float64, len(numbers))
			}
			for k, v := range numbers {
				(*u)[k] += v
			}
		}
		return sums
	})
	if err != nil {
		return 0, Resamples{}, err
	}
	once := make([]int32, len(sums.units))
	for _, u := range pool {
		once[u] = 1
	}
	return sums.weighted(once, new(scratch)), resamples, nil
}

// ofRow resamples the units of the cells of a table by a row that is made for them, and returns
// the units that it draws from.
func (b Bootstrap) ofRow(ctx context.Context, p *Pairs, newRow func(unit []int32, units int) row) (drawn []int32, r Resamples, err error) {
	unit, units, err := b.Units.ofCells(p)
	if err != nil {
		return nil, Resamples{}, err
	}
	rs := &resampler{units: units, rows: []row{newRow(unit, units)}}
	rs.pool, rs.effective = pool(p, unit, units)
	values, err := b.values(ctx, rs)
	return rs.pool, Resamples{Values: values, Units: rs.effective}, err
}

// sumsRow holds the sums of each unit.
type sumsRow struct {
	of    func(sums []float64) float64
	units [][]float64
}

func (r *sumsRow) weighted(weights []int32, _ *scratch) float64 {
	var sums []float64
	for u, numbers := range r.units {
		if sums == nil {
			sums = make([]float64, len(numbers))
		}
		for k, v := range numbers {
			sums[k] += float64(weights[u]) * v
		}
	}
	return r.of(sums)
}
