package dataset

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/idset"
	"github.com/refract-eval/refract/internal/text"
)

// jsonl is a dataset in JSON Lines.
type jsonl struct {
	in *input
	o  Options
}

func openJSONL(place string, o Options) (refract.Dataset, error) {
	if place != "-" {
		in, err := newInput(place)
		if err != nil {
			return nil, err
		}
		return &jsonl{in, o}, nil
	}
	in := &input{name: "<stdin>", stdin: o.Stdin, stream: true}
	if in.stdin == nil {
		in.stdin = os.Stdin
	}
	return &jsonl{in, o}, nil
}

// Len counts the lines, by reading the file, unless it is a stream.
func (d *jsonl) Len() (int, bool) {
	if d.in.stream {
		return 0, false
	}
	l, err := d.in.lines(context.Background(), func(Warning) {})
	if err != nil {
		return 0, false
	}
	defer l.close()
	for n := 0; ; {
		line, err := l.next()
		if err == io.EOF {
			return n, true
		}
		if err != nil {
			return 0, false
		}
		if !blank(line) {
			n++
		}
	}
}

// Segments yields the segments in the order of the lines.
func (d *jsonl) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		rows, err := newRowReader(ctx, d.in, d.o)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.close()
		var c coverage
		for {
			r, err := rows.next(ctx)
			if err == io.EOF {
				if c.segments == 0 {
					yield(nil, failFile(d.in.name, "the dataset is empty: no segment at all"))
					return
				}
				c.report(d.in.name, d.o.Warn)
				return
			}
			if err == nil {
				if bad := checkVariants(r.segment, len(r.segment.References)); bad != nil {
					err = &Error{Pos: r.segment.Pos, Err: bad}
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			c.add(r.segment)
			if !yield(r.segment, nil) {
				return
			}
		}
	}
}

// rowReader reads the rows of JSON Lines and finds repeated ids.
type rowReader struct {
	lines  *lineReader
	parser segmentParser
	ids    *idset.Set // with the line of each
	rows   int
}

func newRowReader(ctx context.Context, in *input, o Options) (*rowReader, error) {
	l, err := in.lines(ctx, o.Warn)
	if err != nil {
		return nil, err
	}
	l.json = true
	r := &rowReader{lines: l, ids: idset.New()}
	if !o.NoJudgements {
		r.parser.judgements = func(name string) bool {
			return o.JudgementNames == nil || slices.Contains(o.JudgementNames, name)
		}
	}
	return r, nil
}

func (r *rowReader) close() { r.lines.close() }

// next returns the next row, or io.EOF.
func (r *rowReader) next(ctx context.Context) (row, error) {
	if err := ctx.Err(); err != nil {
		return row{}, err
	}
	line, err := r.lines.next()
	if err != nil {
		return row{}, err
	}
	if blank(line) {
		return row{}, r.trailing()
	}
	parsed, err := r.parser.parse(line, r.lines.pos())
	if err != nil {
		return row{}, cmp.Or(r.lines.checkUTF8(line), err)
	}
	if first, again := r.ids.Add(parsed.segment.ID, int64(r.lines.line)); again {
		return row{}, failAt(r.lines.pos(), 0, "id %s is that of line %d already; ids must be unique", text.Quote(parsed.segment.ID), first)
	}
	r.rows++
	return parsed, nil
}

// trailing is called after a blank line, and checks that only blank ones
// follow.
func (r *rowReader) trailing() error {
	at := r.lines.pos()
	for {
		line, err := r.lines.next()
		if err != nil {
			return err
		}
		if !blank(line) {
			return failAt(at, 0, "blank line before further segments; remove it")
		}
	}
}

func blank(line []byte) bool { return len(bytes.TrimLeft(line, " \t\r")) == 0 }
