package review

import (
	"cmp"
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

// Apply returns the dataset with the decisions carried out: accepted and edited answers
// become variants, rejected ones do not, and Review states the decision. An answer that
// would give a segment the same text twice stays rejected, see Repeats. A decision about an
// answer that the dataset lacks was made about other data, and is an error after the last
// segment.
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
		if err := a.decisions.checkAllApplied(met); err != nil {
			yield(nil, err)
		}
	}
}

// carryOut applies the decisions to a segment. Answers keep their order.
func (d *Decisions) carryOut(s *refract.Segment, met map[string]bool) (*refract.Segment, error) {
	out := *s
	out.Variants, out.Rejected = nil, nil
	var brought []refract.Variant // texts that decisions add
	has := map[string]string{}    // verdicts on a repeated text
	for _, r := range s.References {
		if r.Valid {
			has[r.Value] = check.ReasonCopy
		}
	}
	changed := false
	for i, v := range slices.Concat(s.Variants, s.Rejected) {
		serves, brings := i < len(s.Variants), false
		if one, ok := d.by[Key(s, &v)]; ok {
			met[one.Answer], changed = true, true
			err := one.checkAnswer(s, &v)
			if err == nil {
				err = one.applyTo(&v)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: segment %s, prompt %s: %w", refract.Position{File: d.Path, Line: one.line}, text.Quote(s.ID), text.Quote(v.Prompt), err)
			}
			brings = one.Choice == Edit || one.Choice == Accept && !serves
			serves = one.Choice != Reject
		}
		switch {
		case brings:
			brought = append(brought, v)
			out.Variants = append(out.Variants, v)
		case serves:
			has[v.Text.Value] = check.ReasonDuplicate
			out.Variants = append(out.Variants, v)
		default:
			out.Rejected = append(out.Rejected, v)
		}
	}
	if !changed {
		return s, nil
	}
	for _, v := range brought {
		verdict := has[v.Text.Value]
		if has[v.Text.Value] = check.ReasonDuplicate; verdict == "" {
			continue
		}
		key := Key(s, &v)
		d.repeats[key] = true
		out.Variants = slices.DeleteFunc(out.Variants, func(one refract.Variant) bool { return Key(s, &one) == key })
		v.Verdict, v.Detail = verdict, fmt.Sprintf("a person's decision is %s, but the segment has the same text", v.Review)
		out.Rejected = append(out.Rejected, v)
	}
	return &out, nil
}

// applyTo applies a decision to a variant.
func (d *Decision) applyTo(v *refract.Variant) error {
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

// checkAllApplied reports the decisions that are about no answer of the dataset.
func (d *Decisions) checkAllApplied(met map[string]bool) error {
	var keys []string
	for key := range d.by {
		if !met[key] {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	first := slices.MinFunc(keys, func(a, b string) int { return cmp.Compare(d.by[a].line, d.by[b].line) })
	return fmt.Errorf("%s: %s about answers that the dataset does not have, such as one of segment %s, prompt %s: "+
		"name the dataset that was reviewed; its references and answers must be the same",
		refract.Position{File: d.Path, Line: d.by[first].line}, english.Count(len(keys), "decision"), text.Quote(d.by[first].Segment), text.Quote(d.by[first].Prompt))
}
