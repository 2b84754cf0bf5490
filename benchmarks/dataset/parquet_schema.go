package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// parquetSegment is the schema of a row. Pointers are texts that may be
// missing.
type parquetSegment struct {
	ID         string           `parquet:"id"`
	Source     *string          `parquet:"source"`
	References []*string        `parquet:"references,list"`
	Variants   []parquetVariant `parquet:"variants,list"`
	Rejected   []parquetVariant `parquet:"rejected,list"`
	Document   string           `parquet:"document,dict"`
	Domain     string           `parquet:"domain,dict"`
}

type parquetVariant struct {
	Reference   int32    `parquet:"reference"`
	Prompt      string   `parquet:"prompt,dict"`
	Sample      int64    `parquet:"sample"`
	Model       string   `parquet:"model,dict"`
	Text        *string  `parquet:"text"`
	Finish      string   `parquet:"finish,dict"`
	Verdict     string   `parquet:"verdict,dict"`
	Detail      string   `parquet:"detail"`
	Doubt       *float64 `parquet:"doubt"`
	Review      string   `parquet:"review,dict"`
	Audit       string   `parquet:"audit,dict"`
	AuditedBy   string   `parquet:"audited_by,dict"`
	Revision    string   `parquet:"revision,dict"`
	ServedModel string   `parquet:"served_model,dict"`
	Sampling    string   `parquet:"sampling,dict"`
	Form        string   `parquet:"form,dict"`
	RawIs       string   `parquet:"raw_is,dict"`
	Raw         *string  `parquet:"raw"`
	Cleaned     []string `parquet:"cleaned,list"`
	// Tokens are 0 where unknown.
	PromptTokens     int64  `parquet:"prompt_tokens"`
	CompletionTokens int64  `parquet:"completion_tokens"`
	Created          string `parquet:"created"`
}

// What raw_is says of the answer before it was cleaned: nothing is known of
// the variant's origin, raw is the text itself, it is in raw, or it is
// missing.
const (
	rawUnknown = ""
	rawText    = "text"
	rawOther   = "raw"
	rawMissing = "missing"
)

// fill sets all fields of a row, of which it reuses the slices.
func (r *parquetSegment) fill(s *refract.Segment) {
	r.ID, r.Document, r.Domain = s.ID, s.Document, s.Domain
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

func fillVariants(dst []parquetVariant, variants []refract.Variant) []parquetVariant {
	for i := range variants {
		v := &variants[i]
		p := parquetVariant{
			Reference: int32(v.Reference), Prompt: v.Prompt, Sample: int64(v.Sample), Model: v.Model,
			Text: textPointer(v.Text), Finish: v.Finish, Verdict: v.Verdict, Detail: v.Detail,
			Doubt: v.Doubt, Review: v.Review, Audit: v.Audit, AuditedBy: v.AuditedBy,
		}
		if o := v.Origin; o != nil {
			p.Revision, p.ServedModel, p.Sampling, p.Form, p.Cleaned = o.Revision, o.ServedModel, o.Sampling, o.Form, slices.Clone(o.Cleaned)
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

// fillIn is the inverse of fill.
func (r *parquetSegment) fillIn(s *refract.Segment, names *jsonline.Names) (err error) {
	if r.ID == "" {
		return errors.New("the segment has no id; each needs a non-empty one of its own")
	}
	s.ID, s.Source, s.Document, s.Domain = r.ID, textOf(r.Source), jsonline.Intern(names, r.Document), jsonline.Intern(names, r.Domain)
	for _, t := range r.References {
		s.References = append(s.References, textOf(t))
	}
	if s.Variants, err = variantsOf("variants", r.Variants, names); err != nil {
		return err
	}
	if s.Rejected, err = variantsOf("rejected", r.Rejected, names); err != nil {
		return err
	}
	return cmp.Or(checkVariants(s, len(s.References)), checkUTF8(s))
}

func textOf(p *string) refract.Text {
	if p == nil {
		return refract.Text{}
	}
	return refract.NewText(*p)
}

func variantsOf(field string, rows []parquetVariant, names *jsonline.Names) ([]refract.Variant, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	out := make([]refract.Variant, len(rows))
	for i := range rows {
		p := &rows[i]
		out[i] = refract.Variant{
			Reference: int(p.Reference), Prompt: jsonline.Intern(names, p.Prompt), Sample: int(p.Sample), Model: jsonline.Intern(names, p.Model),
			Text: textOf(p.Text), Finish: jsonline.Intern(names, p.Finish), Verdict: jsonline.Intern(names, p.Verdict), Detail: p.Detail,
			Doubt: p.Doubt, Review: jsonline.Intern(names, p.Review), Audit: jsonline.Intern(names, p.Audit), AuditedBy: jsonline.Intern(names, p.AuditedBy),
		}
		var err error
		if out[i].Origin, err = p.origin(out[i].Text, names); err != nil {
			return nil, fmt.Errorf("%s[%d].%w", field, i, err)
		}
	}
	return out, nil
}

func (p *parquetVariant) origin(own refract.Text, names *jsonline.Names) (*refract.Origin, error) {
	o := &refract.Origin{
		Revision: jsonline.Intern(names, p.Revision), ServedModel: jsonline.Intern(names, p.ServedModel), Sampling: jsonline.Intern(names, p.Sampling), Form: jsonline.Intern(names, p.Form),
		PromptTokens: int(p.PromptTokens), CompletionTokens: int(p.CompletionTokens),
	}
	for _, step := range p.Cleaned {
		o.Cleaned = append(o.Cleaned, jsonline.Intern(names, step))
	}
	switch p.RawIs {
	case rawUnknown:
		if p.Revision+p.ServedModel+p.Sampling+p.Form+p.Created == "" && p.Raw == nil && len(p.Cleaned) == 0 && p.PromptTokens == 0 && p.CompletionTokens == 0 {
			return nil, nil
		}
		return nil, fmt.Errorf("raw_is is %q, but there is an origin; write %q, %q or %q", rawUnknown, rawText, rawOther, rawMissing)
	case rawText:
		o.Raw = own
	case rawOther:
		o.Raw = textOf(p.Raw)
	case rawMissing:
	default:
		return nil, fmt.Errorf("raw_is is %s; write %q, %q or %q", text.Quote(p.RawIs), rawText, rawOther, rawMissing)
	}
	if p.Created != "" {
		t, err := time.Parse(time.RFC3339Nano, p.Created)
		if err == nil {
			t, err = t.UTC(), checkTime(t)
		}
		if err != nil {
			return nil, fmt.Errorf("created is %s; write a date and time such as 2024-02-29T13:00:00Z", text.Quote(p.Created))
		}
		o.Created = t
	}
	return o, nil
}
