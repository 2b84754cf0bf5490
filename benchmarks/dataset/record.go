package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
)

// record is a segment as a line of JSON Lines and as a row of Parquet: its tags are all that
// readers and writers of both know of the fields, which JSON has in this order. Pointers are
// texts that may be missing; a field with omitempty is not written if it is empty.
type record struct {
	ID         recordID        `json:"id" parquet:"id"`
	Source     *string         `json:"source,omitempty" parquet:"source"`
	References []*string       `json:"references" parquet:"references,list"`
	Variants   []variantRecord `json:"variants,omitempty" parquet:"variants,list"`
	Rejected   []variantRecord `json:"rejected,omitempty" parquet:"rejected,list"`
	Hypotheses hypotheses      `json:"hypotheses,omitempty" parquet:"-"`
	People     []string        `json:"human_systems,omitempty" parquet:"-"`
	Judgements judgements      `json:"human,omitempty" parquet:"-"`
	Ratings    ratings         `json:"ratings,omitempty" parquet:"-"`
	Document   string          `json:"document,omitempty" parquet:"document,dict"`
	Domain     string          `json:"domain,omitempty" parquet:"domain,dict"`
	Language   string          `json:"language,omitempty" parquet:"language,dict"`
	Judged     *refract.Judged `json:"judged,omitempty" parquet:"-"`
	Extra      object          `json:"extra,omitempty" parquet:"extra"`

	language string // a language that is known to be one, from the record before
}

// variantRecord is a variant in a record. A new field of [refract.Variant] needs one here,
// and a line in exchange.
type variantRecord struct {
	Reference   int32    `json:"reference" parquet:"reference"`
	Prompt      string   `json:"prompt" parquet:"prompt,dict"`
	Sample      int      `json:"sample" parquet:"sample"`
	Model       string   `json:"model,omitempty" parquet:"model,dict"`
	Text        *string  `json:"-" parquet:"text"`
	JSONText    jsonText `json:"text" parquet:"-"` // which may also be absent
	Finish      string   `json:"finish,omitempty" parquet:"finish,dict"`
	Revision    string   `json:"revision,omitempty" parquet:"revision,dict"`
	ServedModel string   `json:"served_model,omitempty" parquet:"served_model,dict"`
	Sampling    object   `json:"sampling,omitempty" parquet:"sampling,dict"`
	Form        string   `json:"form,omitempty" parquet:"form,dict"`
	RawIs       string   `json:"-" parquet:"raw_is,dict"`
	Raw         *string  `json:"-" parquet:"raw"`
	JSONRaw     jsonText `json:"raw,omitempty" parquet:"-"`
	Cleaned     []string `json:"cleaned,omitempty" parquet:"cleaned,list"`
	// Tokens are 0 if unknown.
	PromptTokens     int      `json:"prompt_tokens,omitempty" parquet:"prompt_tokens"`
	CompletionTokens int      `json:"completion_tokens,omitempty" parquet:"completion_tokens"`
	Created          string   `json:"created,omitempty" parquet:"created"`
	Verdict          string   `json:"verdict,omitempty" parquet:"verdict,dict"`
	Detail           string   `json:"detail,omitempty" parquet:"detail"`
	Alarms           []string `json:"alarms,omitempty" parquet:"alarms,list"`
	Review           string   `json:"review,omitempty" parquet:"review,dict"`
	Audit            string   `json:"audit,omitempty" parquet:"audit,dict"`
	// In files of earlier versions, and ignored.
	AuditedBy string   `json:"audited_by,omitempty" parquet:"-"`
	Doubt     *float64 `json:"doubt,omitempty" parquet:"-"`
}

// pair is a field of a row and the same field of a variant.
type pair[T any] struct{ row, own *T }

// ends returns where a field is copied from, and where to.
func (f pair[T]) ends(toRow bool) (from, to *T) {
	if toRow {
		return f.own, f.row
	}
	return f.row, f.own
}

// exchange copies what a row and a variant with its origin have in common, to the row or
// from it, and reports whether the texts are UTF-8.
func (p *variantRecord) exchange(toRow bool, v *refract.Variant, o *refract.Origin) (valid bool) {
	valid = true
	for _, f := range [...]pair[string]{
		{&p.Prompt, &v.Prompt}, {&p.Model, &v.Model}, {&p.Finish, &v.Finish}, {&p.Verdict, &v.Verdict}, {&p.Detail, &v.Detail}, {&p.Review, &v.Review}, {&p.Audit, &v.Audit},
		{&p.Revision, &o.Revision}, {&p.ServedModel, &o.ServedModel}, {(*string)(&p.Sampling), &o.Sampling}, {&p.Form, &o.Form},
	} {
		from, to := f.ends(toRow)
		*to = *from
		valid = valid && utf8.ValidString(*to)
	}
	for _, f := range [...]pair[[]string]{{&p.Alarms, &v.Alarms}, {&p.Cleaned, &o.Cleaned}} {
		from, to := f.ends(toRow)
		*to = clone(*from)
		valid = valid && !slices.ContainsFunc(*to, func(s string) bool { return !utf8.ValidString(s) })
	}
	for _, f := range [...]pair[int]{{&p.Sample, &v.Sample}, {&p.PromptTokens, &o.PromptTokens}, {&p.CompletionTokens, &o.CompletionTokens}} {
		from, to := f.ends(toRow)
		*to = *from
	}
	return valid
}

// The values of raw_is, about the answer before it was cleaned: the variant's origin is
// unknown, the answer is the text itself, it is in raw, or it is missing.
const (
	rawUnknown = ""
	rawText    = "text"
	rawOther   = "raw"
	rawMissing = "missing"
)

// recordID is a string or, in JSON, a number as written.
type recordID string

// UnmarshalJSONFrom reads an id.
func (id *recordID) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	switch v.Kind() {
	case '"':
		*id = recordID(unquoted(v))
	case '0':
		*id = recordID(v)
	default:
		return errors.New("must be a string or a number")
	}
	return nil
}

// unquoted returns the content of a JSON string.
func unquoted(v jsontext.Value) string {
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1])
	}
	b, _ := jsontext.AppendUnquote(nil, v) // the decoder has checked it
	return string(b)
}

// jsonText is a text, null or absent.
type jsonText struct {
	text  refract.Text
	there bool
}

// UnmarshalJSONFrom reads a text or null.
func (t *jsonText) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	*t = jsonText{there: true}
	switch v.Kind() {
	case '"':
		t.text = refract.NewText(unquoted(v))
	case 'n':
	default:
		return errNoText
	}
	return nil
}

func (t *jsonText) read(d *jsontext.Decoder, system string) error {
	if err := t.UnmarshalJSONFrom(d); !errors.Is(err, errNoText) {
		return err
	}
	return fmt.Errorf("of system %s %w", text.Quote(system), errNoText)
}

// errNoText says that a JSON value is no text.
var errNoText = errors.New("must be a string or null")

// object is a JSON object, as written.
type object string

// UnmarshalJSONFrom reads an object, or null as none.
func (o *object) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	switch {
	case err != nil || v.Kind() == 'n':
		return err
	case v.Kind() != '{':
		return errors.New("must be an object")
	}
	*o = object(v)
	return nil
}

// take takes the texts from JSON. text is required. If raw is absent and there is an
// origin, raw is the text.
func (p *variantRecord) take() error {
	if !p.JSONText.there {
		return errors.New("has no text; write null for a missing one")
	}
	if p.JSONText.text.Valid {
		p.Text = &p.JSONText.text.Value
	}
	switch {
	case p.JSONRaw.text.Valid:
		p.RawIs, p.Raw = rawOther, &p.JSONRaw.text.Value
	case p.JSONRaw.there:
		p.RawIs = rawMissing
	case p.known():
		p.RawIs = rawText
	}
	return nil
}

// known reports whether a field says something about the origin.
func (p *variantRecord) known() bool {
	return p.Revision+p.ServedModel+string(p.Sampling)+p.Form+p.Created != "" || p.Raw != nil || len(p.Cleaned) > 0 || p.PromptTokens != 0 || p.CompletionTokens != 0
}

// fill takes a segment, and reports what a reader would refuse. It reuses the slices.
func (r *record) fill(s *refract.Segment) error {
	r.ID, r.Source, r.Document, r.Domain, r.Language, r.Judged, r.Extra = recordID(s.ID), textPointer(s.Source), s.Document, s.Domain, s.Language, s.Judged, object(s.Extra)
	r.References, r.People = r.References[:0], r.People[:0]
	for i := range s.References {
		r.References = append(r.References, textPointer(s.References[i]))
	}
	r.Hypotheses, r.Judgements, r.Ratings = r.Hypotheses[:0], r.Judgements[:0], r.Ratings[:0]
	for _, h := range s.Hypotheses {
		if r.Hypotheses.add(h.System).text = h.Text; h.Human {
			r.People = append(r.People, h.System)
		}
	}
	for _, j := range s.Judgements {
		*r.Judgements.of(j.Name).add(j.System) = Score{j.Score, j.Valid}
		for _, of := range j.Ratings {
			*r.Ratings.of(of.Rater).of(j.Name).add(j.System) = Score{of.Score, true}
		}
	}
	if s.ID == "" {
		return errors.New("it has no id")
	}
	if _, _, err := Languages(s.Language); s.Language != "" && err != nil {
		return err
	}
	err := cmp.Or(checkParents(s, len(s.References)), checkSystems(s), checkUTF8(s), checkObject(s.Extra, "extra columns"))
	var wrong, wrongRejected error
	r.Variants, wrong = fillVariants("variants", r.Variants[:0], s.Variants)
	r.Rejected, wrongRejected = fillVariants("rejected", r.Rejected[:0], s.Rejected)
	return cmp.Or(err, wrong, wrongRejected)
}

func textPointer(t refract.Text) *string {
	if !t.Valid {
		return nil
	}
	return &t.Value
}

func textOf(p *string) refract.Text {
	if p == nil {
		return refract.Text{}
	}
	return refract.NewText(*p)
}

func fillVariants(field string, dst []variantRecord, variants []refract.Variant) ([]variantRecord, error) {
	for i := range variants {
		dst = append(dst, variantRecord{})
		if err := dst[i].fill(&variants[i]); err != nil {
			return dst, fmt.Errorf("%s[%d] %w", field, i, err)
		}
	}
	return dst, nil
}

// fill takes a variant, and reports what a reader would refuse. In JSON an origin has at
// least one field, so that it can be distinguished from none: raw if there is no other.
// Otherwise raw is omitted if it equals the text.
func (p *variantRecord) fill(v *refract.Variant) error {
	o := cmp.Or(v.Origin, &noOrigin)
	valid := p.exchange(true, v, o) && utf8.ValidString(v.Text.Value) && utf8.ValidString(o.Raw.Value)
	p.Reference, p.Text, p.JSONText = int32(v.Reference), textPointer(v.Text), jsonText{v.Text, true}
	if !valid {
		return errNotUTF8
	}
	if v.Origin == nil {
		return checkNumbers(v)
	}
	if !o.Created.IsZero() {
		p.Created = o.Created.UTC().Format(time.RFC3339Nano)
	}
	switch {
	case o.Raw == v.Text:
		p.RawIs = rawText
	case o.Raw.Valid:
		p.RawIs, p.Raw = rawOther, textPointer(o.Raw)
	default:
		p.RawIs = rawMissing
	}
	if p.RawIs != rawText || !p.known() {
		p.JSONRaw = jsonText{o.Raw, true}
	}
	return cmp.Or(checkObject(o.Sampling, "sampling parameters"), checkNumbers(v))
}

// noOrigin is what a variant without an origin says of it.
var noOrigin refract.Origin

var errNotUTF8 = errors.New("is not UTF-8")

// segment makes a segment from a line of JSON or a row of Parquet, and checks what no
// decoder checks.
func (r *record) segment(json bool) (*refract.Segment, error) {
	s := &refract.Segment{ID: string(r.ID), Source: textOf(r.Source), Document: r.Document, Domain: r.Domain, Language: r.Language, Judged: r.Judged, Extra: string(r.Extra)}
	scored := 0
	for _, of := range r.Judgements {
		scored += len(of.value)
	}
	s.Hypotheses, s.Judgements = slices.Grow(s.Hypotheses, len(r.Hypotheses)), slices.Grow(s.Judgements, scored)
	for _, h := range r.Hypotheses {
		s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: h.name, Text: h.value.text})
	}
	for _, of := range r.Judgements {
		for _, j := range of.value {
			s.Judgements = append(s.Judgements, refract.Judgement{Name: of.name, System: j.name, Score: j.value.Value, Valid: j.value.Valid})
		}
	}
	r.rate(&s.Judgements)
	if s.ID == "" {
		return nil, errors.New("the segment has no id; each segment needs a unique, non-empty id")
	}
	if len(r.References) > 0 {
		s.References = make([]refract.Text, len(r.References))
	}
	for i, t := range r.References {
		s.References[i] = textOf(t)
	}
	var systems map[string]int
	if len(r.People) > 0 {
		systems = make(map[string]int, len(s.Hypotheses))
		for i := range s.Hypotheses {
			systems[s.Hypotheses[i].System] = i
		}
	}
	for _, name := range r.People {
		i, known := systems[name]
		switch {
		case !known:
			return nil, fmt.Errorf("segment %s: human_systems names %s, which is not in hypotheses", text.Quote(s.ID), text.Quote(name))
		case s.Hypotheses[i].Human:
			return nil, fmt.Errorf("system %s is twice in human_systems", text.Quote(name))
		}
		s.Hypotheses[i].Human = true
	}
	if j := s.Judged; j != nil && (min(j.Flagged, j.HumanFlagged, j.Unjudged) < 0 || j.Flagged > j.Asked || j.HumanFlagged > j.Human) {
		return nil, fmt.Errorf("segment %s: judged has more flagged than asked, or fewer than none", text.Quote(s.ID))
	}
	if s.Language != "" && s.Language != r.language {
		if _, _, err := Languages(s.Language); err != nil {
			return nil, fmt.Errorf("segment %s: %v", text.Quote(s.ID), err) // not an error of the command line
		}
		r.language = s.Language
	}
	var err, errRejected error
	s.Variants, err = variantsOf("variants", r.Variants, json)
	s.Rejected, errRejected = variantsOf("rejected", r.Rejected, json)
	if err = cmp.Or(err, errRejected); err == nil && !json {
		err = cmp.Or(checkUTF8(s), checkObject(s.Extra, "extra columns"))
	}
	return s, err
}

// clone copies with exact capacity; an empty slice becomes nil.
func clone[S ~[]T, T any](s S) []T {
	if len(s) == 0 {
		return nil
	}
	return append(make([]T, 0, len(s)), s...)
}

func variantsOf(field string, rows []variantRecord, json bool) ([]refract.Variant, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	out := make([]refract.Variant, len(rows))
	for i := range rows {
		var err error
		if json {
			err = rows[i].take()
		}
		if err == nil {
			err = rows[i].variant(&out[i], json)
		}
		if err != nil {
			return nil, fmt.Errorf("%s[%d] %w", field, i, err)
		}
	}
	return out, nil
}

// variant makes a variant from a row. The decoder of JSON has checked its texts.
func (p *variantRecord) variant(out *refract.Variant, json bool) error {
	var o refract.Origin
	valid := p.exchange(false, out, &o)
	out.Reference, out.Text, o.Raw = int(p.Reference), textOf(p.Text), textOf(p.Raw)
	if !json && !(valid && utf8.ValidString(out.Text.Value) && utf8.ValidString(o.Raw.Value)) {
		return errNotUTF8
	}
	if err := p.origin(&o, out.Text); err != nil {
		return err
	}
	if p.RawIs != rawUnknown {
		origin := o
		out.Origin = &origin
	}
	if !json {
		if err := checkObject(o.Sampling, "sampling parameters"); err != nil {
			return err
		}
	}
	return checkNumbers(out)
}

// origin takes what is written differently than in an Origin.
func (p *variantRecord) origin(o *refract.Origin, own refract.Text) error {
	switch p.RawIs {
	case rawUnknown:
		if p.known() {
			return fmt.Errorf("has an origin, but raw_is is %q; write %q, %q or %q", rawUnknown, rawText, rawOther, rawMissing)
		}
	case rawText:
		o.Raw = own
	case rawOther:
	case rawMissing:
		o.Raw = refract.Text{}
	default:
		return fmt.Errorf("has the raw_is %s; write %q, %q or %q", text.Quote(p.RawIs), rawText, rawOther, rawMissing)
	}
	if p.Created != "" {
		t, err := time.Parse(time.RFC3339Nano, p.Created)
		if err != nil {
			return fmt.Errorf("was created at %s; write a date and time such as 2024-02-29T13:00:00Z", text.Quote(p.Created))
		}
		o.Created = t.UTC()
	}
	return nil
}
