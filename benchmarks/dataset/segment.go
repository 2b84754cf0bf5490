package dataset

import (
	"slices"
	"strconv"
	"time"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// row is one line of JSON Lines.
type row struct {
	segment       *refract.Segment
	hasReferences bool // the field is there, be it empty
	hasVariants   bool // or rejected ones
}

// segmentParser reads rows. It is reused for all lines of a file.
type segmentParser struct {
	reader
	pos           refract.Position
	names         jsonline.Names
	fields        []jsonline.Field // of a segment
	variantFields []jsonline.Field

	// What is being read.
	row     row
	variant refract.Variant
	hasText bool
	hasRaw  bool

	// Memory that is reused: slices of the segment are cut to size at its end.
	references []refract.Text
	variants   []refract.Variant
	rejected   []refract.Variant
	hypotheses []refract.Hypothesis
	scores     []refract.Judgement
	humans     []string
	document   string // of the segment before
}

// newSegmentParser returns a parser of what a reader reads. Its fields are those
// of JSON Lines, in the order in which they are written.
func newSegmentParser(r *jsonline.Reader) *segmentParser {
	p := &segmentParser{reader: reader{r}}
	list := func(name string, has *bool, read func() error) jsonline.Field {
		return jsonline.Field{Name: name, Read: read, Optional: true, Seen: has}
	}
	p.fields = []jsonline.Field{
		jsonline.With("id", func() error {
			id, err := p.ID()
			p.row.segment.ID = string(id)
			return err
		}),
		jsonline.With("source", func() (err error) {
			p.row.segment.Source, err = p.text()
			return err
		}),
		list("references", &p.row.hasReferences, p.readReferences),
		list("variants", &p.row.hasVariants, func() error { return p.readVariants(&p.variants) }),
		list("rejected", &p.row.hasVariants, func() error { return p.readVariants(&p.rejected) }),
		list("hypotheses", nil, p.readHypotheses),
		list("human_systems", nil, p.readHumanSystems),
		list("human", nil, p.readHuman),
		jsonline.With("document", p.readDocument),
		jsonline.With("domain", func() (err error) {
			p.row.segment.Domain, err = p.name()
			return err
		}),
	}
	v := &p.variant
	p.variantFields = []jsonline.Field{
		jsonline.To("reference", &v.Reference, p.Index),
		jsonline.To("prompt", &v.Prompt, p.name),
		jsonline.To("sample", &v.Sample, p.Index),
		jsonline.To("model", &v.Model, p.name),
		jsonline.To("text", &v.Text, p.text).Noted(&p.hasText),
		jsonline.To("finish", &v.Finish, p.name),
		ofOrigin(v, "revision", p.name, func(o *refract.Origin) *string { return &o.Revision }),
		ofOrigin(v, "served_model", p.name, func(o *refract.Origin) *string { return &o.ServedModel }),
		ofOrigin(v, "sampling", p.sampling, func(o *refract.Origin) *string { return &o.Sampling }),
		jsonline.With("raw", func() (err error) { // null says that it is missing, and not that it is not stated
			originOf(v).Raw, err = p.text()
			return err
		}).Noted(&p.hasRaw),
		ofOrigin(v, "cleaned", p.steps, func(o *refract.Origin) *[]string { return &o.Cleaned }),
		ofOrigin(v, "prompt_tokens", p.Index, func(o *refract.Origin) *int { return &o.PromptTokens }),
		ofOrigin(v, "completion_tokens", p.Index, func(o *refract.Origin) *int { return &o.CompletionTokens }),
		ofOrigin(v, "created", p.time, func(o *refract.Origin) *time.Time { return &o.Created }),
		ofOrigin(v, "form", p.name, func(o *refract.Origin) *string { return &o.Form }),
		jsonline.To("verdict", &v.Verdict, p.name),
		jsonline.To("detail", &v.Detail, p.StringOrEmpty),
		jsonline.With("doubt", p.readDoubt),
		jsonline.To("review", &v.Review, p.name),
		jsonline.To("audit", &v.Audit, p.name),
		jsonline.To("audited_by", &v.AuditedBy, p.name),
	}
	return p
}

// originOf is the origin of a variant, of which there is none before a field of it
// has come.
func originOf(v *refract.Variant) *refract.Origin {
	if v.Origin == nil {
		v.Origin = &refract.Origin{}
	}
	return v.Origin
}

// ofOrigin is a field of the origin of a variant, unless it is null.
func ofOrigin[T any](v *refract.Variant, name string, read func() (T, error), place func(*refract.Origin) *T) jsonline.Field {
	return jsonline.Field{Name: name, Optional: true, Read: func() (err error) {
		*place(originOf(v)), err = read()
		return err
	}}
}

// parse reads one line. The segment keeps parts of a copy of it.
func (p *segmentParser) parse(line []byte, pos refract.Position) (row, error) {
	p.Reset(line)
	r, err := p.object(pos)
	if err == nil {
		err = p.End()
	}
	if e, ok := err.(*jsonline.Error); ok && e.Got() != "" {
		return row{}, failAt(pos, e.Offset+1, "a segment must be a JSON object on one line, not %s", e.Got())
	}
	if err == nil {
		err = p.finish(r.segment)
	}
	if err != nil {
		return row{}, placed(err, pos)
	}
	return r, nil
}

// object reads a segment, which finish has to check.
func (p *segmentParser) object(pos refract.Position) (row, error) {
	p.names.Line()
	p.pos = pos
	p.references, p.variants, p.rejected, p.hypotheses = p.references[:0], p.variants[:0], p.rejected[:0], p.hypotheses[:0]
	p.scores, p.humans = p.scores[:0], p.humans[:0]
	p.row = row{segment: &refract.Segment{Pos: pos}}
	err := p.Object(p.fields...)
	return p.row, err
}

// ReadSegments reads an array of segments, of which an id is that of no other. One
// without an id is called by its number, from 1. More than the most are an error, before
// they take memory. An error names no file.
func ReadSegments(r *jsonline.Reader, most int) ([]*refract.Segment, error) {
	p := newSegmentParser(r)
	var out []*refract.Segment
	ids := map[string]int{}
	err := r.Elements(func(i int) error {
		if i == most {
			return jsonline.Fault(r.Offset(), "at most %s are taken at a time", english.Thousands(most, "segment"))
		}
		row, err := p.object(refract.Position{})
		s := row.segment
		if s.ID == "" {
			s.ID = strconv.Itoa(i + 1)
		}
		if err == nil {
			err = p.finish(s)
		}
		if err == nil {
			err = checkVariants(s, len(s.References))
		}
		if err != nil {
			return err
		}
		if first, again := ids[s.ID]; again {
			return failAt(s.Pos, 0, "segments %d and %d both have the id %s; ids must be unique", first, i+1, text.Quote(s.ID))
		}
		ids[s.ID] = i + 1
		out = append(out, s)
		return nil
	})
	if err == nil && len(out) == 0 {
		err = ErrEmpty
	}
	return out, err
}

// name reads a string, or null as "", that repeats from line to line.
func (p *segmentParser) name() (string, error) {
	b, err := p.OptionalBytes()
	return p.names.Get(b), err
}

func (p *segmentParser) readDocument() error {
	document, err := p.StringOrEmpty()
	if document != p.document {
		p.document = string([]byte(document)) // which must not keep its line
	}
	p.row.segment.Document = p.document
	return err
}

func (p *segmentParser) readReferences() error {
	return p.Elements(func(int) error {
		t, err := p.text()
		p.references = append(p.references, t)
		return err
	})
}

func (p *segmentParser) readHypotheses() error {
	return p.Members("system", func(name []byte) error {
		h := refract.Hypothesis{System: p.names.Get(name)}
		var err error
		h.Text, err = p.text()
		p.hypotheses = append(p.hypotheses, h)
		return err
	})
}

func (p *segmentParser) readHumanSystems() error {
	return p.Elements(func(int) error {
		at := p.Offset()
		name, err := p.String()
		if err == nil && slices.Contains(p.humans, name) {
			err = jsonline.Fault(at, "system %s is twice in human_systems", text.Quote(name))
		}
		p.humans = append(p.humans, name)
		return err
	})
}

func (p *segmentParser) readHuman() error {
	return p.Members("name", func(b []byte) error {
		name := p.names.Get(b)
		return p.Members("system", func(system []byte) error {
			score, valid, err := p.OptionalFloat()
			p.scores = append(p.scores, refract.Judgement{Name: name, System: p.names.Get(system), Score: score, Valid: valid})
			return err
		})
	})
}

// readVariants reads "variants" or "rejected".
func (p *segmentParser) readVariants(dst *[]refract.Variant) error {
	return p.Elements(func(int) error {
		p.variant, p.hasText, p.hasRaw = refract.Variant{}, false, false
		err := p.Object(p.variantFields...)
		if err == nil && !p.hasText {
			err = p.Lacks("text; write null for a missing one")
		}
		if o := p.variant.Origin; o != nil && !p.hasRaw { // it is the text itself
			o.Raw = p.variant.Text
		}
		*dst = append(*dst, p.variant)
		return err
	})
}

func (p *segmentParser) readDoubt() error {
	at := p.Offset()
	d, ok, err := p.OptionalFloat()
	switch {
	case err != nil || !ok:
		return err
	case d < 0 || d > 1:
		return jsonline.Unwanted(at, "a number from 0 to 1", strconv.FormatFloat(d, 'g', -1, 64))
	}
	p.variant.Doubt = &d
	return nil
}

// sampling reads an object, as it is written.
func (p *segmentParser) sampling() (string, error) {
	raw, err := p.RawObject()
	return p.names.Get(raw), err
}

// steps reads the steps of cleaning.
func (p *segmentParser) steps() (out []string, err error) {
	err = p.Elements(func(int) error {
		step, err := p.Bytes()
		out = append(out, p.names.Get(step))
		return err
	})
	return out, err
}

// time reads an instant as RFC 3339 writes it.
func (p *segmentParser) time() (time.Time, error) {
	const want = "a date and time such as 2024-02-29T13:00:00Z"
	at := p.Offset()
	s, err := p.Bytes()
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339Nano, string(s))
	if err == nil {
		t, err = t.UTC(), checkTime(t)
	}
	if err != nil {
		return time.Time{}, jsonline.Unwanted(at, want, text.Quote(string(s)))
	}
	return t, nil
}

// finish checks what concerns several fields, and cuts the slices to size.
func (p *segmentParser) finish(s *refract.Segment) error {
	if s.ID == "" {
		return failAt(p.pos, 0, "the segment has no id; each needs a non-empty one of its own")
	}
	for _, name := range p.humans {
		i := slices.IndexFunc(p.hypotheses, func(h refract.Hypothesis) bool { return h.System == name })
		if i < 0 {
			return failAt(p.pos, 0, "segment %s: human_systems names %s, which is not in hypotheses", text.Quote(s.ID), text.Quote(name))
		}
		p.hypotheses[i].Human = true
	}
	s.References = clone(p.references)
	s.Variants = clone(p.variants)
	s.Rejected = clone(p.rejected)
	s.Hypotheses = clone(p.hypotheses)
	s.Judgements = clone(p.scores)
	return nil
}

// clone copies to exact size; an empty slice becomes nil.
func clone[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return append(make([]T, 0, len(s)), s...)
}
