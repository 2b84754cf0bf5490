package dataset

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
)

// WithHypotheses returns ds with the outputs of further systems, from text
// files of which line k belongs to segment k: a published set has none of its
// own. The texts are read as [OpenLines] reads them. A file of another number
// of lines than there are segments is an error, and so is a system that a
// segment has already. The result is Sized, a [HumanNamer] and a
// [ReferenceNamer] as far as ds is.
func WithHypotheses(ds refract.Dataset, files []NamedFile, o Options) (refract.Dataset, error) {
	o.Warn = warnOnce(o.Warn)
	for i, f := range files {
		if f.Name == "" {
			return nil, failFile(f.Path, "the hypothesis file has no system name")
		}
		if k := slices.IndexFunc(files[:i], func(g NamedFile) bool { return g.Name == f.Name }); k >= 0 {
			return nil, failFile(f.Path, "system %s has the file %s already; give the systems different names", text.Quote(f.Name), files[k].Path)
		}
		in, err := newInput(f.Path)
		if err != nil {
			return nil, fmt.Errorf("system %s: %w", text.Quote(f.Name), err)
		}
		source := &outputs{f.Name, in, o.Warn}
		if sized, ok := ds.(Sized); ok {
			if _, slow := ds.(*jsonl); !slow {
				if n, known := sized.Len(); known {
					if err := source.check(n); err != nil {
						return nil, err
					}
				}
			}
		}
		ds = &extended{ds, source}
	}
	return ds, nil
}

// outputs are the texts of one system.
type outputs struct {
	system string
	in     *input
	warn   func(Warning)
}

func (d *outputs) rereadable() bool { return !d.in.stream }

func (d *outputs) check(n int) error {
	if d.in.stream {
		return nil
	}
	lines, err := d.in.countLines()
	if err != nil || lines == n {
		return err
	}
	return unequalLines(d.in.name, lines, n)
}

func (d *outputs) open(ctx context.Context) (variantReader, error) {
	l, err := d.in.lines(ctx, d.warn)
	if err != nil {
		return nil, err
	}
	return &outputReader{d.system, l}, nil
}

type outputReader struct {
	system string
	lines  *lineReader
}

func (r *outputReader) close() { r.lines.close() }

func (r *outputReader) extend(_ context.Context, s *refract.Segment) error {
	line, err := r.lines.next()
	if err != nil {
		return err
	}
	for i := range s.Hypotheses {
		if s.Hypotheses[i].System == r.system {
			return failAt(r.lines.pos(), 0, "segment %s (%s) has a text of the system %s already; give the file another name", text.Quote(s.ID), s.Pos, text.Quote(r.system))
		}
	}
	s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: r.system, Text: refract.NewText(string(text.TrimRight(line)))})
	return nil
}

func (r *outputReader) finish(n int, short *refract.Segment) error {
	if short != nil {
		return tooShort(r.lines.file, r.lines.line, n, short)
	}
	if _, err := r.lines.next(); err == io.EOF {
		return nil
	} else if err != nil {
		return err
	}
	if err := r.lines.drain(); err != nil {
		return err
	}
	return unequalLines(r.lines.file, r.lines.line, n)
}
