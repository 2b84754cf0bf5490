package ter

import (
	"testing"

	"github.com/refract-eval/refract/metrics/metricstest"
)

// Of two makers of vectors, benchmarks/peers/ter_vectors.py has the texts
// that are hard for this metric.
func TestSacreBLEU(t *testing.T) { metricstest.Vectors(t, Factory()) }
