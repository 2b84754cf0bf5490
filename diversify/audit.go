package diversify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/llm/ask"
)

// Sample draws variants of a model at random, each with the same chance, to
// tell how many of all keep the meaning. Add takes the segments, then
// [Expander.Audit] asks about what was drawn, then Marked shows what became of
// it. What is drawn depends on the seed and the segments alone, and changes
// little where some variants do.
type Sample struct {
	n        int
	seed     uint64
	model    string
	segments int // that were added
	drawn    []draw
	// Own is how many opinions do not count, as the judge is served as the model
	// that wrote the variants.
	Own int
	// Lost is how many variants the judge has found to have lost the meaning.
	Lost int
}

// draw is a variant in a sample.
type draw struct {
	rank             uint64
	segment, variant int // places in the stream and in Variants
	pos              refract.Position
	id, reference    string
	v                refract.Variant
}

// NewSample returns a sample of up to n variants of a model.
func NewSample(n int, seed uint64, model string) *Sample {
	return &Sample{n: n, seed: seed, model: model}
}

// Add draws from the next segment.
func (s *Sample) Add(seg *refract.Segment) {
	at := s.segments
	s.segments++
	for i := range seg.Variants {
		v := &seg.Variants[i]
		if v.Model != s.model || v.Audit != "" || strings.TrimSpace(v.Text.Value) == "" {
			continue
		}
		// The lowest of random ranks are a random sample.
		h := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %d %s", s.seed, at, v.Reference, v.Sample, v.Prompt))
		d := draw{binary.LittleEndian.Uint64(h[:]), at, i, seg.Pos, seg.ID, seg.References[v.Reference].Value, *v}
		d.v.Audit = refract.AuditSampled
		place, _ := slices.BinarySearchFunc(s.drawn, d, func(a, b draw) int { return cmp.Compare(a.rank, b.rank) })
		if place >= s.n {
			continue
		}
		s.drawn = slices.Insert(s.drawn, place, d)[:min(len(s.drawn)+1, s.n)]
	}
}

// Len is how many variants are drawn.
func (s *Sample) Len() int { return len(s.drawn) }

// Marked is the dataset of the segments that were added, as the audit leaves
// them: drawn variants have their audit, and what has lost the meaning is
// rejected.
func (s *Sample) Marked(ds refract.Dataset) refract.Dataset {
	drawn := map[int][]draw{} // by segment
	for _, d := range s.drawn {
		drawn[d.segment] = append(drawn[d.segment], d)
	}
	return &marked{ds, drawn}
}

type marked struct {
	refract.Dataset
	drawn map[int][]draw
}

// Segments implements [refract.Dataset].
func (m *marked) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		at := 0
		for seg, err := range m.Dataset.Segments(ctx) {
			if drawn := m.drawn[at]; err == nil && len(drawn) > 0 {
				seg = mark(seg, drawn)
			}
			if at++; !yield(seg, err) || err != nil {
				return
			}
		}
	}
}

func mark(seg *refract.Segment, drawn []draw) *refract.Segment {
	out := *seg
	out.Variants, out.Rejected = nil, slices.Clip(seg.Rejected)
	for i, v := range seg.Variants {
		k := slices.IndexFunc(drawn, func(d draw) bool { return d.variant == i })
		if k >= 0 {
			v.Audit, v.AuditedBy = drawn[k].v.Audit, drawn[k].v.AuditedBy
		}
		if k < 0 || v.Audit != refract.AuditLost {
			out.Variants = append(out.Variants, v)
			continue
		}
		v.Verdict, v.Detail = NotEquivalent, "judged by "+v.AuditedBy
		out.Rejected = append(out.Rejected, v)
	}
	return &out
}

// Lost reports whether an audit has rejected a variant of the segment.
func Lost(seg *refract.Segment) bool {
	return slices.ContainsFunc(seg.Rejected, func(v refract.Variant) bool { return v.Audit == refract.AuditLost })
}

// Audits reports whether the judge of equivalence can say how many variants
// keep the meaning: there is one, it did not write them, and it has not chosen
// them all.
func (x *Expander) Audits() bool {
	return x.judge != nil && x.judge.Model != x.cfg.Model && x.judge.From > 0
}

// Audit asks the judge about the variants of a sample. Where it cannot tell
// (see Audits), they stay for people. An error is as those of Expand are.
func (x *Expander) Audit(ctx context.Context, s *Sample) (Summary, error) {
	t := newTally(x, x.cfg.Observe)
	if !x.Audits() {
		return t.summary(), nil
	}
	err := x.asker.Do(ctx, &auditJob{x: x, sample: s, tally: t})
	if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
		err = fmt.Errorf("audit interrupted; the answers received are stored: %w", ended)
	}
	return t.summary(), err
}

// PlanAudit calls need with every question of Audit whose answer the store
// lacks.
func (x *Expander) PlanAudit(ctx context.Context, s *Sample, need func(ask.Question) error) error {
	if !x.Audits() {
		return nil
	}
	return x.asker.Plan(need).Add(ctx, func(yield func(ask.Job, error) bool) {
		yield(&auditJob{x: x, sample: s, tally: newTally(x, nil)}, nil)
	})
}

// auditJob asks about all variants of a sample in one round.
type auditJob struct {
	x      *Expander
	sample *Sample
	tally  *tally
}

// Next implements [ask.Job].
func (j *auditJob) Next(results []ask.Result) ([]ask.Question, error) {
	if results == nil {
		var out []ask.Question
		for _, d := range j.sample.drawn {
			out = append(out, j.x.judge.question(d.reference, d.v.Text.Value))
		}
		return out, nil
	}
	j.sample.Own, j.sample.Lost = 0, 0
	for i := range results {
		j.x.judge.settle(&j.sample.drawn[i], &results[i], j.sample)
	}
	return nil, nil
}

// settle writes down the judge's opinion of a drawn variant.
func (e *equivalence) settle(d *draw, r *ask.Result, s *Sample) {
	served := ""
	if d.v.Origin != nil {
		served = d.v.Origin.ServedModel
	}
	by := r.Answer.ServedModel // none where the call failed
	same, ok := opinion(&r.Answer)
	switch d.v.AuditedBy = e.Model; {
	case e.Model == served || by != "" && (by == served || by == d.v.Model):
		d.v.Audit, d.v.AuditedBy = refract.AuditSampled, ""
		s.Own++
	case r.Err != nil || !ok:
		d.v.Audit = refract.AuditUnclear
	case same:
		d.v.Audit = refract.AuditKept
	default:
		d.v.Audit = refract.AuditLost
		s.Lost++
	}
}

// Answered implements [ask.Job].
func (j *auditJob) Answered(_ int, r ask.Result) {
	if r.Err == nil {
		j.tally.update(func(p *Progress) {
			p.count(r)
			p.Judged++
		})
	}
}

// At implements [ask.Job].
func (j *auditJob) At(i int, err error) error {
	d := &j.sample.drawn[i]
	return &Error{Pos: d.pos, Segment: d.id, Reference: d.v.Reference, Prompt: d.v.Prompt, Sample: d.v.Sample, Err: err}
}
