package review

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// Verdict is the verdict on an answer that a person rejected.
const Verdict = "review"

// edited is the step that names a person's wording among those that changed an
// answer.
const edited = "review"

// Apply returns the dataset with the decisions carried out: answers that were
// accepted or edited are variants, those that were rejected are not, and all
// state it in Review. An answer that would give a segment the same text twice stays
// rejected, see Repeats. A decision about an answer that the dataset does not have
// is an error at the end of the segments, since it was made about other data.
func (d *Decisions) Apply(ds refract.Dataset) refract.Dataset { return &applied{ds, d} }

type applied struct {
	refract.Dataset
	decisions *Decisions
}

// Origin returns the dataset without the decisions.
func (a *applied) Origin() refract.Dataset { return a.Dataset }

// Segments implements [refract.Dataset].
func (a *applied) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		met := map[string]bool{}
		for s, err := range a.Dataset.Segments(ctx) {
			if err == nil {
				s, err = a.decisions.carryOut(s, met)
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
		if err := a.decisions.unmet(met); err != nil {
			yield(nil, err)
		}
	}
}

// carryOut returns the segment as decided. Answers keep their order.
func (d *Decisions) carryOut(s *refract.Segment, met map[string]bool) (*refract.Segment, error) {
	var variants, rejected []refract.Variant
	var brought []int // indexes of variants whose text the decisions bring in
	changed := false
	for i, v := range slices.Concat(s.Variants, s.Rejected) {
		serves := i < len(s.Variants)
		if one, ok := d.by[Key(s, &v)]; ok {
			met[one.Answer], changed = true, true
			if one.Segment != "" && one.Segment != s.ID || one.Prompt != "" && one.Prompt != v.Prompt {
				return nil, fmt.Errorf("%s: the decision of segment %s, prompt %s, names an answer of segment %s, prompt %s; its line was changed: review the answer again",
					text.Path(d.Path), text.Quote(one.Segment), text.Quote(one.Prompt), text.Quote(s.ID), text.Quote(v.Prompt))
			}
			err := one.suits(referenceOf(s, &v).Value)
			if err == nil {
				err = one.settle(&v)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: segment %s, prompt %s: %w", d.Path, text.Quote(s.ID), text.Quote(v.Prompt), err)
			}
			if one.Choice == Edit || one.Choice == Accept && !serves {
				brought = append(brought, len(variants))
			}
			serves = one.Choice != Reject
		}
		if serves {
			variants = append(variants, v)
		} else {
			rejected = append(rejected, v)
		}
	}
	if !changed {
		return s, nil
	}
	out := *s
	out.Variants, out.Rejected = variants, rejected
	d.rejectRepeats(&out, brought)
	return &out, nil
}

// rejectRepeats rejects variants that were brought in and have a text that the
// segment has already.
func (d *Decisions) rejectRepeats(s *refract.Segment, brought []int) {
	if len(brought) == 0 {
		return
	}
	has := map[string]string{} // verdicts on a repeated text
	for i, v := range s.Variants {
		if !slices.Contains(brought, i) {
			has[v.Text.Value] = check.ReasonDuplicate
		}
	}
	for _, r := range s.References {
		if r.Valid {
			has[r.Value] = check.ReasonCopy
		}
	}
	var kept []refract.Variant
	for i, v := range s.Variants {
		if slices.Contains(brought, i) {
			if verdict := has[v.Text.Value]; verdict != "" {
				what := "another variant"
				if verdict == check.ReasonCopy {
					what = "an original"
				}
				d.repeats[Key(s, &v)] = true
				v.Verdict, v.Detail = verdict, fmt.Sprintf("a person's decision is %s, but %s has the same text", v.Review, what)
				s.Rejected = append(s.Rejected, v)
				continue
			}
			has[v.Text.Value] = check.ReasonDuplicate
		}
		kept = append(kept, v)
	}
	s.Variants = kept
}

// settle makes a variant what was decided.
func (d *Decision) settle(v *refract.Variant) error {
	v.Review = d.Choice
	if d.Drawn && v.Audit == "" {
		v.Audit = refract.AuditSampled
	}
	switch d.Choice {
	case Reject:
		v.Verdict, v.Detail = Verdict, "a person rejected it"
		return nil
	case Edit:
		origin := refract.Origin{Raw: v.Text}
		if v.Origin != nil {
			origin = *v.Origin
		}
		if !slices.Contains(origin.Cleaned, edited) {
			origin.Cleaned = append(slices.Clip(origin.Cleaned), edited)
		}
		v.Origin, v.Text = &origin, refract.NewText(d.Text)
	}
	if !v.Text.Valid {
		return fmt.Errorf("the decision is %s, but the answer has no text; edit it, or reject it", d.Choice)
	}
	v.Verdict, v.Detail = refract.Accepted, ""
	return nil
}

// unmet says which decisions are about no answer of the dataset.
func (d *Decisions) unmet(met map[string]bool) error {
	var first Decision
	n := 0
	for key, one := range d.by {
		if met[key] {
			continue
		}
		if n++; n == 1 || one.Segment < first.Segment || one.Segment == first.Segment && key < first.Answer {
			first = one
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s about answers that the dataset does not have, such as one of segment %s, prompt %s: "+
		"name the dataset that was reviewed; its references and answers must be the same",
		text.Path(d.Path), english.Count(n, "decision"), text.Quote(first.Segment), text.Quote(first.Prompt))
}
