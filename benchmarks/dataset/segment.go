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

// The fields of a segment and of a variant, in the order in which they are
// written.
var (
	segmentFields = []string{"id", "source", "references", "variants", "rejected", "hypotheses", "human_systems", "human", "document", "domain"}
	variantFields = []string{"reference", "prompt", "sample", "model", "text", "finish",
		"revision", "served_model", "sampling", "raw", "cleaned", "prompt_tokens", "completion_tokens", "created",
		"form", "verdict", "detail", "doubt", "review", "audit", "audited_by"}
)

// row is one line of JSON Lines.
type row struct {
	segment       *refract.Segment
	hasReferences bool // the field is there, be it empty
	hasVariants   bool // or rejected ones
}

// segmentParser reads rows. It is reused for all lines of a file.
type segmentParser struct {
	json  *jsonline.Reader
	pos   refract.Position
	names jsonline.Names

	// Memory that is reused: slices of the segment are cut to size at its end.
	references []refract.Text
	variants   []refract.Variant
	rejected   []refract.Variant
	hypotheses []refract.Hypothesis
	scores     []refract.Judgement
	humans     []string
	document   string // of the segment before
}

// parse reads one line. The segment keeps parts of a copy of it.
func (p *segmentParser) parse(line []byte, pos refract.Position) (row, error) {
	if p.json == nil {
		p.json = &jsonline.Reader{}
	}
	p.json.Reset(line)
	r, err := p.object(pos)
	if err == nil {
		err = p.json.End()
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
	r := row{segment: &refract.Segment{Pos: pos}}
	return r, p.json.Fields(segmentFields, func(name string) error { return p.field(&r, name) })
}

// ReadSegments reads an array of segments, of which an id is that of no other. One
// without an id is called by its number, from 1. More than the most are an error, before
// they take memory. An error names no file.
func ReadSegments(r *jsonline.Reader, most int) ([]*refract.Segment, error) {
	p := &segmentParser{json: r}
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

// field reads the value of one field of the segment. null is an empty value.
func (p *segmentParser) field(r *row, name string) (err error) {
	s := r.segment
	switch name {
	case "id":
		var id []byte
		id, err = p.json.ID()
		s.ID = string(id)
	case "source":
		s.Source, err = readText(p.json)
	case "document":
		s.Document, err = readOptional(p.json)
		if s.Document != p.document {
			p.document = string([]byte(s.Document)) // which must not keep its line
		}
		s.Document = p.document
	case "domain":
		s.Domain, err = readName(p.json, &p.names)
	case "references":
		r.hasReferences = true
		return p.json.OrNull(p.readReferences)
	case "variants":
		r.hasVariants = true
		return p.json.OrNull(func() error { return p.readVariants(&p.variants) })
	case "rejected":
		r.hasVariants = true
		return p.json.OrNull(func() error { return p.readVariants(&p.rejected) })
	case "hypotheses":
		return p.json.OrNull(p.readHypotheses)
	case "human_systems":
		return p.json.OrNull(p.readHumanSystems)
	case "human":
		return p.json.OrNull(p.readHuman)
	}
	return err
}

func (p *segmentParser) readReferences() error {
	return p.json.Elements(func(int) error {
		t, err := readText(p.json)
		p.references = append(p.references, t)
		return err
	})
}

func (p *segmentParser) readHypotheses() error {
	return p.json.Members("system", func(name []byte) error {
		h := refract.Hypothesis{System: p.names.Get(name)}
		var err error
		h.Text, err = readText(p.json)
		p.hypotheses = append(p.hypotheses, h)
		return err
	})
}

func (p *segmentParser) readHumanSystems() error {
	return p.json.Elements(func(int) error {
		at := p.json.Offset()
		name, err := p.json.String()
		if err == nil && slices.Contains(p.humans, name) {
			err = jsonline.Fault(at, "system %s is twice in human_systems", text.Quote(name))
		}
		p.humans = append(p.humans, name)
		return err
	})
}

func (p *segmentParser) readHuman() error {
	return p.json.Members("name", func(b []byte) error {
		name := p.names.Get(b)
		return p.json.Members("system", func(system []byte) error {
			score, valid, err := p.json.OptionalFloat()
			p.scores = append(p.scores, refract.Judgement{Name: name, System: p.names.Get(system), Score: score, Valid: valid})
			return err
		})
	})
}

// readVariants reads "variants" or "rejected".
func (p *segmentParser) readVariants(dst *[]refract.Variant) error {
	return p.json.Elements(func(int) error {
		var v refract.Variant
		var origin originParser
		hasText := false
		err := p.json.Fields(variantFields, func(name string) error {
			hasText = hasText || name == "text"
			return p.variantField(&v, &origin, name)
		})
		if err == nil && !hasText {
			err = p.json.Lacks("text; write null for a missing one")
		}
		v.Origin = origin.finish(v.Text)
		*dst = append(*dst, v)
		return err
	})
}

func (p *segmentParser) variantField(v *refract.Variant, o *originParser, name string) (err error) {
	switch name {
	case "reference":
		v.Reference, err = p.json.Index()
	case "sample":
		v.Sample, err = p.json.Index()
	case "prompt":
		v.Prompt, err = readName(p.json, &p.names)
	case "model":
		v.Model, err = readName(p.json, &p.names)
	case "finish":
		v.Finish, err = readName(p.json, &p.names)
	case "text":
		v.Text, err = readText(p.json)
	case "verdict":
		v.Verdict, err = readName(p.json, &p.names)
	case "detail":
		v.Detail, err = readOptional(p.json)
	case "review":
		v.Review, err = readName(p.json, &p.names)
	case "audit":
		v.Audit, err = readName(p.json, &p.names)
	case "audited_by":
		v.AuditedBy, err = readName(p.json, &p.names)
	case "doubt":
		return p.doubt(v)
	case "raw": // null says that it is missing, and not that it is not stated
		o.hasRaw = true
		o.get().Raw, err = readText(p.json)
	default:
		return p.json.OrNull(func() error { return p.originField(o.get(), name) })
	}
	return err
}

func (p *segmentParser) doubt(v *refract.Variant) error {
	at := p.json.Offset()
	d, ok, err := p.json.OptionalFloat()
	switch {
	case err != nil || !ok:
		return err
	case d < 0 || d > 1:
		return jsonline.Unwanted(at, "a number from 0 to 1", strconv.FormatFloat(d, 'g', -1, 64))
	}
	v.Doubt = &d
	return nil
}

// originParser gathers an Origin, of which there is none before a field of it
// has come.
type originParser struct {
	origin *refract.Origin
	hasRaw bool
}

func (o *originParser) get() *refract.Origin {
	if o.origin == nil {
		o.origin = &refract.Origin{}
	}
	return o.origin
}

// finish returns the origin. A raw text that is not stated is the text itself.
func (o *originParser) finish(text refract.Text) *refract.Origin {
	if o.origin != nil && !o.hasRaw {
		o.origin.Raw = text
	}
	return o.origin
}

func (p *segmentParser) originField(o *refract.Origin, name string) (err error) {
	switch name {
	case "revision":
		o.Revision, err = readName(p.json, &p.names)
	case "served_model":
		o.ServedModel, err = readName(p.json, &p.names)
	case "form":
		o.Form, err = readName(p.json, &p.names)
	case "sampling":
		var raw []byte
		raw, err = p.json.RawObject()
		o.Sampling = p.names.Get(raw)
	case "cleaned":
		return p.json.Elements(func(int) error {
			step, err := p.json.Bytes()
			o.Cleaned = append(o.Cleaned, p.names.Get(step))
			return err
		})
	case "prompt_tokens":
		o.PromptTokens, err = p.json.Index()
	case "completion_tokens":
		o.CompletionTokens, err = p.json.Index()
	case "created":
		o.Created, err = p.time()
	}
	return err
}

// time reads an instant as RFC 3339 writes it.
func (p *segmentParser) time() (time.Time, error) {
	const want = "a date and time such as 2024-02-29T13:00:00Z"
	at := p.json.Offset()
	s, err := p.json.Bytes()
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
