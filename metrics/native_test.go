package metrics_test

import (
	"testing"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
)

func TestHasNative(t *testing.T) {
	m, err := bleu.New(bleu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !metrics.HasNative(m) {
		t.Errorf("BLEU has no native rule for several references")
	}
}
