package dataset

import (
	"context"
	"io"
	"iter"
	"strconv"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
)

// parallel is a dataset of line-aligned files: line k of each belongs to
// segment k, whose id is k.
type parallel struct {
	source     *input // nil: none
	references []*input
	systems    []system
	documents  *input // nil: none; lines of domain and document
	scores     []*scoreFile
	ratings    []*ratedScores

	trim    func([]byte) []byte
	missing string // the line that stands for a missing text; "" for none
	warn    func(Warning)

	n     int // number of segments, where sized
	sized bool
}

type system struct {
	name  string
	human bool
	texts *input
}

// columns are the text files in the order in which a segment is read.
func (d *parallel) columns() []*input {
	var c []*input
	if d.source != nil {
		c = append(c, d.source)
	}
	c = append(c, d.references...)
	for _, s := range d.systems {
		c = append(c, s.texts)
	}
	return c
}

// measure sets the number of segments and checks that all files have as many
// lines, but for streams, which Segments checks.
func (d *parallel) measure() error {
	files := d.columns()
	if d.documents != nil {
		files = append(files, d.documents)
	}
	var first *input
	buf := make([]byte, countBuffer)
	for _, f := range files {
		if f.stream {
			continue
		}
		n, err := f.countLinesWith(buf)
		if err != nil {
			return err
		}
		switch {
		case first == nil:
			first, d.n = f, n
		case n != d.n:
			return unequal(first.name, d.n, f.name, n)
		}
	}
	d.sized = first != nil
	if d.sized && d.n == 0 {
		return failFile(first.name, "the dataset is empty: no line at all")
	}
	return nil
}

func unequal(a string, na int, b string, nb int) error {
	return failFile(b, "has %s, but %s has %d; line k of each file must belong to segment k", english.Count(nb, "line"), a, na)
}

// Len returns the number of segments, unless a stream has to be read for it.
func (d *parallel) Len() (int, bool) { return d.n, d.sized }

// Segments yields the segments in the order of the lines.
func (d *parallel) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		p, err := d.newPass(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer p.close()
		for {
			s, err := p.next(ctx)
			if err == io.EOF {
				p.coverage.report(p.columns[0].file, d.warn)
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			p.coverage.add(s)
			if !yield(s, nil) {
				return
			}
		}
	}
}

// pass is one reading of a parallel dataset.
type pass struct {
	d         *parallel
	columns   []*lineReader
	documents *lineReader
	scores    []*scorePass
	coverage  coverage

	text   []byte // of all columns of a segment, one after the other
	ends   []int
	absent []bool

	document, domain string // of the segment before
}

func (d *parallel) newPass(ctx context.Context) (p *pass, err error) {
	p = &pass{d: d}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	for _, c := range d.columns() {
		l, err := c.lines(ctx, d.warn)
		if err != nil {
			return nil, err
		}
		p.columns = append(p.columns, l)
	}
	if d.documents != nil {
		if p.documents, err = d.documents.lines(ctx, d.warn); err != nil {
			return nil, err
		}
	}
	for _, f := range d.scores {
		s, err := f.newPass(d.warn)
		if err != nil {
			return nil, err
		}
		p.scores = append(p.scores, s)
	}
	p.ends = make([]int, len(p.columns))
	p.absent = make([]bool, len(p.columns))
	return p, nil
}

func (p *pass) close() {
	for _, c := range p.columns {
		c.close()
	}
	if p.documents != nil {
		p.documents.close()
	}
	for _, s := range p.scores {
		s.close()
	}
}

func (p *pass) next(ctx context.Context) (*refract.Segment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d := p.d
	p.text = p.text[:0]
	for i, c := range p.columns {
		line, err := c.next()
		if err == io.EOF {
			return nil, p.end(i)
		}
		if err != nil {
			return nil, err
		}
		p.text, p.absent[i], err = d.appendText(p.text, c, line)
		if err != nil {
			return nil, err
		}
		p.ends[i] = len(p.text)
	}
	s := &refract.Segment{Pos: p.columns[0].pos()}
	s.ID = strconv.Itoa(s.Pos.Line)
	// One string holds all texts of the segment: an allocation for twenty
	// texts instead of twenty.
	p.split(s, string(p.text))
	if p.documents != nil {
		if err := p.readDocument(); err != nil {
			return nil, err
		}
		s.Document, s.Domain = p.document, p.domain
	}
	return s, p.judge(s)
}

// appendText appends the text of a line, unless it is missing. A text in JSON
// is not trimmed.
func (d *parallel) appendText(dst []byte, l *lineReader, line []byte) (text []byte, missing bool, err error) {
	if l.field == "" {
		line = d.trim(line)
		if d.missing != "" && string(line) == d.missing {
			return dst, true, nil
		}
		return append(dst, line...), false, nil
	}
	t, err := fieldOf(line, l.pos(), l.field)
	if err != nil || !t.Valid || t.Value == d.missing && d.missing != "" {
		return dst, true, err
	}
	return append(dst, t.Value...), false, nil
}

func (p *pass) split(s *refract.Segment, all string) {
	column, start := 0, 0
	take := func() refract.Text {
		t := refract.Text{Value: all[start:p.ends[column]], Valid: !p.absent[column]}
		start = p.ends[column]
		column++
		return t
	}
	d := p.d
	if d.source != nil {
		s.Source = take()
	}
	if len(d.references) > 0 {
		s.References = make([]refract.Text, len(d.references))
		for i := range s.References {
			s.References[i] = take()
		}
	}
	if len(d.systems) > 0 {
		s.Hypotheses = make([]refract.Hypothesis, len(d.systems))
		for i := range s.Hypotheses {
			s.Hypotheses[i] = refract.Hypothesis{System: d.systems[i].name, Text: take(), Human: d.systems[i].human}
		}
	}
}

// readDocument reads the domain and the document of a segment.
func (p *pass) readDocument() error {
	line, err := p.documents.next()
	if err == io.EOF {
		return unequal(p.columns[0].file, p.columns[0].line, p.documents.file, p.documents.line)
	}
	if err != nil {
		return err
	}
	domain, document, err := splitDocument(line, p.documents.pos())
	if err != nil {
		return err
	}
	// Segments of a document follow each other: a string for all of them.
	if string(domain) != p.domain {
		p.domain = string(domain)
	}
	if string(document) != p.document {
		p.document = string(document)
	}
	return nil
}

func (p *pass) judge(s *refract.Segment) error {
	n := 0
	for _, f := range p.scores {
		n += len(f.blocks)
	}
	for _, r := range p.d.ratings {
		n += len(r.systems)
	}
	if n == 0 {
		return nil
	}
	s.Judgements = make([]refract.Judgement, 0, n)
	for _, f := range p.scores {
		var err error
		if s.Judgements, err = f.judge(s.Judgements); err != nil {
			return err
		}
	}
	for _, r := range p.d.ratings {
		s.Judgements = r.judge(s.Judgements, s.Pos.Line-1)
	}
	return nil
}

// end is called when column i has no further line. It returns io.EOF when no
// other file has one either.
func (p *pass) end(i int) error {
	last := p.columns[i]
	others := p.columns
	if p.documents != nil {
		others = append(others[:len(others):len(others)], p.documents)
	}
	for _, c := range others {
		if err := c.drain(); err != nil {
			return err
		}
		if c.line != last.line {
			return unequal(last.file, last.line, c.file, c.line)
		}
	}
	if last.line == 0 {
		return failFile(last.file, "the dataset is empty: no line at all")
	}
	return io.EOF
}
