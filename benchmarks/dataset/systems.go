package dataset

import (
	"context"
	"errors"

	"github.com/refract-eval/refract"
)

// ErrNoSystems says that a dataset has nothing to score.
var ErrNoSystems = errors.New("the dataset has no system to score")

// WithSystems returns a dataset that must have something to score: it ends with
// ErrNoSystems if no segment had a hypothesis.
func WithSystems(ds refract.Dataset) refract.Dataset {
	return asSet(ds).through(func(context.Context) (step, error) {
		some := false
		return step{
			each: func(s *refract.Segment) (*refract.Segment, error) {
				some = some || len(s.Hypotheses) > 0
				return s, nil
			},
			end: func() error {
				if !some {
					return ErrNoSystems
				}
				return nil
			},
		}, nil
	})
}
