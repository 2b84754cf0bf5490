package dataset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// openDivRef returns what opens a file of Python lists. If last, segments with the same first
// reference all get the list of the last of them, and otherwise each that of its own line.
func openDivRef(last bool) func(base *set, place string, o Options, prompts []string) (*sideFile, error) {
	return func(base *set, place string, o Options, prompts []string) (*sideFile, error) {
		firsts := base.first()
		if in := firsts.stream; last && in != nil {
			return nil, specError("references %s need a pass over the first references beforehand, but %s can be read only once; "+
				"store it in a file, or write div-ref-lines:FILE to have the variants line by line", text.Quote("div-ref:"+place), text.Path(in.name))
		}
		in, err := newInput(place)
		if err != nil {
			return nil, err
		}
		return &sideFile{in: in, warn: o.Warn, begin: func(ctx context.Context) (func([]byte, *refract.Segment, refract.Position) error, func(), error) {
			p := &divRefPass{in: in, prompts: slices.Clone(prompts)}
			if last {
				if err := p.lookAhead(ctx, firsts.read); err != nil {
					return nil, nil, err
				}
			}
			return p.add, func() { p.report(o.Warn) }, nil
		}}, nil
	}
}

// divRefPass is one reading of the file.
type divRefPass struct {
	in      *input
	prompts []string
	line    int

	last  map[string]int         // the last line of each first reference that occurs several times
	lists map[int][]refract.Text // the lists on these lines, until they are reached
	moved examples               // segments that get another list than their own line's
}

// lookAhead reads the first references, and the lists of those that occur several times.
func (p *divRefPass) lookAhead(ctx context.Context, firsts reading) (err error) {
	if p.last, err = lastLines(ctx, firsts); err != nil || len(p.last) == 0 {
		return err
	}
	if p.in.stream {
		return failFile(p.in.name, "is a stream and can be read only once, but the segments with the same first reference need a line ahead of it; "+
			"store it in a file, or write div-ref-lines:FILE to have the variants line by line")
	}
	p.lists = make(map[int][]refract.Text, len(p.last))
	for _, line := range p.last {
		p.lists[line] = nil
	}
	return p.in.each(ctx, func(Warning) {}, func(line []byte, pos refract.Position) (err error) {
		if _, ok := p.lists[pos.Line]; ok {
			p.lists[pos.Line], err = parsePythonList(string(line), pos)
		}
		return err
	})
}

// report warns of the segments with the list of another line.
func (p *divRefPass) report(warn func(Warning)) {
	if p.moved.n > 0 {
		warn(Warning{refract.Position{File: p.in.name}, fmt.Sprintf(
			"%d of %s have the variants of a later line with the same first reference (%s); div-ref-lines:FILE gives each segment the variants of its own line",
			p.moved.n, english.Count(p.line, "segment"), &p.moved)})
	}
}

func (p *divRefPass) add(line []byte, s *refract.Segment, pos refract.Position) error {
	texts, err := parsePythonList(string(line), pos)
	if err != nil {
		return err
	}
	if len(s.References) == 0 && len(texts) > 0 {
		return failAt(pos, 0, "segment %s (%s) has no reference of which these could be variants", text.Quote(s.ID), s.Pos)
	}
	p.line = pos.Line
	texts = p.choose(s, texts)
	s.Variants = slices.Grow(s.Variants, len(texts))
	for i, t := range texts {
		if i == len(p.prompts) {
			p.prompts = append(p.prompts, fmt.Sprintf("column%d", i+1))
		}
		s.Variants = append(s.Variants, refract.Variant{Prompt: p.prompts[i], Text: t})
	}
	return nil
}

// choose returns the list of the last segment with the same first reference as s; own is
// the list on the line of s.
func (p *divRefPass) choose(s *refract.Segment, own []refract.Text) []refract.Text {
	delete(p.lists, p.line)
	first := firstOf(s)
	last := p.last[first.Value]
	if !first.Valid || last <= p.line {
		return own
	}
	texts := p.lists[last]
	if !slices.Equal(own, texts) {
		p.moved.add(fmt.Sprintf("%s of line %d has those of line %d", text.Quote(s.ID), p.line, last))
	}
	return texts
}

func firstOf(s *refract.Segment) refract.Text {
	if len(s.References) == 0 {
		return refract.Text{}
	}
	return s.References[0]
}

// lastLines returns, for the first references that occur several times, the number of the
// last segment with it, from 1.
func lastLines(ctx context.Context, read reading) (map[string]int, error) {
	last, once, n := map[string]int{}, map[string]bool{}, 0
	err := read(ctx, func(s *refract.Segment) error {
		n++
		if first := firstOf(s); first.Valid {
			text := strings.Clone(first.Value) // do not keep the whole line in memory
			last[text], once[text] = n, last[text] == 0
		}
		return ctx.Err()
	})
	maps.DeleteFunc(last, func(text string, _ int) bool { return once[text] })
	return last, err
}
