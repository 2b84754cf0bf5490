package dataset

import (
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract"
)

// The fields of a segment and of a variant, in the order in which they are
// written.
var (
	segmentFields = []string{"id", "source", "references", "variants", "rejected", "hypotheses", "human_systems", "human", "document", "domain"}
	variantFields = []string{"reference", "prompt", "sample", "model", "text", "finish",
		"revision", "served_model", "sampling", "raw", "cleaned", "prompt_tokens", "completion_tokens", "created",
		"verdict", "detail"}
)

// row is one line of JSON Lines.
type row struct {
	segment       *refract.Segment
	hasReferences bool // the field is there, be it empty
	hasVariants   bool // or rejected ones
}

// segmentParser reads rows. It is reused for all lines of a file.
type segmentParser struct {
	jsonScanner
	judgements func(name string) bool // which to keep; nil: none
	names      interner

	// Memory that is reused: slices of the segment are cut to size at its end.
	references []refract.Text
	variants   []refract.Variant
	rejected   []refract.Variant
	hypotheses []refract.Hypothesis
	scores     []refract.Judgement
	humans     []string
	systems    nameSet
	kinds      nameSet
	scored     nameSet
	document   string // of the segment before
}

// parse reads one line. The segment keeps parts of it.
func (p *segmentParser) parse(line string, pos refract.Position) (row, error) {
	p.s, p.i, p.pos = line, 0, pos
	if p.peek() != '{' {
		return row{}, p.notObject()
	}
	p.references, p.variants, p.rejected, p.hypotheses = p.references[:0], p.variants[:0], p.rejected[:0], p.hypotheses[:0]
	p.scores, p.humans = p.scores[:0], p.humans[:0]
	r := row{segment: &refract.Segment{Pos: pos}}
	var seen uint
	err := p.object(func(key string) error {
		f := slices.Index(segmentFields, key)
		if f < 0 {
			return p.unknownField("", key, segmentFields)
		}
		if seen&(1<<f) != 0 {
			return failAt(p.pos, p.key+1, "field %q is there twice", key)
		}
		seen |= 1 << f
		return p.field(&r, key)
	})
	if err == nil {
		err = p.end()
	}
	if err == nil {
		err = p.finish(r.segment)
	}
	if err != nil {
		return row{}, err
	}
	return r, nil
}

func (p *segmentParser) notObject() error {
	err := p.kind("an object")
	if k, ok := err.(*kindError); ok {
		return failAt(p.pos, k.column, "a segment must be a JSON object on one line, not %s", k.got)
	}
	return err
}

func (p *segmentParser) unknownField(in, key string, known []string) error {
	hint := didYouMean(key, known)
	if hint == "" {
		hint = "; the fields are " + strings.Join(known, ", ")
	}
	return failAt(p.pos, p.key+1, "unknown field %s%s%s", in, quote(key), hint)
}

// field reads the value of one field of the segment.
func (p *segmentParser) field(r *row, key string) (err error) {
	s := r.segment
	switch key {
	case "id":
		s.ID, err = p.id()
	case "source":
		s.Source, err = p.text()
	case "document":
		s.Document, err = p.optional()
		if s.Document == p.document {
			s.Document = p.document
		} else {
			p.document = strings.Clone(s.Document)
			s.Document = p.document
		}
	case "domain":
		s.Domain, err = p.optional()
		s.Domain = p.names.get(s.Domain)
	case "references":
		r.hasReferences = true
		return p.nullable(key, p.readReferences)
	case "variants":
		r.hasVariants = true
		return p.nullable(key, func() error { return p.readVariants(key, &p.variants) })
	case "rejected":
		r.hasVariants = true
		return p.nullable(key, func() error { return p.readVariants(key, &p.rejected) })
	case "hypotheses":
		p.systems.reset()
		return p.nullable(key, p.readHypotheses)
	case "human_systems":
		return p.nullable(key, p.readHumanSystems)
	case "human":
		p.kinds.reset()
		return p.nullable(key, p.readHuman)
	}
	if err != nil {
		return p.in(err, "%s", key)
	}
	return nil
}

// nullable reads the value of a field that may be null, which stands for an
// empty one.
func (p *segmentParser) nullable(key string, read func() error) error {
	if p.null() {
		return nil
	}
	if err := read(); err != nil {
		return p.in(err, "%s", key)
	}
	return nil
}

func (p *segmentParser) id() (string, error) {
	var id string
	var err error
	switch c := p.peek(); {
	case c == '"':
		id, err = p.str()
	case c == '-' || '0' <= c && c <= '9':
		id, err = p.number()
	default:
		err = p.kind("a string or a number")
	}
	// An id may be kept for long, and must not keep its line.
	return strings.Clone(id), err
}

func (p *segmentParser) readReferences() error {
	return p.array(func(i int) error {
		t, err := p.text()
		if err != nil {
			return p.in(err, "references[%d]", i)
		}
		p.references = append(p.references, t)
		return nil
	})
}

func (p *segmentParser) readHypotheses() error {
	return p.object(func(key string) error {
		key = p.names.get(key)
		if !p.systems.add(key) {
			return failAt(p.pos, p.key+1, "system %s is twice in hypotheses", quote(key))
		}
		t, err := p.text()
		if err != nil {
			return p.in(err, "hypotheses[%s]", quote(key))
		}
		p.hypotheses = append(p.hypotheses, refract.Hypothesis{System: key, Text: t})
		return nil
	})
}

func (p *segmentParser) readHumanSystems() error {
	return p.array(func(i int) error {
		p.peek()
		at := p.i
		name, err := p.str()
		if err != nil {
			return p.in(err, "human_systems[%d]", i)
		}
		if slices.Contains(p.humans, name) {
			return failAt(p.pos, at+1, "system %s is twice in human_systems", quote(name))
		}
		p.humans = append(p.humans, name)
		return nil
	})
}

func (p *segmentParser) readHuman() error {
	return p.object(func(name string) error {
		name = p.names.get(name)
		if !p.kinds.add(name) {
			return failAt(p.pos, p.key+1, "name %s is twice in human", quote(name))
		}
		keep := p.judgements != nil && p.judgements(name)
		p.scored.reset()
		err := p.object(func(system string) error {
			system = p.names.get(system)
			if !p.scored.add(system) {
				return failAt(p.pos, p.key+1, "system %s is twice in human[%s]", quote(system), quote(name))
			}
			j := refract.Judgement{Name: name, System: system}
			var err error
			if j.Score, j.Valid, err = p.score(); err != nil {
				return p.in(err, "human[%s][%s]", quote(name), quote(system))
			}
			if keep {
				p.scores = append(p.scores, j)
			}
			return nil
		})
		if err != nil {
			return p.in(err, "human[%s]", quote(name))
		}
		return nil
	})
}

// score reads a number, or null.
func (p *segmentParser) score() (value float64, valid bool, err error) {
	if p.null() {
		return 0, false, nil
	}
	const want = "a number or null"
	c := p.peek()
	if c != '-' && (c < '0' || c > '9') {
		return 0, false, p.kind(want)
	}
	at := p.i
	literal, err := p.number()
	if err != nil {
		return 0, false, err
	}
	value, err = strconv.ParseFloat(literal, 64)
	if err != nil {
		return 0, false, &kindError{column: at + 1, want: want, got: "one that is out of range"}
	}
	return value, true, nil
}

// finish checks what concerns several fields, and cuts the slices to size.
func (p *segmentParser) finish(s *refract.Segment) error {
	if s.ID == "" {
		return failAt(p.pos, 0, "the segment has no id; each needs a non-empty one of its own")
	}
	for _, name := range p.humans {
		i := slices.IndexFunc(p.hypotheses, func(h refract.Hypothesis) bool { return h.System == name })
		if i < 0 {
			return failAt(p.pos, 0, "segment %s: human_systems names %s, which is not in hypotheses", quote(s.ID), quote(name))
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

// interner gives one string for all equal names, so that a name neither
// costs an allocation nor keeps its line. It has a bound, for files in which
// every name is new.
type interner map[string]string

func (n interner) get(s string) string {
	if s == "" {
		return ""
	}
	if v, ok := n[s]; ok {
		return v
	}
	v := strings.Clone(s)
	if len(n) < 4096 {
		n[v] = v
	}
	return v
}

// nameSet finds repeated names: by comparing while they are few.
type nameSet struct {
	list []string
	many map[string]bool
}

func (n *nameSet) reset() {
	n.list = n.list[:0]
	clear(n.many)
}

// add returns false when the name is there already.
func (n *nameSet) add(name string) bool {
	const few = 32
	if len(n.list) < few {
		if slices.Contains(n.list, name) {
			return false
		}
		n.list = append(n.list, name)
		return true
	}
	if n.many == nil {
		n.many = map[string]bool{}
	}
	if len(n.many) == 0 {
		for _, v := range n.list {
			n.many[v] = true
		}
	}
	if n.many[name] {
		return false
	}
	n.many[name] = true
	return true
}
