package dataset

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// divRef is a file of Python lists.
type divRef struct {
	in      *input
	prompts []string
	warn    func(Warning)
	// base is the dataset whose first references decide about the lists; nil
	// where each segment has that of its own line.
	base refract.Dataset
}

func openDivRef(ds refract.Dataset, place string, o Options, promptNames []string) (variantSource, error) {
	d, err := newDivRef(place, o, promptNames)
	if err != nil {
		return nil, err
	}
	if in := firstStream(ds); in != nil {
		return nil, &SpecError{fmt.Sprintf("references %s need a pass over the first references beforehand, but %s can be read only once; "+
			"store it in a file, or write div-ref-lines:FILE to have the variants line by line", text.Quote("div-ref:"+place), in.name)}
	}
	d.base = ds
	return d, nil
}

func openDivRefLines(_ refract.Dataset, place string, o Options, promptNames []string) (variantSource, error) {
	return newDivRef(place, o, promptNames)
}

func newDivRef(place string, o Options, promptNames []string) (*divRef, error) {
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
	err = unequalLines(d.in.name, lines, n)
	if d.transposed(n) {
		return fmt.Errorf("%w%s", err, looksTransposed)
	}
	return err
}

const looksTransposed = "; the file looks transposed: its first line has as many strings as there are segments"

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
	r := &divRefReader{d: d}
	if d.base != nil {
		var n int
		var err error
		if r.last, n, err = lastLines(firstReferences(ctx, d.base), newHash()); err != nil {
			return nil, err
		}
		if r.lists, err = d.readLists(ctx, r.last, n); err != nil {
			return nil, err
		}
	}
	var err error
	if r.lines, err = d.in.lines(ctx, d.warn); err != nil {
		return nil, err
	}
	return r, nil
}

// readLists reads the lines that last names, for a dataset of n segments.
func (d *divRef) readLists(ctx context.Context, last map[string]int, n int) (map[int][]refract.Text, error) {
	if len(last) == 0 {
		return nil, nil
	}
	if d.in.stream {
		return nil, failFile(d.in.name, "is a stream and can be read only once, but the segments with the same first reference need a line ahead of it; "+
			"store it in a file, or write div-ref-lines:FILE to have the variants line by line")
	}
	lists := make(map[int][]refract.Text, len(last))
	for _, line := range last {
		lists[line] = nil
	}
	l, err := d.in.lines(ctx, func(Warning) {})
	if err != nil {
		return nil, err
	}
	defer l.close()
	for left := len(lists); left > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, err := l.next()
		if err == io.EOF {
			return nil, unequalLines(d.in.name, l.line, n)
		}
		if err != nil {
			return nil, err
		}
		if _, ok := lists[l.line]; !ok {
			continue
		}
		if lists[l.line], err = parsePythonList(string(line), l.pos()); err != nil {
			return nil, err
		}
		left--
	}
	return lists, nil
}

func unequalLines(file string, lines, n int) error {
	return failFile(file, "has %s, but the dataset has %s; line k must belong to segment k", english.Count(lines, "line"), english.Count(n, "segment"))
}

type divRefReader struct {
	d     *divRef
	lines *lineReader
	names []string // of the prompts, as far as they were needed
	first int      // number of strings of the first line

	last  map[string]int         // the last line of each first reference that occurs several times
	lists map[int][]refract.Text // what these lines hold, until they are reached

	moved int      // segments that have another list than that of their line
	shown []string // the first of them
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
		return failAt(r.lines.pos(), 0, "segment %s (%s) has no reference of which these could be variants", text.Quote(s.ID), s.Pos)
	}
	texts = r.choose(s, texts)
	s.Variants = slices.Grow(s.Variants, len(texts))
	for i, t := range texts {
		s.Variants = append(s.Variants, refract.Variant{Prompt: r.prompt(i), Text: t})
	}
	return nil
}

// choose returns the list of the last segment with the first reference of s,
// where own is that of the line of s.
func (r *divRefReader) choose(s *refract.Segment, own []refract.Text) []refract.Text {
	delete(r.lists, r.lines.line)
	first := firstOf(s)
	if !first.Valid {
		return own
	}
	last := r.last[first.Value]
	if last <= r.lines.line {
		return own
	}
	texts := r.lists[last]
	if !slices.Equal(own, texts) {
		r.moved++
		if len(r.shown) < shownIDs {
			r.shown = append(r.shown, fmt.Sprintf("%s of line %d has those of line %d", text.Quote(s.ID), r.lines.line, last))
		}
	}
	return texts
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
	if r.lines.line != n {
		err := unequalLines(r.lines.file, r.lines.line, n)
		if r.first == n {
			return fmt.Errorf("%w%s", err, looksTransposed)
		}
		return err
	}
	if r.moved > 0 {
		more := ""
		if r.moved > len(r.shown) {
			more = ", …"
		}
		r.d.warn(Warning{refract.Position{File: r.lines.file}, fmt.Sprintf(
			"%d of %s have the variants of a later line, which is of the same first reference (%s%s); div-ref-lines:FILE gives each segment those of its own line",
			r.moved, english.Count(n, "segment"), strings.Join(r.shown, ", "), more)})
	}
	return nil
}
