package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
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

// WithoutCanaries returns ds without the segments that are canaries, which only mark the
// texts around them, as the first line of WMT24's files does. A [Warning] counts them.
func WithoutCanaries(ds refract.Dataset, warn func(Warning)) refract.Dataset {
	return asSet(ds).perSegment(func() step {
		var found examples
		var at refract.Position
		return step{
			each: func(s *refract.Segment) (*refract.Segment, error) {
				if !isCanary(s) {
					return s, nil
				}
				found.addID(s.ID)
				at = refract.Position{File: s.Pos.File}
				return nil, nil
			},
			end: func() error {
				if found.n > 0 {
					warn(Warning{at, fmt.Sprintf("%s not scored (ids %s): canaries, which mark the texts and are no segments", english.Count(found.n, "line"), &found)})
				}
				return nil
			},
		}
	})
}

func isCanary(s *refract.Segment) bool {
	return text.IsCanary(s.Source.Value) || slices.ContainsFunc(s.References, func(t refract.Text) bool { return text.IsCanary(t.Value) })
}
