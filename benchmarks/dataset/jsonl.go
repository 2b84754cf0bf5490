package dataset

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

func openJSONL(place string, o Options) (*set, error) {
	in, err := o.input(place)
	if err != nil {
		return nil, err
	}
	return lineSet(in, o), nil
}

// parse reads a segment from a line of JSON. The record is reused for every line.
func (r *record) parse(line []byte, pos refract.Position) (*refract.Segment, error) {
	*r = record{References: r.References[:0], Variants: r.Variants[:0], Rejected: r.Rejected[:0], Hypotheses: r.Hypotheses[:0], Judgements: r.Judgements[:0], Ratings: r.Ratings[:0], language: r.language}
	if err := jsonline.Unmarshal(line, r, "a segment"); err != nil {
		return nil, cmp.Or(checkUTF8Line(line, pos), placed(err, pos))
	}
	s, err := r.segment(true)
	if err != nil {
		return nil, placed(err, pos)
	}
	s.Pos = pos
	return s, nil
}

// ReadSegments reads an array of segments with unique ids. A segment without an id gets its
// number, from 1. More than most segments are an error before they take memory. Errors name
// no file.
func ReadSegments(array []byte, most int) ([]*refract.Segment, error) {
	var out []*refract.Segment
	ids := map[string]int{}
	d := jsontext.NewDecoder(bytes.NewBuffer(array))
	if d.PeekKind() != '[' {
		return nil, jsonline.Fault("segments must be an array")
	}
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != ']' {
		if len(out) == most {
			return nil, jsonline.Fault("at most %s are taken at a time", english.Thousands(most, "segment"))
		}
		var r record
		if err = json.UnmarshalDecode(d, &r, jsonline.Strict); err != nil {
			return nil, fmt.Errorf("segments: %w", jsonline.Explain(err, "each"))
		}
		r.ID = cmp.Or(r.ID, recordID(strconv.Itoa(len(out)+1)))
		s, err := r.segment(true)
		if err == nil {
			err = checkVariants(s)
		}
		if err != nil {
			return nil, err
		}
		if first, again := ids[s.ID]; again {
			return nil, fmt.Errorf("segments %d and %d both have the id %s; ids must be unique", first, len(out)+1, text.Quote(s.ID))
		}
		new(agreement).keepSeveral(s.Judgements)
		out = append(out, s)
		ids[s.ID] = len(out)
	}
	if len(out) == 0 {
		err = ErrEmpty
	}
	return out, err
}

// otherColumns adds to an error in the first line how to read a file with other columns, if
// that is what it is.
func otherColumns(err error, line []byte, path string) error {
	var fault *jsonline.Error
	var object map[string]any
	if !errors.As(err, &fault) || !fault.Unknown || json.Unmarshal(line, &object) != nil {
		return err
	}
	if _, ours := object["references"]; fault.Mistyped && (ours || len(object) < 3) {
		return err // only one field has a wrong type
	}
	known := map[string]bool{}
	columnsIn(object, "", known)
	return fmt.Errorf("%w; read a file with other columns as %s", err, suggestTable(path, slices.Sorted(maps.Keys(known))))
}

func lineSet(in *input, o Options) *set {
	in.json = true
	records := sync.Pool{New: func() any { return &record{} }}
	rows := func(in *input, skimmed bool) reading {
		return checked(in.name, "line", o, func(ctx context.Context, each func(*refract.Segment) error) error {
			return decodeLines(ctx, in, o.Warn, func(line []byte, pos refract.Position) (*refract.Segment, error) {
				if skimmed {
					if s := skim(line, pos); s != nil {
						return s, nil
					}
				}
				r := records.Get().(*record)
				defer records.Put(r)
				s, err := r.parse(line, pos)
				if err != nil && pos.Line == 1 && in.from == 0 && !in.stream {
					err = otherColumns(err, line, in.name)
				}
				if err == nil {
					err = placed(checkVariants(s), s.Pos)
				}
				return s, err
			}, each)
		})
	}
	d := &set{read: rows(in, false)}
	if in.stream {
		d.stream = in
		return d
	}
	if l, err := in.lines(context.Background(), func(Warning) {}); err == nil {
		defer l.close()
		if l.spread != nil { // its lines are no segments
			return d
		}
	}
	if d.lines = in; !files.IsPacked(in.name) {
		d.ranges = &ranges{[]string{in.name}, in.lineEnd, func(of Extent, skimmed bool) *set {
			in := in
			if of.To > 0 {
				in = in.between(of.From, of.To, of.Size)
			}
			return &set{lines: in, read: rows(in, skimmed)}
		}}
	}
	return d
}
