package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
)

// record is a segment as a line of JSON Lines and as a row of Parquet. Pointers are texts
// that may be missing.
type record struct {
	ID         recordID        `json:"id" parquet:"id"`
	Source     *string         `json:"source" parquet:"source"`
	References []*string       `json:"references" parquet:"references,list"`
	Variants   []variantRecord `json:"variants" parquet:"variants,list"`
	Rejected   []variantRecord `json:"rejected" parquet:"rejected,list"`
	Hypotheses hypotheses      `json:"hypotheses" parquet:"-"`
	People     []string        `json:"human_systems" parquet:"-"`
	Judgements judgements      `json:"human" parquet:"-"`
	Document   string          `json:"document" parquet:"document,dict"`
	Domain     string          `json:"domain" parquet:"domain,dict"`
	Language   string          `json:"language" parquet:"-"`
	Judged     *refract.Judged `json:"judged" parquet:"-"`

	language string // a language that is known to be one, from the record before
}

type variantRecord struct {
	Reference   int32    `json:"reference" parquet:"reference"`
	Prompt      string   `json:"prompt" parquet:"prompt,dict"`
	Sample      int64    `json:"sample" parquet:"sample"`
	Model       string   `json:"model" parquet:"model,dict"`
	Text        *string  `json:"-" parquet:"text"`
	Finish      string   `json:"finish" parquet:"finish,dict"`
	Verdict     string   `json:"verdict" parquet:"verdict,dict"`
	Detail      string   `json:"detail" parquet:"detail"`
	Alarms      []string `json:"alarms" parquet:"alarms,list"`
	Review      string   `json:"review" parquet:"review,dict"`
	Audit       string   `json:"audit" parquet:"audit,dict"`
	AuditedBy   string   `json:"audited_by" parquet:"audited_by,dict"`
	Revision    string   `json:"revision" parquet:"revision,dict"`
	ServedModel string   `json:"served_model" parquet:"served_model,dict"`
	Sampling    object   `json:"sampling" parquet:"sampling,dict"`
	Form        string   `json:"form" parquet:"form,dict"`
	RawIs       string   `json:"-" parquet:"raw_is,dict"`
	Raw         *string  `json:"-" parquet:"raw"`
	Cleaned     []string `json:"cleaned" parquet:"cleaned,list"`
	// Tokens are 0 if unknown.
	PromptTokens     int64  `json:"prompt_tokens" parquet:"prompt_tokens"`
	CompletionTokens int64  `json:"completion_tokens" parquet:"completion_tokens"`
	Created          string `json:"created" parquet:"created"`
	// The texts of JSON, which may also be absent.
	JSONText jsonText `json:"text" parquet:"-"`
	JSONRaw  jsonText `json:"raw" parquet:"-"`
	Doubt    *float64 `json:"doubt" parquet:"-"` // in older files; replaced by alarms
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
	t.there = true
	switch v.Kind() {
	case '"':
		t.text = refract.NewText(unquoted(v))
	case 'n':
	default:
		return errors.New("must be a string or null")
	}
	return nil
}

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

// hypotheses are an object of texts by system, in the object's order. The slice may have
// those of the line before after its end.
type hypotheses []refract.Hypothesis

// UnmarshalJSONFrom reads the object.
func (hs *hypotheses) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return members(d, func(system jsontext.Value) error {
		var t jsonText
		var before refract.Hypothesis
		if n := len(*hs); n < cap(*hs) {
			before = (*hs)[:n+1][n]
		}
		*hs = append(*hs, refract.Hypothesis{System: again(system, before.System)})
		err := t.UnmarshalJSONFrom(d)
		(*hs)[len(*hs)-1].Text = t.text
		return err
	})
}

// again returns the name from the line before if it is the same, so that a name on all
// lines is stored once.
func again(name jsontext.Value, before string) string {
	if string(name[1:len(name)-1]) == before {
		return before
	}
	return unquoted(name)
}

// judgements are an object of objects of numbers, by name and system; memory is reused as
// in hypotheses.
type judgements []refract.Judgement

// UnmarshalJSONFrom reads the objects.
func (js *judgements) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	name := ""
	return members(d, func(v jsontext.Value) error {
		name = again(v, name)
		return members(d, func(v jsontext.Value) error {
			var before refract.Judgement
			if n := len(*js); n < cap(*js) {
				before = (*js)[:n+1][n]
			}
			j := refract.Judgement{Name: name, System: again(v, before.System)}
			if before.Name == name {
				j.Name = before.Name
			}
			v, err := d.ReadValue()
			if err == nil && v.Kind() != 'n' {
				j.Valid = true
				if j.Score, err = strconv.ParseFloat(string(v), 64); err != nil {
					err = fmt.Errorf("of system %s must be a number or null", text.Quote(j.System))
				}
			}
			*js = append(*js, j)
			return err
		})
	})
}

// members reads an object, or null as an empty one; read reads a value.
func members(d *jsontext.Decoder, read func(name jsontext.Value) error) error {
	switch d.PeekKind() {
	case 'n':
		return d.SkipValue()
	case '{':
	default:
		return errors.New("must be an object")
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadValue()
		if err == nil {
			err = read(name)
		}
		if err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// take takes the texts from JSON. text is required. If raw is absent and there is an
// origin, raw is the text.
func (v *variantRecord) take() error {
	if !v.JSONText.there {
		return errors.New("has no text; write null for a missing one")
	}
	if v.JSONText.text.Valid {
		v.Text = &v.JSONText.text.Value
	}
	switch {
	case v.JSONRaw.text.Valid:
		v.RawIs, v.Raw = rawOther, &v.JSONRaw.text.Value
	case v.JSONRaw.there:
		v.RawIs = rawMissing
	case v.known():
		v.RawIs = rawText
	}
	return nil
}

// known reports whether a field says something about the origin.
func (v *variantRecord) known() bool {
	return v.Revision+v.ServedModel+string(v.Sampling)+v.Form+v.Created != "" || v.Raw != nil || len(v.Cleaned) > 0 || v.PromptTokens != 0 || v.CompletionTokens != 0
}

// fill sets the Parquet fields from a segment, and reuses the slices.
func (r *record) fill(s *refract.Segment) {
	r.ID, r.Document, r.Domain = recordID(s.ID), s.Document, s.Domain
	r.Source = textPointer(s.Source)
	r.References = r.References[:0]
	for _, t := range s.References {
		r.References = append(r.References, textPointer(t))
	}
	r.Variants = fillVariants(r.Variants[:0], s.Variants)
	r.Rejected = fillVariants(r.Rejected[:0], s.Rejected)
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

func fillVariants(dst []variantRecord, variants []refract.Variant) []variantRecord {
	for i := range variants {
		v := &variants[i]
		p := variantRecord{
			Reference: int32(v.Reference), Prompt: v.Prompt, Sample: int64(v.Sample), Model: v.Model,
			Text: textPointer(v.Text), Finish: v.Finish, Verdict: v.Verdict, Detail: v.Detail,
			Alarms: slices.Clone(v.Alarms), Review: v.Review, Audit: v.Audit, AuditedBy: v.AuditedBy,
		}
		if o := v.Origin; o != nil {
			p.Revision, p.ServedModel, p.Sampling, p.Form, p.Cleaned = o.Revision, o.ServedModel, object(o.Sampling), o.Form, slices.Clone(o.Cleaned)
			p.PromptTokens, p.CompletionTokens = int64(o.PromptTokens), int64(o.CompletionTokens)
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
		}
		dst = append(dst, p)
	}
	return dst
}

// segment makes a segment from a line of JSON or a row of Parquet, and checks what no
// decoder checks.
func (r *record) segment(json bool) (*refract.Segment, error) {
	s := &refract.Segment{ID: string(r.ID), Source: textOf(r.Source), Hypotheses: clone(r.Hypotheses), Judgements: clone(r.Judgements), Document: r.Document, Domain: r.Domain, Language: r.Language, Judged: r.Judged}
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
	return s, cmp.Or(err, errRejected)
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
		p := &rows[i]
		var err error
		if json {
			err = p.take()
		}
		if err != nil {
			return nil, fmt.Errorf("%s[%d] %w", field, i, err)
		}
		out[i] = refract.Variant{
			Reference: int(p.Reference), Prompt: p.Prompt, Sample: int(p.Sample), Model: p.Model,
			Text: textOf(p.Text), Finish: p.Finish, Verdict: p.Verdict, Detail: p.Detail,
			Alarms: clone(p.Alarms), Review: p.Review, Audit: p.Audit, AuditedBy: p.AuditedBy,
		}
		if out[i].Origin, err = p.origin(out[i].Text); err == nil {
			err = checkNumbers(&out[i])
		}
		if err != nil {
			return nil, fmt.Errorf("%s[%d] %w", field, i, err)
		}
	}
	return out, nil
}

func (v *variantRecord) origin(own refract.Text) (*refract.Origin, error) {
	o := &refract.Origin{
		Revision: v.Revision, ServedModel: v.ServedModel, Sampling: string(v.Sampling), Form: v.Form, Cleaned: clone(v.Cleaned),
		PromptTokens: int(v.PromptTokens), CompletionTokens: int(v.CompletionTokens),
	}
	switch v.RawIs {
	case rawUnknown:
		if !v.known() {
			return nil, nil
		}
		return nil, fmt.Errorf("has an origin, but raw_is is %q; write %q, %q or %q", rawUnknown, rawText, rawOther, rawMissing)
	case rawText:
		o.Raw = own
	case rawOther:
		o.Raw = textOf(v.Raw)
	case rawMissing:
	default:
		return nil, fmt.Errorf("has the raw_is %s; write %q, %q or %q", text.Quote(v.RawIs), rawText, rawOther, rawMissing)
	}
	if v.Created != "" {
		t, err := time.Parse(time.RFC3339Nano, v.Created)
		if err != nil {
			return nil, fmt.Errorf("was created at %s; write a date and time such as 2024-02-29T13:00:00Z", text.Quote(v.Created))
		}
		o.Created = t.UTC()
	}
	return o, nil
}
