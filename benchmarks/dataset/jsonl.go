package dataset

import (
	"cmp"
	"context"
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
	d := lineSet(in, o, parser)
	if !in.stream { // each line has its id
		d.cut = func(ctx context.Context, i, n int) (*Part, error) {
			lines, err := CutLines(ctx, in.name, i, n)
			if lines == nil || err != nil {
				return nil, err
			}
			o.part = true
			part := lineSet(&input{name: lines.Name(), part: lines}, o, parser)
			read := part.read
			part.read = func(ctx context.Context, each func(*refract.Segment) error) error {
				return lines.Placed(read(ctx, each))
			}
			return &Part{part, lines.Input}, nil
		}
	}
	return d, nil
}

// lineParser reads a segment from a line of JSON.
type lineParser func(line []byte, pos refract.Position) (*refract.Segment, error)

// lineSet is a dataset in JSON Lines, of which each pass has a parser.
func lineSet(in *input, o Options, newParser func() lineParser) *set {
	in.json = true
	d := &set{}
	d.read = checked(in.name, "line", o, func(ctx context.Context, each func(*refract.Segment) error) error {
		l, err := in.lines(ctx, o.Warn)
		if err != nil {
			return err
		}
		defer l.close()
		parse := newParser()
		return l.each(func(line []byte, pos refract.Position) error {
			s, err := parse(line, pos)
			if err != nil {
				return cmp.Or(checkUTF8Line(line, pos), err)
			}
			return each(s)
		})
	})
	if in.stream {
		d.stream = in
		return d
	}
	d.scan = func() (n int, ok bool) {
		err := in.each(context.Background(), func(Warning) {}, func([]byte, refract.Position) error {
			n++
			return nil
		})
		return n, err == nil
	}
	return d
}
