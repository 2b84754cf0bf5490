package build

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics/judge"
)

const stepSamples = "samples"

// Refinement lets a judge write several reports of each output, and keeps those in which
// the teacher finds the fewest faults (InstructScore, section 4.3).
type Refinement struct {
	Judge   *judge.Resolved
	Student Model // the judge's model
	Samples int
	Least   float64 // minimum alignment of a report to keep
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
	s.serve(r.Judge)
	var dialogues []*Dialogue
	var items []*Item
	for _, o := range outputs {
		for sample := range r.Samples {
			it := itemOf(o.Segment, o.Segment.ID+"/"+o.System+"/"+strconv.Itoa(sample+1), map[string]string{"segment": o.Segment.ID, "system": o.System})
			it.Task, it.Channel, it.Hypothesis = r.Judge.Spec(), stepSamples, o.Text
			dialogues = append(dialogues, &Dialogue{item: it, wire: s.sampled(r, it, sample), sample: sample})
			items = append(items, it)
		}
	}
	_, err = s.ask(ctx, r.Student, stepSamples, dialogues, func(d *Dialogue) {
		it := d.item
		if !it.take(d) {
			return
		}
		it.complete(r.Judge, d.last())
		report := parser.Parse(d.last())
		if !report.Outcome.HasScore() {
			it.leave(RuleMalformed, report.Detail)
			return
		}
		it.Errors, it.report = report.Errors, report
	})
	if err == nil {
		err = s.feedback(ctx, items)
	}
	for i := 0; i < len(items); i += r.Samples {
		keepBest(items[i:i+r.Samples], r.Least)
	}
	s.Items = append(s.Items, items...)
	return err
}

// sampled is the judge's request for one sample.
func (s *Set) sampled(r Refinement, it *Item, sample int) *llm.Request {
	wire := r.Judge.Request(r.Student.Name, 0, it.texts(), nil)
	if m := wire.Messages; len(m) == 1 && m[0].Role == "user" {
		wire.Prompt, wire.Messages = m[0].Content, nil
	}
	sampling := s.Recipe.Steps[stepSamples]
	wire.Temperature, wire.TopP = sampling.Temperature, sampling.TopP
	extra := map[string]any{"seed": int(s.Seed%(1<<31)) + sample} // so that no proxy answers all samples from its cache
	maps.Copy(extra, wire.Extra)
	wire.Extra = extra
	return &wire
}

// keepBest keeps the samples of an output with the highest alignment, without repetitions.
// The paper's counts show that it keeps ties.
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

// CanRefine reports whether examples can be made for a judge: a prompt of one message,
// and a report that answers it.
func CanRefine(r *judge.Resolved) bool {
	return !r.IsLikelihood() && r.Turns() == 1 && len(r.Request("", 0, judge.Fields{}, nil).Messages) < 2
}
