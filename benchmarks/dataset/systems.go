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
	base := asSet(ds)
	d := *base
	d.lines = nil
	d.read = func(ctx context.Context, each func(*refract.Segment) error) error {
		some := false
		err := base.read(ctx, func(s *refract.Segment) error {
			some = some || len(s.Hypotheses) > 0
			return each(s)
		})
		if err == nil && !some {
			err = ErrNoSystems
		}
		return err
	}
	return &d
}
