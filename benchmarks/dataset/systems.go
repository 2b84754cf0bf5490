package dataset

import (
	"context"
	"errors"
	"iter"

	"github.com/refract-eval/refract"
)

// ErrNoSystems says that a dataset has nothing to score.
var ErrNoSystems = errors.New("the dataset has no system to score")

// WithSystems returns a dataset that must have something to score: its segments
// end in ErrNoSystems if none had a hypothesis.
func WithSystems(ds refract.Dataset) refract.Dataset { return withSystems{ds} }

type withSystems struct{ refract.Dataset }

func (d withSystems) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		some := false
		for s, err := range d.Dataset.Segments(ctx) {
			some = some || err != nil || len(s.Hypotheses) > 0
			if !yield(s, err) {
				return
			}
		}
		if !some {
			yield(nil, ErrNoSystems)
		}
	}
}
