package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// referenceRows are expanded references in JSON Lines.
type referenceRows struct {
	in *input
	o  Options
}

func openReferenceRows(_ refract.Dataset, place string, o Options, _ []string) (variantSource, error) {
	if place == "-" {
		return nil, errors.New("references cannot come from standard input; store them in a file")
	}
	in, err := newInput(place)
	if err != nil {
		return nil, err
	}
	o.NoJudgements = true
	return &referenceRows{in: in, o: o}, nil
}

// check leaves the count to the reading, where an id says more.
func (d *referenceRows) check(int) error { return nil }

func (d *referenceRows) open(ctx context.Context) (variantReader, error) {
	rows, err := newRowReader(ctx, d.in, d.o)
	if err != nil {
		return nil, err
	}
	return &rowVariants{rows: rows, warn: d.o.Warn}, nil
}

type rowVariants struct {
	rows *rowReader
	warn func(Warning)

	differ int // rows whose references are not the segment's
	ids    []string
}

func (r *rowVariants) close() { r.rows.close() }

func (r *rowVariants) extend(ctx context.Context, s *refract.Segment) error {
	got, err := r.rows.next(ctx)
	if err != nil {
		return err
	}
	g := got.segment
	if g.ID != s.ID {
		return failAt(g.Pos, 0, "want the row of segment %s (%s), found that of %s; the rows must be in the dataset's order, one per segment",
			text.Quote(s.ID), s.Pos, text.Quote(g.ID))
	}
	if got.hasVariants {
		if err := checkVariants(g, len(s.References)); err != nil {
			return &Error{Pos: g.Pos, Err: err}
		}
		if got.hasReferences && !sameParents(g, s) {
			r.differ++
			if len(r.ids) < shownIDs {
				r.ids = append(r.ids, g.ID)
			}
		}
		s.Variants = append(s.Variants, g.Variants...)
		s.Rejected = append(s.Rejected, g.Rejected...)
		return nil
	}
	if len(s.References) == 0 && len(s.Variants) == 0 {
		s.References = g.References
		return nil
	}
	s.Variants = slices.Grow(s.Variants, len(g.References))
	for _, t := range g.References {
		s.Variants = append(s.Variants, refract.Variant{Text: t})
	}
	return nil
}

// sameParents tells whether the variants of g were made from the references
// of s.
func sameParents(g, s *refract.Segment) bool {
	for _, variants := range [...][]refract.Variant{g.Variants, g.Rejected} {
		for i := range variants {
			r := variants[i].Reference
			if r >= len(g.References) || g.References[r] != s.References[r] {
				return false
			}
		}
	}
	return true
}

func (r *rowVariants) finish(n int, short *refract.Segment) error {
	lines := r.rows.lines
	if short != nil {
		return tooShort(lines.file, r.rows.rows, n, short)
	}
	switch extra, err := r.rows.next(context.Background()); {
	case err == nil:
		return failAt(extra.segment.Pos, 0, "row of %s has no segment: the dataset has only %s", text.Quote(extra.segment.ID), english.Count(n, "segment"))
	case err != io.EOF:
		return err
	}
	if r.differ > 0 {
		r.warn(Warning{refract.Position{File: lines.file}, fmt.Sprintf(
			"the variants of %s were made from other references than the dataset's (ids %s)",
			english.Count(r.differ, "row"), someIDs(r.ids, r.differ))})
	}
	return nil
}
