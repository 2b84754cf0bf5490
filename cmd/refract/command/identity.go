package command

import (
	"context"
	"errors"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
)

// identify names the set of references of a dataset by a pass over it. It is
// for rows that are written before the last segment is read; of a dataset that
// can be read only once there is no name.
func identify(ctx context.Context, ds refract.Dataset) (string, error) {
	if !dataset.Rereadable(ds) {
		return "", nil
	}
	id := refract.NewIdentity()
	for s, err := range ds.Segments(ctx) {
		if err != nil {
			return "", err
		}
		id.Add(s)
	}
	return id.Name(), ctx.Err()
}

// scoreSet runs the engine, and checks that the references are those that
// identify saw.
func (s *scorer) scoreSet(ctx context.Context, e *env, eng *refract.Engine, ds refract.Dataset, write func(*refract.SegmentScores) error) error {
	id := refract.NewIdentity()
	err := s.runEngine(ctx, e, eng, ds, func(seg *refract.SegmentScores) error {
		id.Add(seg.Segment)
		return write(seg)
	})
	if err == nil && s.set != "" && s.set != id.Name() {
		err = errors.New("the references have changed while they were read; score again")
	}
	return err
}
