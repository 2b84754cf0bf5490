package significance

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// counter counts, of resamples with a generator of random numbers each, those
// with a difference that is as large as the one seen. It is for one goroutine.
type counter func(random []rand.PCG) int

// oneByOne counts the resamples of which a function says that.
func oneByOne(large func(random *rand.PCG) bool) counter {
	return func(random []rand.PCG) int {
		n := 0
		for i := range random {
			if large(&random[i]) {
				n++
			}
		}
		return n
	}
}

// share is the p-value of a number of resamples among those drawn. What was seen
// counts as one more of them, so that it is never 0 (Phipson and Smyth, 2010,
// "Permutation P-values Should Never Be Zero").
func share(large, drawn int) float64 { return float64(large+1) / float64(drawn+1) }

// resample returns how often the difference was as large as the one seen, and
// the number of resamples drawn: all of them, or whole blocks up to the first
// after which the share is surely small or large. Counters take so many resamples
// together.
func resample(ctx context.Context, o Options, together int, newCounter func() counter) (large, drawn int, err error) {
	block := o.Block
	if block == 0 {
		block = o.Resamples
	}
	counters := make([]counter, min(runtime.GOMAXPROCS(0), block))
	for i := range counters {
		counters[i] = newCounter()
	}
	for drawn < o.Resamples {
		size := min(block, o.Resamples-drawn)
		n, err := resampleBlock(ctx, o.Seed, drawn, size, together, counters)
		if err != nil {
			return 0, 0, err
		}
		large += n
		drawn += size
		if p := float64(large) / float64(drawn); size == o.Block && (p < surelySmall || p > surelyLarge) {
			break
		}
	}
	return large, drawn, nil
}

func resampleBlock(ctx context.Context, seed uint64, first, size, together int, counters []counter) (int, error) {
	var next, large atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for _, count := range counters {
		group.Go(func() error {
			random := make([]rand.PCG, together)
			for {
				to := int(next.Add(int64(together)))
				from := to - together
				if from >= size {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				n := min(together, size-from)
				for i := range n {
					random[i].Seed(seed, mix(uint64(first+from+i)))
				}
				large.Add(int64(count(random[:n])))
			}
		})
	}
	err := group.Wait()
	return int(large.Load()), err
}

// mix spreads the bits of a resample's number (the last step of SplitMix64),
// because generators whose states are close begin alike.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
