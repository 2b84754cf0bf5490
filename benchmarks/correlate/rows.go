package correlate

// addRows adds rows to sums, each as often as its weight says. All numbers are whole, or multiples
// of a unit, so that no sum is rounded. A row may be shorter than those after it, and than the
// sums: what follows it in its array is 0.
func addRows[T float64 | uint64](sums []T, rows [][]T, weights []int32, s *scratch) {
	s.drawn = zeros(s.drawn, len(weights)+3)
	n := 0
	for i, w := range weights { // without a branch, which could not be predicted
		s.drawn[n] = int32(i)
		drawn := 0
		if w > 0 {
			drawn = 1
		}
		n += drawn
	}
	weight := func(at int) T {
		if at >= n { // the last ones are added 0 times
			s.drawn[at] = s.drawn[n-1]
			return 0
		}
		return T(weights[s.drawn[at]])
	}
	for at := 0; at < n; at += 4 { // four rows at once take fewer loads and stores
		u, v, w, x := weight(at), weight(at+1), weight(at+2), weight(at+3)
		k := s.drawn[at:][:4]
		to := sums[:len(rows[k[3]])]
		a, b, c, d := rows[k[0]][:len(to)], rows[k[1]][:len(to)], rows[k[2]][:len(to)], rows[k[3]]
		for i := range to {
			to[i] += (u*a[i] + v*b[i]) + (w*c[i] + x*d[i])
		}
	}
}
