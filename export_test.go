package refract

// ExactSum adds numbers up.
func ExactSum(values []float64) float64 {
	var s exactSum
	for _, v := range values {
		s.add(v)
	}
	return s.value()
}
