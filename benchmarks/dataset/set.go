package dataset

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
)

// set is a dataset of any format: how to read its segments, and what is known beforehand.
type set struct {
	read reading
	n    int // number of segments; 0 if unknown
	// firsts has the same first references and is faster to read; nil means the set itself.
	firsts  *set
	lines   *input  // for JSON Lines: the file
	ranges  *ranges // nil if a part is read with the rest
	stream  *input  // that can be read once; nil if there is none
	foreign bool    // it is based on a dataset of another package
}

// first returns the dataset to read for the first references.
func (d *set) first() *set { return cmp.Or(d.firsts, d) }

// asSet returns any dataset as a set.
func asSet(ds refract.Dataset) *set {
	if d, ok := ds.(*set); ok {
		return d
	}
	return &set{foreign: true, read: func(ctx context.Context, each func(*refract.Segment) error) error {
		return push(ds.Segments(ctx), each)
	}}
}

// push calls each with every segment of a sequence, until an error.
func push(segments iter.Seq2[*refract.Segment, error], each func(*refract.Segment) error) error {
	for s, err := range segments {
		if err == nil {
			err = each(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reading calls each with every segment, in order. It ends with the first error of each.
type reading func(ctx context.Context, each func(*refract.Segment) error) error

// errStopped ends a reading when no more segments are wanted.
var errStopped = errors.New("no further segment is wanted")

// Segments yields the segments in their order.
func (d *set) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		err := d.read(ctx, func(s *refract.Segment) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !yield(s, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// derived is a dataset of another package that is made from another dataset, segment by
// segment.
type derived interface{ Origin() refract.Dataset }

// Rereadable reports whether a dataset can be read more than once: none of its inputs is
// standard input or a pipe. It is false for a dataset of another package, unless its Origin
// method returns the dataset it is made from.
func Rereadable(ds refract.Dataset) bool {
	if d, ok := ds.(derived); ok {
		return Rereadable(d.Origin())
	}
	d, ok := ds.(*set)
	return ok && d.stream == nil && !d.foreign
}

// Len returns the number of segments of a dataset, and whether it is known before reading
// them.
func Len(ds refract.Dataset) (n int, ok bool) {
	if d, ok := ds.(derived); ok {
		return Len(d.Origin())
	}
	d := asSet(ds)
	if d.lines != nil {
		n, err := d.lines.countLines()
		return n, err == nil
	}
	return d.n, d.n > 0
}

// Identify names the references of a dataset by a pass over it, for output that precedes
// the last segment. It is nil for a dataset that can be read only once.
func Identify(ctx context.Context, ds refract.Dataset) (*refract.Identity, error) {
	if !Rereadable(ds) {
		return nil, nil
	}
	return identify(ctx, asSet(ds).read)
}

// IdentifyParts is Identify for a dataset whose parts are read, and verified, by others.
func IdentifyParts(ctx context.Context, ds refract.Dataset) (*refract.Identity, error) {
	d := asSet(ds)
	if d.ranges == nil {
		return Identify(ctx, ds)
	}
	return identify(ctx, d.ranges.part(Extent{}, true).read)
}

func identify(ctx context.Context, read reading) (*refract.Identity, error) {
	id := refract.NewIdentity()
	err := read(ctx, func(s *refract.Segment) error {
		id.Add(s)
		return ctx.Err()
	})
	return id, cmp.Or(err, ctx.Err())
}

// ErrEmpty says that a dataset has no segments.
var ErrEmpty = errors.New("the dataset is empty: no segment at all")

// rowUnit is what a segment of a table is.
const rowUnit = "row"

// checked adds the checks of all formats to a reading: there is a segment, ids are unique,
// only the requested judgements are kept, and there is a warning about each system that
// lacks segments. unit is what a segment's number counts in the file; "" if ids cannot
// repeat.
func checked(name, unit string, o Options, read reading) reading {
	return func(ctx context.Context, each func(*refract.Segment) error) error {
		c := coverage{sourceless: o.Sourceless}
		var raters agreement
		ids := text.NewSeen()
		err := read(ctx, func(s *refract.Segment) error {
			if unit != "" {
				if first, again := ids.Add(s.ID, int64(s.Pos.Line)); again {
					advice := ""
					if unit == rowUnit {
						advice = "; rows of the same segment are joined by group=COLUMN instead of id=COLUMN"
					}
					return failAt(s.Pos, 0, "id %s is already used by %s %d; ids must be unique%s", text.Quote(s.ID), unit, refract.Position{Line: int(first), After: s.Pos.After}.InFile(), advice)
				}
			}
			s.Judgements = o.judgementsOf(s.Judgements)
			raters.keepSeveral(s.Judgements)
			c.add(s)
			return each(s)
		})
		if err == nil && c.all.n == 0 {
			return failFile(name, "%w", ErrEmpty)
		}
		if err == nil {
			c.report(name, unit, o.Warn)
			raters.report(name, o.Warn)
		}
		return err
	}
}

// judgementsOf keeps the requested judgements.
func (o *Options) judgementsOf(all []refract.Judgement) []refract.Judgement {
	if o.NoJudgements {
		return nil
	}
	if o.JudgementNames == nil {
		return all
	}
	return slices.DeleteFunc(all, func(j refract.Judgement) bool { return !slices.Contains(o.JudgementNames, j.Name) })
}

// checkNames checks that the requested judgements exist.
func (o *Options) checkNames(file string, known []string) error {
	for _, name := range o.JudgementNames {
		if !o.NoJudgements && !slices.Contains(known, name) {
			return failFile(file, "has no human scores %s%s; it has %s", text.Quote(name), didYouMean(name, known), quotedNames(known))
		}
	}
	return nil
}

// openHeld returns a dataset that is read as a whole for each pass, because its file is not
// ordered by segment or several files have to be joined. Such sets are small. load reads
// all segments, with all their judgements; it is also called here, so that errors come
// before any scoring.
func openHeld(name string, o Options, load func(warn func(Warning)) ([]*refract.Segment, error)) (*set, error) {
	segments, err := load(o.Warn)
	if err != nil {
		return nil, err
	}
	var humans []string // sorted
	for _, s := range segments {
		for _, j := range s.Judgements {
			if i, ok := slices.BinarySearch(humans, j.Name); !ok {
				humans = slices.Insert(humans, i, j.Name)
			}
		}
	}
	if len(segments) == 0 {
		return nil, failFile(name, "%w", ErrEmpty)
	}
	return &set{n: len(segments), read: checked(name, "", o, func(_ context.Context, each func(*refract.Segment) error) error {
		segments, err := load(o.Warn)
		for _, s := range segments {
			if err == nil {
				err = each(s)
			}
		}
		return err
	})}, o.checkNames(name, humans)
}
