package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// sideFile is a file whose line k belongs to segment k of a dataset.
type sideFile struct {
	in   *input
	warn func(Warning)
	// begin starts a pass over the dataset. add adds a line to its segment; end, which may be
	// nil, is called after the last one.
	begin func(ctx context.Context) (add func(line []byte, s *refract.Segment, pos refract.Position) error, end func(), err error)
	// references says that a segment without references may get some.
	references bool
}

// extend returns the dataset with the lines added. If the numbers of lines and segments are
// known beforehand, it compares them.
func (b *sideFile) extend(base *set) (*set, error) {
	if !b.in.json && !b.in.stream && base.n > 0 {
		lines, err := b.in.countLines()
		if err == nil && lines != base.n {
			err = b.unequal(lines, base.n, nil)
		}
		if err != nil {
			return nil, err
		}
	}
	d := base.through(b.step)
	if b.references {
		d.firsts = nil
	}
	if b.in.stream {
		d.stream = b.in
	}
	return d, nil
}

// step reads the lines along with the segments.
func (b *sideFile) step(ctx context.Context) (step, error) {
	add, end, err := b.begin(ctx)
	if err != nil {
		return step{}, err
	}
	l, err := b.in.lines(ctx, b.warn)
	if err != nil {
		return step{}, err
	}
	n := 0
	var short *refract.Segment // the first segment without a line
	return step{
		close: l.close,
		each: func(s *refract.Segment) (*refract.Segment, error) {
			if n++; short != nil {
				return nil, nil // only to count the segments
			}
			line, err := l.next()
			if err == io.EOF {
				short = s
				return nil, nil
			}
			if err == nil {
				err = add(line, s, l.pos())
			}
			return s, err
		},
		end: func() error {
			if err := l.drain(); err != nil {
				return err
			}
			if l.line != n {
				return b.unequal(l.line, n, short)
			}
			if end != nil {
				end()
			}
			return nil
		},
	}, nil
}

func (b *sideFile) unequal(lines, n int, short *refract.Segment) error {
	why := "line k must belong to segment k"
	if short != nil {
		why = fmt.Sprintf("the first without one is %s (%s)", text.Quote(short.ID), short.Pos)
	}
	return failFile(b.in.name, "has %s, but the dataset has %s; %s", english.Count(lines, "line"), english.Count(n, "segment"), why)
}

// WithReferences returns ds with expanded references: variants that follow those of the
// segments. spec is
//
//   - "div-ref:FILE": each line is a Python list literal of strings, the variants of the
//     segment's first reference. Variant i has the prompt "column<i+1>", because the
//     released files do not name the prompts of their columns, and do not have the order of
//     the Div-Ref paper. None is a missing text. Segments with the same first reference all
//     get the variants of the last of them: variants belong to the text that they rewrite,
//     so equal texts have equal variants. The published figures for the sets of Div-Ref
//     (Tang et al., "Not All Metrics Are Guilty", NAACL 2024) were computed this way. A
//     [Warning] counts the segments whose own line differs.
//   - "div-ref-lines:FILE": the same file, but each segment has the variants of its own
//     line.
//   - "jsonl:FILE": rows as [Open] reads them, in the order of the segments and with the
//     same ids. A row with variants adds these, with their reference index. A row without
//     adds its references as variants of the first reference with the prompt "", or as
//     references if the segment has none.
//   - "parquet:FILE" and "published:DIR": the same, for the segments with the same ids,
//     in any order; the set is kept in memory. Every segment must have a row.
//
// A file of lines must have exactly one line per segment. This is checked early if the length of
// ds is known. The length of the result is known if that of ds is.
//
// With div-ref: each pass is preceded by one over the first references, so standard input
// or a pipe as ds is a *SpecError. That pass reads one file of an mt-metrics-eval folder or
// of text files, and all of JSON Lines. It holds the distinct first references; afterwards
// only those that occur several times, and the lists still needed for them, are kept.
func WithReferences(ds refract.Dataset, spec string, o Options) (refract.Dataset, error) {
	d, err := withReferences(asSet(ds), spec, o, nil)
	if err != nil {
		return nil, err
	}
	return d, nil
}

func withReferences(base *set, spec string, o Options, promptNames []string) (*set, error) {
	o.Warn = warnOnce(o.Warn)
	open, place, err := lookup("references", spec, []scheme[func(*set, string, Options, []string) (*sideFile, error)]{
		{"div-ref", "div-ref:FILE", openDivRef(true)},
		{"div-ref-lines", "div-ref-lines:FILE", openDivRef(false)},
		{"jsonl", "jsonl:FILE", openReferenceRows},
		{"parquet", "parquet:FILE", nil},
		{"published", "published:DIR", nil},
	})
	if err != nil {
		return nil, err
	}
	if open == nil {
		return withSet(base, complete(spec), o)
	}
	b, err := open(base, place, o, promptNames)
	if err != nil {
		return nil, err
	}
	return b.extend(base)
}

// WithHypotheses returns ds with the outputs of more systems, because published sets have
// no outputs. In a text file line k belongs to segment k; the texts are read as by
// [OpenLines]. The rows of a table are joined by their ids, or row k belongs to segment k;
// they are held in memory. A file with another number of lines than segments is an error,
// and so are a row without a segment and a system that a segment already has. The length is
// known if that of ds is.
func WithHypotheses(ds refract.Dataset, files []NamedFile, o Options) (refract.Dataset, error) {
	systems, err := o.openSystems(files)
	if err != nil {
		return nil, err
	}
	d, warn := asSet(ds), warnOnce(o.Warn)
	for _, sys := range systems {
		if sys.column != nil {
			if d, err = withColumn(d, sys.name, *sys.column, Options{Warn: warn}); err != nil {
				return nil, err
			}
			continue
		}
		b := &sideFile{in: sys.texts, warn: warn, begin: func(context.Context) (func([]byte, *refract.Segment, refract.Position) error, func(), error) {
			var c coverage
			add := func(line []byte, s *refract.Segment, pos refract.Position) error {
				return c.addOutput(s, refract.Hypothesis{System: sys.name, Text: refract.NewText(string(bytes.TrimRightFunc(line, text.IsSpace)))}, pos)
			}
			return add, func() { c.report(sys.texts.name, "", warn) }, nil
		}}
		if d, err = b.extend(d); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// openReferenceRows opens expanded references in JSON Lines.
func openReferenceRows(_ *set, place string, o Options, _ []string) (*sideFile, error) {
	if place == "-" {
		return nil, errors.New("references cannot come from standard input; store them in a file")
	}
	in, err := newInput(place)
	if err != nil {
		return nil, err
	}
	in.json = true
	return &sideFile{in: in, warn: o.Warn, references: true, begin: func(context.Context) (func([]byte, *refract.Segment, refract.Position) error, func(), error) {
		j := &joined{name: in.name}
		add := func(line []byte, s *refract.Segment, pos refract.Position) error {
			r := &record{} // a new one, in which absent fields are nil
			g, err := r.parse(line, pos)
			if err == nil && g.ID != s.ID {
				err = failAt(g.Pos, 0, "want the row of segment %s (%s), found the row of %s; the rows must be in the dataset's order, one per segment",
					text.Quote(s.ID), s.Pos, text.Quote(g.ID))
			}
			if err == nil {
				err = j.add(g, s, r.Variants != nil || r.Rejected != nil, r.References != nil)
			}
			return err
		}
		return add, func() { j.end(o.Warn) }, nil
	}}, nil
}

// withSet adds the references of another dataset to the segments with the same ids.
func withSet(base *set, spec string, o Options) (*set, error) {
	added, err := Open(spec, Options{Warn: o.Warn, NoJudgements: true})
	if err != nil {
		return nil, err
	}
	var ids []string
	var rows []*refract.Segment
	for s, err := range added.Segments(context.Background()) {
		if err != nil {
			return nil, err
		}
		ids, rows = append(ids, s.ID), append(rows, s)
	}
	d := joinRows(base, ids, rows, func() (func(*refract.Segment, **refract.Segment) error, func(int, []*refract.Segment) error) {
		j := &joined{name: NameOf(spec)}
		add := func(s *refract.Segment, row **refract.Segment) error {
			if row == nil {
				return failAt(s.Pos, 0, "%s has no segment %s; its segments must have the dataset's ids", text.Quote(spec), text.Quote(s.ID))
			}
			return j.add(*row, s, (*row).Variants != nil || (*row).Rejected != nil, true)
		}
		return add, func(_ int, left []*refract.Segment) error {
			j.end(o.Warn)
			if len(left) > 0 {
				o.Warn(Warning{refract.Position{File: j.name}, fmt.Sprintf("left out: references of %s that the dataset does not have", english.Count(len(left), "segment"))})
			}
			return nil
		}
	})
	d.firsts = nil
	return d, nil
}

// joined adds references of one dataset to another.
type joined struct {
	name   string
	differ examples // segments whose references are not those that the variants were made from
}

// add adds the content of g to s: its variants, if it has any, and otherwise its
// references. stated says that g states the references of its variants.
func (j *joined) add(g, s *refract.Segment, variants, stated bool) error {
	switch {
	case variants && len(s.References) == 0 && stated:
		s.References = slices.Clone(g.References)
		fallthrough
	case variants:
		if err := checkParents(g, len(s.References)); err != nil {
			return placed(err, g.Pos)
		}
		s.Variants = append(s.Variants, g.Variants...)
		s.Rejected = append(s.Rejected, g.Rejected...)
	case len(s.References) == 0 && len(s.Variants) == 0:
		s.References = slices.Clone(g.References)
	default:
		s.Variants = slices.Grow(s.Variants, len(g.References))
		for _, t := range g.References {
			s.Variants = append(s.Variants, refract.Variant{Text: t})
		}
	}
	if stated && !sameParents(g, s) {
		j.differ.addID(s.ID)
	}
	return nil
}

// end says for how many segments the variants were made from other references.
func (j *joined) end(warn func(Warning)) {
	if j.differ.n > 0 {
		warn(Warning{refract.Position{File: j.name}, fmt.Sprintf(
			"the variants of %s were made from other references than the dataset's (ids %s)", english.Count(j.differ.n, "row"), &j.differ)})
	}
}

// sameParents reports whether the variants of g were made from the references of s.
func sameParents(g, s *refract.Segment) bool {
	for _, v := range slices.Concat(g.Variants, g.Rejected) {
		if r := v.Reference; r >= len(g.References) || g.References[r] != s.References[r] {
			return false
		}
	}
	return true
}
