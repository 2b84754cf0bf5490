package dataset

import (
	"context"

	"github.com/refract-eval/refract"
)

// A step is what one reading of a set does with its segments.
type step struct {
	// each returns a segment as it goes on, or nil to leave it out.
	each  func(s *refract.Segment) (*refract.Segment, error)
	end   func() error // called after the last segment; may be nil
	close func()       // called when the reading ends; may be nil
}

// through returns a reading whose segments go through a new step each time.
func (read reading) through(begin func(context.Context) (step, error)) reading {
	return func(ctx context.Context, each func(*refract.Segment) error) error {
		p, err := begin(ctx)
		if err != nil {
			return err
		}
		if p.close != nil {
			defer p.close()
		}
		err = read(ctx, func(s *refract.Segment) error {
			s, err := p.each(s)
			if err != nil {
				return err
			}
			if s == nil {
				return ctx.Err()
			}
			return each(s)
		})
		if err == nil && p.end != nil {
			err = p.end()
		}
		return err
	}
}

// through returns the set with its segments going through a step, which needs them all.
func (d *set) through(begin func(context.Context) (step, error)) *set {
	out := *d
	out.lines, out.ranges, out.firsts, out.read = nil, nil, d.first(), d.read.through(begin)
	return &out
}

// perSegment is through for a step that needs no other segment.
func (d *set) perSegment(begin func() step) *set {
	start := func(context.Context) (step, error) { return begin(), nil }
	out := d.through(start)
	if out.lines = d.lines; d.ranges != nil {
		r := *d.ranges
		r.part = func(of Extent, skimmed bool) *set { return d.ranges.part(of, skimmed).perSegment(begin) }
		out.ranges = &r
	}
	return out
}

// joinRows joins the rows of a table to the segments with their ids; without ids, row k
// belongs to segment k, and segments after the last row are left out. begin starts a
// reading: add gets the row of each segment, or nil; end gets the number of segments, and
// the rows of none, in order.
func joinRows[T any](base *set, ids []string, rows []T, begin func() (add func(s *refract.Segment, row *T) error, end func(segments int, left []T) error)) *set {
	index := make(map[string]int, len(ids))
	for i, id := range ids {
		index[id] = i
	}
	return base.through(func(context.Context) (step, error) {
		add, end := begin()
		used, n := make([]bool, len(rows)), 0
		return step{
			each: func(s *refract.Segment) (*refract.Segment, error) {
				i, ok := n, n < len(rows)
				if ids != nil {
					i, ok = index[s.ID]
				}
				n++
				if !ok && ids == nil {
					return nil, nil
				}
				if !ok {
					return s, add(s, nil)
				}
				used[i] = true
				return s, add(s, &rows[i])
			},
			end: func() error {
				var left []T
				for i := range rows {
					if !used[i] {
						left = append(left, rows[i])
					}
				}
				return end(n, left)
			},
		}, nil
	})
}
