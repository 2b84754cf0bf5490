package build

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge"
)

const stepSamples = "samples"

// Refinement has a judge write several reports of each output, and keeps those in
// which the teacher finds the least wrong (InstructScore, section 4.3).
type Refinement struct {
	Judge   *judge.Resolved
	Student Model // of the judge
	Samples int
	Least   float64 // alignment of a report that is kept
}

// Outputs draws one system of each segment by the seed, or takes all, and draws at
// most most of these outputs; 0 means all.
func Outputs(seed uint64, segments []*refract.Segment, all bool, most int) []Output {
	var out []Output
	for _, s := range segments {
		var own []Output
		for _, h := range s.Hypotheses {
			if h.Text.Valid {
				own = append(own, Output{Segment: s, System: h.System, Text: h.Text.Value})
			}
		}
		if !all && len(own) > 1 {
			i := newDraw(seed, "system", s.ID).IntN(len(own))
			own = own[i : i+1]
		}
		out = append(out, own...)
	}
	return some(seed, "outputs", out, most)
}

// Refine samples reports of outputs, asks the teacher what is wrong with each, and
// makes examples of the best.
func (s *Set) Refine(ctx context.Context, r Refinement, outputs []Output) error {
	parser, err := r.Judge.Parser()
	if err != nil {
		return err
	}
	if _, known := s.Recipe.Steps[stepSamples]; !known {
		return fmt.Errorf("the recipe %s has no step %s, which says how reports are sampled", s.Recipe.Name, stepSamples)
	}
	s.serve(r.Judge)
	var items []*Item
	var dialogues []*Dialogue
	for _, o := range outputs {
		for sample := range r.Samples {
			it := &Item{
				ID: o.Segment.ID + "/" + o.System + "/" + strconv.Itoa(sample+1), Task: r.Judge.Spec(), Channel: stepSamples,
				Source: o.Segment.Source.Value, Reference: firstReference(o.Segment), Hypothesis: o.Text,
				From: map[string]string{"segment": o.Segment.ID, "system": o.System},
			}
			if it.Group = it.Source; strings.TrimSpace(it.Group) == "" {
				it.Group = it.Reference
			}
			dialogues = append(dialogues, &Dialogue{index: len(items), about: "item " + strconv.Quote(it.ID), wire: s.sampled(r, it, sample), sample: sample})
			items = append(items, it)
		}
	}
	reports := make([]*analysis.Report, len(items))
	_, err = s.ask(ctx, r.Student, stepSamples, dialogues, func(d *Dialogue) error {
		it := items[d.index]
		if !it.take(d) {
			return nil
		}
		it.complete(r.Judge, d.last())
		report := parser.Parse(d.last())
		if !report.Outcome.HasScore() {
			it.leave(RuleMalformed, report.Detail)
			return nil
		}
		it.Errors, reports[d.index] = report.Errors, report
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.feedback(ctx, items, reports); err != nil {
		return err
	}
	for i := 0; i < len(items); i += r.Samples {
		keepBest(items[i:i+r.Samples], r.Least)
	}
	s.Items = append(s.Items, items...)
	return nil
}

// sampled is the judge's request for one sample.
func (s *Set) sampled(r Refinement, it *Item, sample int) *llm.Request {
	wire := r.Judge.Request(r.Student.Name, 0, judge.Fields{Source: it.Source, Reference: it.Reference, Hypothesis: it.Hypothesis}, nil)
	if m := wire.Messages; len(m) == 1 && m[0].Role == "user" {
		wire.Prompt, wire.Messages = m[0].Content, nil
	}
	sampling := s.Recipe.Steps[stepSamples]
	wire.Temperature, wire.TopP = sampling.Temperature, sampling.TopP
	extra := map[string]any{"seed": int(s.Seed%(1<<31)) + sample} // or a server in between could give one answer to all
	maps.Copy(extra, wire.Extra)
	wire.Extra = extra
	return &wire
}

// keepBest keeps the different samples of an output that have the highest alignment;
// the paper's counts show that it keeps ties.
func keepBest(samples []*Item, least float64) {
	best := -1.0
	seen := map[string]bool{}
	for _, it := range samples {
		if it.Rule == "" && seen[it.Completion] {
			it.leave(RuleRepeat, "an earlier sample is the same")
		}
		seen[it.Completion] = true
		if it.Rule == "" && it.Alignment != nil {
			best = max(best, *it.Alignment)
		}
	}
	for _, it := range samples {
		switch {
		case it.Alignment == nil:
		case *it.Alignment < best:
			it.leave(RuleNotBest, fmt.Sprintf("its alignment is %.4f, and that of another sample %.4f", *it.Alignment, best))
		case best < least:
			it.leave(RuleLow, fmt.Sprintf("its alignment is %.4f, below %v", best, least))
		}
	}
}

// CanRefine says why a judge cannot be refined; "" if it can.
func CanRefine(r *judge.Resolved) string {
	switch {
	case r.IsLikelihood():
		return "it writes no report"
	case r.Turns() != 1:
		return "it takes several turns, and examples have one"
	case len(r.Request("", 0, judge.Fields{}, nil).Messages) > 1:
		return "it sends several messages, such as examples, and examples here have one"
	}
	return ""
}
