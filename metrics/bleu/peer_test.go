package bleu

import (
	"testing"

	"github.com/refract-eval/refract/metrics/metricstest"
)

func TestSacreBLEU(t *testing.T) { metricstest.Vectors(t, Factory()) }
