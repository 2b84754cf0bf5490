package correlate

import "context"

// OfSums returns a function of sums over segments, such as a ratio of two, and that of each
// resample of the units. Each segment has as many numbers as there are sums.
func (b Bootstrap) OfSums(ctx context.Context, segments [][]float64, of func(sums []float64) float64) (float64, Resamples, error) {
	p := NewPairs(len(segments), 1)
	for i := range segments {
		p.GoldOK[i], p.MetricOK[i] = true, true
	}
	unit, n, err := b.Units.ofCells(p)
	if err != nil {
		return 0, Resamples{}, err
	}
	sums := &sumsRow{of: of, units: make([][]float64, n)}
	for i, numbers := range segments {
		u := &sums.units[unit[i]]
		if *u == nil {
			*u = make([]float64, len(numbers))
		}
		for k, v := range numbers {
			(*u)[k] += v
		}
	}
	rs := &resampler{units: n, rows: []row{sums}}
	rs.pool, rs.effective = pool(p, unit, n)
	values, err := b.values(ctx, rs)
	once := make([]int32, n)
	for _, u := range rs.pool {
		once[u] = 1
	}
	return sums.weighted(once, new(scratch)), Resamples{Values: values, Units: rs.effective}, err
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
