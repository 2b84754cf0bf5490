package significance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/refract-eval/refract/internal/numeric"
)

// sacreBLEU's number of resamples and its seed.
const (
	corpusResamples = 1000
	corpusSeed      = 12345
)

// CorpusInterval is a bootstrap interval of a corpus score: the mean over the resamples,
// plus or minus half the width of the interval.
type CorpusInterval struct{ Mean, Half float64 }

// Corpus returns the interval of a corpus score like sacreBLEU 2.6 with --confidence: 1,000
// resamples of the segments, with sacreBLEU's draws. statistics[segment] are the numbers
// from which the score is computed, equally many for each segment; score computes it from
// their sums, in any number of goroutines. The confidence, in (0, 1), is 0.95 in sacreBLEU.
//
// sacreBLEU sums and scores in single precision, so the values agree to about six digits.
func Corpus(ctx context.Context, statistics [][]float64, score func(sums []float64) float64, confidence float64) (CorpusInterval, error) {
	if len(statistics) == 0 {
		return CorpusInterval{}, errors.New("interval of a corpus score: there is no segment")
	}
	if !(confidence > 0 && confidence < 1) {
		return CorpusInterval{}, fmt.Errorf("interval of a corpus score: confidence %v is not between 0 and 1, such as 0.95", confidence)
	}
	systems := &Systems{[][][]float64{statistics}, func(sums []float64, _ int) float64 { return score(sums) }, false}
	all := newCoverage(systems.Statistics)
	scores, err := newSample(systems, []int{0}, segmentsOf(all.union)).bootstrap(ctx, corpusResamples, corpusSeed)
	if err != nil {
		return CorpusInterval{}, err
	}
	return interval(scores[0], confidence), nil
}

// interval returns the interval from the scores of resamples.
func interval(scores []float64, confidence float64) CorpusInterval {
	scores = slices.Sorted(slices.Values(scores))
	cut := tail(len(scores), confidence)
	return CorpusInterval{numeric.Mean(scores), (scores[len(scores)-1-cut] - scores[cut]) / 2}
}

// tail is the number of n sorted resamples below an interval, and also above it.
func tail(n int, confidence float64) int {
	const rounding = 1e-9
	return int(float64(n)*(1-confidence)/2 + rounding) // n/40 for 0.95
}
