package correlate

// addRows adds rows to sums, each as often as its weight says. All numbers are whole, or multiples
// of a unit, so that no sum is rounded. A row may be shorter than those after it: what follows it in
// its array is 0. Sums may be fewer than the numbers of a row.
func addRows(sums []float64, rows [][]float64, weights []int32, s *scratch) {
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
	weight := func(at int) float64 {
		if at >= n { // the last ones are added 0 times
			s.drawn[at] = s.drawn[n-1]
			return 0
		}
		return float64(weights[s.drawn[at]])
	}
	for at := 0; at < n; at += 4 { // four rows at once take fewer loads and stores
		u, v, w, x := weight(at), weight(at+1), weight(at+2), weight(at+3)
		k := s.drawn[at:][:4]
		d := rows[k[3]]
		d = d[:min(len(d), len(sums))]
		to := sums[:len(d)]
		a, b, c := rows[k[0]][:len(d)], rows[k[1]][:len(d)], rows[k[2]][:len(d)]
		for i, y := range d {
			to[i] += float64(float64(u*a[i])+float64(v*b[i])) + float64(float64(w*c[i])+float64(x*y))
		}
	}
}
