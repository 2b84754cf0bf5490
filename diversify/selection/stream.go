package selection

import (
	"context"
	"fmt"

	"github.com/refract-eval/refract"
)

// Counts counts what a selection did to a dataset.
type Counts struct {
	Segments, Variants, Kept int
	Short                    int // segments with fewer variants than should be kept
}

// streamBatch is the number of segments compared at a time. It gives enough texts to
// fill a model's calls.
const streamBatch = 64

// Stream keeps k variants of every segment of a dataset, and yields the segments
// in order.
func (s *Selector) Stream(ctx context.Context, ds refract.Dataset, k int, yield func(*refract.Segment) error) (Counts, error) {
	var sum Counts
	batch := make([]*refract.Segment, 0, streamBatch)
	flush := func() error {
		for _, seg := range batch {
			sum.Segments++
			sum.Variants += len(seg.Variants)
		}
		if err := s.Select(ctx, batch, k); err != nil {
			return fmt.Errorf("segments %q to %q: %w", batch[0].ID, batch[len(batch)-1].ID, err)
		}
		for _, seg := range batch {
			sum.Kept += len(seg.Variants)
			if len(seg.Variants) < k {
				sum.Short++
			}
			if err := yield(seg); err != nil {
				return err
			}
		}
		batch = batch[:0]
		return nil
	}
	for seg, err := range ds.Segments(ctx) {
		if err != nil {
			return sum, err
		}
		if batch = append(batch, seg); len(batch) == streamBatch {
			if err := flush(); err != nil {
				return sum, err
			}
		}
	}
	// A dataset may end without an error when the context ends.
	if err := ctx.Err(); err != nil || len(batch) == 0 {
		return sum, err
	}
	return sum, flush()
}
