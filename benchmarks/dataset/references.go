package dataset

import (
	"context"
	"io"
	"iter"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
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
	open  func(ds refract.Dataset, place string, o Options, promptNames []string) (variantSource, error)
}

// variantSource opens a reader for each pass over a dataset.
type variantSource interface {
	rereader
	open(ctx context.Context) (variantReader, error)
	// check compares with a dataset of n segments before it is read.
	check(n int) error
}

func referenceSchemes() []referenceScheme {
	return []referenceScheme{
		{"div-ref", "div-ref:FILE", openDivRef},
		{"div-ref-lines", "div-ref-lines:FILE", openDivRefLines},
		{"jsonl", "jsonl:FILE", openReferenceRows},
	}
}

// WithReferences returns ds with expanded references: variants that follow
// those which the segments have. spec is
//
//   - "div-ref:FILE": each line a Python list literal of strings, the variants
//     of the first reference of that segment. Variant i has the prompt
//     promptNames[i], or "div-ref:<i+1>" where there are fewer names. None is
//     a missing text. Segments with the same first reference all have the
//     variants of the last of them: a variant belongs to the text that it
//     rewrites, so that equal texts have equal variants, as they do where
//     equal references are rewritten once; and the figures that are known for
//     the sets of Div-Ref (Tang et al., "Not All Metrics Are Guilty", NAACL
//     2024) are made so. A [Warning] counts the segments for which their own
//     line says something else.
//   - "div-ref-lines:FILE": the same file, but each segment has the variants
//     of its own line.
//   - "jsonl:FILE": rows as [Open] reads them, in the order of the segments
//     and with the same ids. A row with variants gives these, with their
//     reference index; another gives all its references, as variants of the
//     first reference with the prompt "". A segment that has no reference
//     takes the latter as its references.
//
// The file must have exactly one line per segment. It is checked early when
// ds is [Sized]. The result is Sized, a [HumanNamer] and a [ReferenceNamer]
// as far as ds is.
//
// With div-ref: each pass is preceded by one over the first references, so
// ds must allow that: standard input or a pipe is a *SpecError. The pass reads
// one file of an mt-metrics-eval folder or of text files, and all of JSON
// Lines. It keeps eight bytes of hash per segment; afterwards the texts that
// occur several times, and the lists for them that are still to come, remain.
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
	source, err := table[i].open(ds, place, o, promptNames)
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
		english.Count(lines, "line"), english.Count(n, "segment"), text.Quote(short.ID), short.Pos)
}
