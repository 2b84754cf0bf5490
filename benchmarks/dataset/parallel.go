package dataset

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// parallel is a dataset of line-aligned files: line k of each belongs to
// segment k, whose id is k.
type parallel struct {
	source     *input // nil if there is none
	references []*input
	systems    []system
	documents  *input // lines of domain and document; nil if there is none
	humans     []humanScores

	trim    func(line []byte, is func(rune) bool) []byte
	missing string // the line that represents a missing text; "" for none
	ragged  bool   // a blank line is a missing reference if the segment has another
	o       Options
	n       int // number of segments; 0 if all files are streams
}

type system struct {
	name  string
	human bool
	texts *input
	// column says that texts is a table, and which of its columns has the outputs.
	column *textsSpec
}

// humanScores are the judgements with one name.
type humanScores struct {
	name    string
	systems []SystemScores
}

// set returns the dataset. Reading its first references opens no other files.
func (d *parallel) set() *set {
	all := &set{n: d.n, read: d.read, stream: firstStream(d.columns())}
	if len(d.references) > 0 {
		first := &parallel{references: d.references[:1], trim: d.trim, missing: d.missing, ragged: d.ragged, o: Options{Warn: func(Warning) {}}}
		all.firsts = &set{read: first.read, stream: firstStream(first.columns())}
	}
	return all
}

// columns returns the files in the order in which a segment is read.
func (d *parallel) columns() []*input {
	c := append([]*input{d.source}, d.references...)
	for _, s := range d.systems {
		c = append(c, s.texts)
	}
	return slices.DeleteFunc(append(c, d.documents), func(in *input) bool { return in == nil })
}

// firstStream returns the first input that can be read once, or nil.
func firstStream(all []*input) *input {
	if i := slices.IndexFunc(all, func(in *input) bool { return in.stream }); i >= 0 {
		return all[i]
	}
	return nil
}

// measure sets the number of segments and checks that all files have as many lines. Streams
// are checked while reading.
func (d *parallel) measure() error {
	var first *input
	for _, f := range d.columns() {
		if f.stream {
			continue
		}
		n, err := f.countLines()
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
	if first != nil && d.n == 0 {
		return failFile(first.name, noLine)
	}
	return nil
}

const noLine = "the dataset is empty: no line at all"

func unequal(a string, na int, b string, nb int) error {
	return failFile(b, "has %s, but %s has %d; line k of each file must belong to segment k", english.Count(nb, "line"), text.Path(a), na)
}

// read reads the segments in the order of the lines.
func (d *parallel) read(ctx context.Context, each func(*refract.Segment) error) error {
	p := &pass{d: d}
	defer p.close()
	p.coverage.files, p.coverage.sourceless = map[string]string{}, d.o.Sourceless
	for _, s := range d.systems {
		p.coverage.files[s.name] = s.texts.name
	}
	for _, c := range d.columns() {
		l, err := c.lines(ctx, d.o.Warn)
		if err != nil {
			return err
		}
		p.columns = append(p.columns, l)
	}
	for _, h := range d.humans {
		p.judgements += len(h.systems)
	}
	p.blank = make([]int, len(d.references))
	for {
		s, err := p.next()
		if err == io.EOF {
			p.tellBlank()
			p.coverage.blankReferences -= p.empty
			p.coverage.report(p.columns[0].in.name, "", d.o.Warn)
			return nil
		}
		if err != nil {
			return err
		}
		p.coverage.add(s)
		if err := each(s); err != nil {
			return err
		}
	}
}

// pass is one reading of a parallel dataset.
type pass struct {
	d        *parallel
	columns  []*lineReader
	coverage coverage

	blank []int // lines, of each file of references
	empty int   // segments with an empty reference only

	judgements int // per segment
}

func (p *pass) close() {
	for _, c := range p.columns {
		c.close()
	}
}

// next reads a line of each file, in the order of columns.
func (p *pass) next() (*refract.Segment, error) {
	d, rest := p.d, p.columns
	s := &refract.Segment{}
	var err error
	// take returns the text of the next file, until an error.
	take := func() (t refract.Text) {
		if err == nil {
			t, err = p.text(rest[0])
		}
		rest = rest[1:]
		return t
	}
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
		for i, of := range d.systems {
			s.Hypotheses[i] = refract.Hypothesis{System: of.name, Text: take(), Human: of.human}
		}
	}
	if d.documents != nil && err == nil {
		s.Document, s.Domain, err = p.readDocument(rest[0])
	}
	if err != nil {
		return nil, err
	}
	if d.ragged {
		p.leaveBlank(s.References)
	}
	s.Pos = p.columns[0].pos()
	s.ID = strconv.Itoa(s.Pos.Line)
	return s, p.judge(s)
}

// leaveBlank makes blank references missing, but for the first if there is no other: that
// one is an empty text, as in sacreBLEU.
func (p *pass) leaveBlank(references []refract.Text) {
	some := slices.ContainsFunc(references, func(t refract.Text) bool { return t.Value != "" })
	for i := range references {
		switch {
		case references[i].Value != "":
		case !some && i == 0:
			p.empty++
		default:
			references[i] = refract.Text{}
			p.blank[i]++
		}
	}
}

// tellBlank warns about what leaveBlank did.
func (p *pass) tellBlank() {
	for i, n := range p.blank {
		if n > 0 {
			p.d.o.Warn(Warning{refract.Position{File: p.d.references[i].name}, fmt.Sprintf("blank lines: %d of %d; there the segment has one reference fewer", n, p.columns[0].line)})
		}
	}
	if p.empty > 0 {
		p.d.o.Warn(Warning{refract.Position{File: p.d.references[0].name}, fmt.Sprintf("segments whose references are all blank: %d of %d; they are scored against an empty text", p.empty, p.columns[0].line)})
	}
}

// judge adds the human scores of a segment.
func (p *pass) judge(s *refract.Segment) error {
	if p.judgements == 0 {
		return nil
	}
	i := s.Pos.Line - 1
	if i >= p.d.n {
		return failAt(s.Pos, 0, "the file has changed since it was opened")
	}
	s.Judgements = make([]refract.Judgement, 0, p.judgements)
	for _, h := range p.d.humans {
		for _, of := range h.systems {
			s.Judgements = append(s.Judgements, refract.Judgement{Name: h.name, System: of.System, Score: of.Values[i], Valid: of.Valid[i]})
		}
	}
	return nil
}

// line returns the next line of a file.
func (p *pass) line(l *lineReader) ([]byte, error) {
	line, err := l.next()
	if err == io.EOF {
		err = p.end(l)
	}
	return line, err
}

// text returns the text on the next line of a file. Texts in JSON are not trimmed.
func (p *pass) text(l *lineReader) (t refract.Text, err error) {
	line, err := p.line(l)
	switch {
	case err != nil:
	case l.in.field != "":
		t, err = fieldOf(line, l.pos(), l.in.field)
	default:
		t = refract.NewText(string(p.d.trim(line, text.IsSpace)))
	}
	if p.d.missing != "" && t.Value == p.d.missing {
		t = refract.Text{}
	}
	return t, err
}

// readDocument reads the document and the domain of a segment: on its line the domain stands
// first, and a tab or other white space after it.
func (p *pass) readDocument(l *lineReader) (document, domain string, err error) {
	line, err := p.line(l)
	if err != nil {
		return "", "", err
	}
	fields := bytes.Fields(line)
	if tabs := bytes.Split(bytes.TrimFunc(line, text.IsSpace), []byte{'\t'}); len(tabs) == 2 {
		fields = tabs
	}
	if len(fields) != 2 {
		return "", "", failAt(l.pos(), 0, "want a domain, a tab and a document, not %s", text.Quote(string(line)))
	}
	return string(fields[1]), string(fields[0]), nil
}

// end is called when a column has no further line. It returns io.EOF if no other file has
// one either.
func (p *pass) end(last *lineReader) error {
	for _, c := range p.columns {
		if err := c.drain(); err != nil {
			return err
		}
		if c.line != last.line {
			return unequal(last.in.name, last.line, c.in.name, c.line)
		}
	}
	if last.line == 0 {
		return failFile(last.in.name, noLine)
	}
	return io.EOF
}
