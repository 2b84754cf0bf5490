package significance

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The file has sacreBLEU's statistics of TER (edits and reference lengths), its interval,
// and the scores of its first resamples.
func TestCorpusIsSacreBLEUs(t *testing.T) {
	raw, err := os.ReadFile("testdata/sacrebleu_ter.json")
	require.NoError(t, err)
	var want struct {
		Stats    [][]float64
		Mean, CI float64
		First    []float64
	}
	require.NoError(t, json.Unmarshal(raw, &want))
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-4 }
	ter := func(sums []float64) float64 { return 100 * sums[0] / sums[1] }
	scores, err := newSample(&Systems{[][][]float64{want.Stats}, func(sums []float64, _ int) float64 { return ter(sums) }, true}, []int{0}, segmentsTo(len(want.Stats))).
		bootstrap(t.Context(), len(want.First), 12345)
	require.NoError(t, err)
	for r, score := range want.First {
		if !near(scores[0][r], score) {
			t.Errorf("resample %d: %v, want %v", r, scores[0][r], score)
		}
	}
	got, err := Corpus(t.Context(), want.Stats, ter, 0.95)
	require.NoError(t, err)
	assert.True(t, near(got.Mean, want.Mean) && near(got.Half, want.CI), "%+v, want %v ± %v", got, want.Mean, want.CI)
	if narrow, err := Corpus(t.Context(), want.Stats, ter, 0.5); err != nil || narrow.Mean != got.Mean || narrow.Half >= got.Half {
		t.Errorf("confidence 0.5: %+v, %v", narrow, err)
	}
}

func TestCorpusErrors(t *testing.T) {
	first := func(sums []float64) float64 { return sums[0] }
	_, err := Corpus(t.Context(), nil, first, 0.95)
	assert.Error(t, err, "no segment: no error")
	for _, c := range []float64{0, 1, 95, math.NaN()} {
		_, err := Corpus(t.Context(), [][]float64{{1}}, first, c)
		assert.Error(t, err, "confidence %v: no error", c)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Corpus(ctx, [][]float64{{1}}, first, 0.95)
	assert.ErrorIs(t, err, context.Canceled, "cancelled")
}

// segmentsTo returns the indices below n.
func segmentsTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
