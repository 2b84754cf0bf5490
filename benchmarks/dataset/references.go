package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/refract-eval/refract"
)

// variantReader reads expanded references beside the segments of a dataset.
type variantReader interface {
	// extend adds the next variants to s. It returns io.EOF when it has no
	// more, and the context's error when that ends.
	extend(ctx context.Context, s *refract.Segment) error
	// finish checks that nothing is left, and warns. n is the number of
	// segments, and short the first for which extend returned io.EOF, or nil.
	finish(n int, short *refract.Segment) error
	close()
}

// referenceScheme is a row of the table of formats of expanded references.
type referenceScheme struct {
	name  string
	usage string
	open  func(place string, o Options, promptNames []string) (variantSource, error)
}

// variantSource opens a reader for each pass over a dataset.
type variantSource interface {
	open(ctx context.Context) (variantReader, error)
	// check compares with a dataset of n segments before it is read.
	check(n int) error
}

func referenceSchemes() []referenceScheme {
	return []referenceScheme{
		{"div-ref", "div-ref:FILE", openDivRef},
		{"jsonl", "jsonl:FILE", openReferenceRows},
	}
}

// WithReferences returns ds with expanded references: variants that follow
// those which the segments have. spec is
//
//   - "div-ref:FILE": each line a Python list literal of strings, the variants
//     of the first reference of that segment. Variant i has the prompt
//     promptNames[i], or "div-ref:<i+1>" where there are fewer names. None is
//     a missing text.
//   - "jsonl:FILE": rows as [Open] reads them, in the order of the segments
//     and with the same ids. A row with variants gives these, with their
//     reference index; another gives all its references, as variants of the
//     first reference with the prompt "". A segment that has no reference
//     takes the latter as its references.
//
// The file must have exactly one line per segment. It is checked early when
// ds is [Sized]. The result is Sized, a [HumanNamer] and a [ReferenceNamer]
// as far as ds is.
func WithReferences(ds refract.Dataset, spec string, o Options, promptNames []string) (refract.Dataset, error) {
	o.Warn = warnOnce(o.Warn)
	table := referenceSchemes()
	known := make([]string, len(table))
	usages := make([]string, len(table))
	for i, s := range table {
		known[i], usages[i] = s.name, s.usage
	}
	i, place, err := lookup("references", spec, known, usages)
	if err != nil {
		return nil, err
	}
	source, err := table[i].open(place, o, promptNames)
	if err != nil {
		return nil, err
	}
	d := &extended{ds, source}
	// Counting the lines of JSON Lines costs a pass, and is left to the end.
	if _, slow := ds.(*jsonl); !slow {
		if n, ok := d.Len(); ok {
			if err := source.check(n); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}

// extended is a dataset with further variants.
type extended struct {
	refract.Dataset
	source variantSource
}

// Len returns the number of segments, if the dataset below knows it.
func (d *extended) Len() (int, bool) {
	if s, ok := d.Dataset.(Sized); ok {
		return s.Len()
	}
	return 0, false
}

// HumanNames returns the names that the dataset below knows.
func (d *extended) HumanNames() []string {
	if h, ok := d.Dataset.(HumanNamer); ok {
		return h.HumanNames()
	}
	return nil
}

// ReferenceNames returns the names that the dataset below knows.
func (d *extended) ReferenceNames() []string {
	if r, ok := d.Dataset.(ReferenceNamer); ok {
		return r.ReferenceNames()
	}
	return nil
}

// Segments yields the extended segments in the dataset's order.
func (d *extended) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		r, err := d.source.open(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.close()
		n := 0
		var short *refract.Segment // the first segment without a line
		for s, err := range d.Dataset.Segments(ctx) {
			if err == nil {
				n++
				if short != nil {
					continue // only to count the segments
				}
				if err = r.extend(ctx, s); err == io.EOF {
					short = s
					continue
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(s, nil) {
				return
			}
		}
		if err := r.finish(n, short); err != nil {
			yield(nil, err)
		}
	}
}

func tooShort(file string, lines, n int, short *refract.Segment) error {
	return failFile(file, "has %s, but the dataset has %s; the first without one is %s (%s)",
		plural(lines, "line"), plural(n, "segment"), quote(short.ID), short.Pos)
}

// divRef is a file of Python lists.
type divRef struct {
	in      *input
	prompts []string
	warn    func(Warning)
}

func openDivRef(place string, o Options, promptNames []string) (variantSource, error) {
	in, err := newInput(place)
	if err != nil {
		return nil, err
	}
	return &divRef{in: in, prompts: slices.Clone(promptNames), warn: o.Warn}, nil
}

func (d *divRef) check(n int) error {
	if d.in.stream {
		return nil
	}
	lines, err := d.in.countLines()
	if err != nil || lines == n {
		return err
	}
	err = failFile(d.in.name, "has %s, but the dataset has %s; line k must belong to segment k", plural(lines, "line"), plural(n, "segment"))
	if d.transposed(n) {
		return fmt.Errorf("%w; the file looks transposed: its first line has as many strings as there are segments", err)
	}
	return err
}

// transposed tells whether the first line has n strings.
func (d *divRef) transposed(n int) bool {
	l, err := d.in.lines(context.Background(), func(Warning) {})
	if err != nil {
		return false
	}
	defer l.close()
	line, err := l.next()
	if err != nil {
		return false
	}
	texts, err := parsePythonList(string(line), l.pos())
	return err == nil && len(texts) == n
}

func (d *divRef) open(ctx context.Context) (variantReader, error) {
	l, err := d.in.lines(ctx, d.warn)
	if err != nil {
		return nil, err
	}
	return &divRefReader{d: d, lines: l}, nil
}

type divRefReader struct {
	d     *divRef
	lines *lineReader
	names []string // of the prompts, as far as they were needed
	first int      // number of strings of the first line
}

func (r *divRefReader) close() { r.lines.close() }

func (r *divRefReader) extend(_ context.Context, s *refract.Segment) error {
	line, err := r.lines.next()
	if err != nil {
		return err
	}
	texts, err := parsePythonList(string(line), r.lines.pos())
	if err != nil {
		return err
	}
	if r.lines.line == 1 {
		r.first = len(texts)
	}
	if len(s.References) == 0 && len(texts) > 0 {
		return failAt(r.lines.pos(), 0, "segment %s (%s) has no reference of which these could be variants", quote(s.ID), s.Pos)
	}
	s.Variants = slices.Grow(s.Variants, len(texts))
	for i, t := range texts {
		s.Variants = append(s.Variants, refract.Variant{Prompt: r.prompt(i), Text: t})
	}
	return nil
}

func (r *divRefReader) prompt(i int) string {
	if i < len(r.d.prompts) {
		return r.d.prompts[i]
	}
	for k := len(r.names); k <= i; k++ {
		r.names = append(r.names, fmt.Sprintf("div-ref:%d", k+1))
	}
	return r.names[i]
}

func (r *divRefReader) finish(n int, short *refract.Segment) error {
	if short != nil {
		return tooShort(r.lines.file, r.lines.line, n, short)
	}
	if err := r.lines.drain(); err != nil {
		return err
	}
	if r.lines.line == n {
		return nil
	}
	hint := ""
	if r.first == n {
		hint = "; the file looks transposed: its first line has as many strings as there are segments"
	}
	return failFile(r.lines.file, "has %s, but the dataset has %s; line k must belong to segment k%s",
		plural(r.lines.line, "line"), plural(n, "segment"), hint)
}

// referenceRows are expanded references in JSON Lines.
type referenceRows struct {
	in *input
	o  Options
}

func openReferenceRows(place string, o Options, _ []string) (variantSource, error) {
	if place == "-" {
		return nil, errors.New("references cannot come from standard input; store them in a file")
	}
	in, err := newInput(place)
	if err != nil {
		return nil, err
	}
	o.Judgements = false
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
			quote(s.ID), s.Pos, quote(g.ID))
	}
	if got.hasVariants {
		if err := checkVariants(s.ID, g.Variants, len(s.References)); err != nil {
			return &Error{Pos: g.Pos, Err: err}
		}
		if got.hasReferences && !sameParents(g, s) {
			r.differ++
			if len(r.ids) < shownIDs {
				r.ids = append(r.ids, g.ID)
			}
		}
		s.Variants = append(s.Variants, g.Variants...)
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
	for _, v := range g.Variants {
		if v.Reference >= len(g.References) || g.References[v.Reference] != s.References[v.Reference] {
			return false
		}
	}
	return true
}

func (r *rowVariants) finish(n int, short *refract.Segment) error {
	lines := r.rows.lines
	if short != nil {
		return tooShort(lines.file, len(r.rows.ids), n, short)
	}
	switch extra, err := r.rows.next(context.Background()); {
	case err == nil:
		return failAt(extra.segment.Pos, 0, "row of %s has no segment: the dataset has only %s", quote(extra.segment.ID), plural(n, "segment"))
	case err != io.EOF:
		return err
	}
	if r.differ > 0 {
		r.warn(Warning{refract.Position{File: lines.file}, fmt.Sprintf(
			"the variants of %s were made from other references than the dataset's (ids %s)",
			plural(r.differ, "row"), someIDs(r.ids, r.differ))})
	}
	return nil
}
