package dataset

import (
	"cmp"
	"context"
	"io"
	"math"
	"os"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/jsonline"
)

func openJSONL(place string, o Options) (*set, error) {
	in := &input{name: "<stdin>", stdin: o.Stdin, stream: true}
	if place != "-" {
		var err error
		if in, err = newInput(place); err != nil {
			return nil, err
		}
	} else if in.stdin == nil {
		in.stdin = os.Stdin
	}
	parser := func() lineParser {
		p := newSegmentParser(&jsonline.Reader{})
		return func(line []byte, pos refract.Position) (*refract.Segment, error) {
			r, err := p.parse(line, pos)
			if err == nil {
				err = checkVariants(r.segment, len(r.segment.References))
			}
			return r.segment, placed(err, pos)
		}
	}
	return lineSet(in, o, parser), nil
}

// lineParser reads a segment from a line of JSON.
type lineParser func(line []byte, pos refract.Position) (*refract.Segment, error)

// lineSet is a dataset in JSON Lines, of which each pass has a parser.
func lineSet(in *input, o Options, newParser func() lineParser) *set {
	in.json = true
	rows := func(from, to int64) reading {
		return checked(in.name, "line", o, func(ctx context.Context, each func(*refract.Segment) error) error {
			l, err := in.lines(ctx, o.Warn)
			if err != nil {
				return err
			}
			defer l.close()
			parse := newParser()
			for {
				line, err := l.next()
				n := int64(l.line)
				if err == io.EOF || err == nil && n > to {
					return nil
				}
				if err == nil && n > from {
					var s *refract.Segment
					if s, err = parse(line, l.pos()); err == nil {
						err = each(s)
					} else {
						err = cmp.Or(checkUTF8Line(line, l.pos()), err)
					}
				}
				if err != nil {
					return err
				}
			}
		})
	}
	d := &set{read: rows(0, math.MaxInt64)}
	if in.stream {
		d.stream = in
		return d
	}
	d.lines, d.rows = in, rows
	d.scan = func() (n int, ok bool) {
		err := in.each(context.Background(), func(Warning) {}, func([]byte, refract.Position) error {
			n++
			return nil
		})
		return n, err == nil
	}
	return d
}
