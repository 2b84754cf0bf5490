package significance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/refract-eval/refract/benchmarks/internal/numpy"
	"github.com/refract-eval/refract/internal/exact"
)

// sacreBLEU's number of resamples and its seed.
const (
	corpusResamples = 1000
	corpusSeed      = 12345
)

// CorpusInterval is a bootstrap interval of a corpus score: the mean over the
// resamples, give or take half the width of the interval.
type CorpusInterval struct{ Mean, Half float64 }

// Corpus returns the interval of a corpus score as sacreBLEU 2.6 does under
// --confidence: 1,000 resamples of the segments, with sacreBLEU's own draws.
// statistics[segment] are the numbers that the score is computed from, as many
// for each segment, and score computes it from their sums. The confidence, in
// (0, 1), is 0.95 in sacreBLEU.
//
// sacreBLEU adds up and scores in single precision, so that the values agree to
// about six digits.
func Corpus(ctx context.Context, statistics [][]float64, score func(sums []float64) float64, confidence float64) (CorpusInterval, error) {
	if len(statistics) == 0 {
		return CorpusInterval{}, errors.New("interval of a corpus score: there is no segment")
	}
	if !(confidence > 0 && confidence < 1) {
		return CorpusInterval{}, fmt.Errorf("interval of a corpus score: confidence %v is not between 0 and 1, such as 0.95", confidence)
	}
	random := numpy.NewGenerator(corpusSeed)
	scores := make([]float64, corpusResamples)
	sums := make([]float64, len(statistics[0]))
	for r := range scores {
		if err := ctx.Err(); err != nil {
			return CorpusInterval{}, err
		}
		clear(sums)
		for range statistics {
			for i, v := range statistics[random.Below(uint32(len(statistics)))] {
				sums[i] += v
			}
		}
		scores[r] = score(sums)
	}
	slices.Sort(scores)
	const rounding = 1e-9
	tail := int(float64(len(scores))*(1-confidence)/2 + rounding) // n/40 for 0.95
	return CorpusInterval{exact.Mean(scores), (scores[len(scores)-1-tail] - scores[tail]) / 2}, nil
}
