package build

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge"
	"github.com/refract-eval/refract/metrics/judge/audit"
)

// The paper's sampling of reports (appendix E).
const (
	SampleTemperature = 0.8
	SampleTopP        = 0.9
	DefaultSamples    = 8
)

const stepSamples = "samples"

// Refine has a judge write several reports of each output, and keeps those of
// which feedback finds the least wrong (section 4.3).
type Refine struct {
	Judge             *judge.Resolved
	Student           *Teacher // the model of the judge
	Feedback          *Feedback
	Samples           int
	Temperature, TopP float64
	Least             float64 // alignment that a kept report has
	Seed              uint64

	Pairs []Pair
}

// Outputs draws one system of each segment by the seed, or takes all, and of these
// outputs at most most, drawn too; 0 means all.
func Outputs(seed uint64, segments []*refract.Segment, all bool, most int) []Output {
	var out []Output
	for _, s := range segments {
		var of []Output
		for _, h := range s.Hypotheses {
			if h.Text.Valid {
				of = append(of, Output{Segment: s, System: h.System, Text: h.Text.Value})
			}
		}
		if !all && len(of) > 1 {
			i := drawOf(seed, "system", s.ID).IntN(len(of))
			of = of[i : i+1]
		}
		out = append(out, of...)
	}
	return some(seed, "outputs", out, most)
}

// Of samples reports of outputs, and calls done with what each became.
func (b *Refine) Of(ctx context.Context, outputs []Output, done func(*Item) error) error {
	parser, err := b.Judge.Parser()
	if err != nil {
		return err
	}
	var items []*Item
	var dialogues []*Dialogue
	for _, o := range outputs {
		fields := judge.Fields{Source: o.Segment.Source.Value, Hypothesis: o.Text}
		if i := slices.IndexFunc(o.Segment.References, func(r refract.Text) bool { return r.Valid }); i >= 0 {
			fields.Reference = o.Segment.References[i].Value
		}
		for sample := range b.Samples {
			wire := b.Judge.Request(b.Student.Model, 0, fields, nil)
			if m := wire.Messages; len(m) == 1 && m[0].Role == "user" {
				wire.Prompt, wire.Messages = m[0].Content, nil
			}
			wire.Temperature, wire.TopP = b.Temperature, b.TopP
			extra := map[string]any{"seed": int(b.Seed%(1<<31)) + sample} // so that no server between answers with the same
			for k, v := range wire.Extra {
				extra[k] = v
			}
			wire.Extra = extra
			it := &Item{
				ID: o.Segment.ID + "/" + o.System + "/" + strconv.Itoa(sample+1), Task: b.Judge.Spec(), Channel: stepSamples,
				Source: fields.Source, Reference: fields.Reference, Hypothesis: o.Text, Group: fields.Source,
				From: map[string]string{"segment": o.Segment.ID, "system": o.System},
			}
			if strings.TrimSpace(it.Group) == "" {
				it.Group = it.Reference
			}
			it.prompted(b.Judge)
			items = append(items, it)
			dialogues = append(dialogues, &Dialogue{At: len(dialogues), About: "item " + strconv.Quote(it.ID), Wire: &wire, Sample: sample})
		}
	}
	reports := make([]*audit.Reported, len(items))
	err = b.Student.All(ctx, stepSamples, Sampling{}, slices.Values(dialogues), func(d *Dialogue) error {
		it := items[d.At]
		if !it.take(d) {
			return nil
		}
		it.Completion = d.Last()
		report := parser.Parse(it.Completion)
		if !report.Outcome.HasScore() {
			it.leave(RuleMalformed, report.Detail)
			return nil
		}
		it.Errors = report.Errors
		reports[d.At] = &audit.Reported{
			Place: audit.Place{ID: it.From["segment"], System: it.From["system"]}, Report: *report, HasTexts: true,
			Texts: analysis.Texts{Hypothesis: it.Hypothesis, Source: it.Source, Reference: it.Reference},
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := b.judged(ctx, items, reports); err != nil {
		return err
	}
	for at := 0; at < len(items); at += b.Samples {
		of := items[at : at+b.Samples]
		b.keep(of)
		for _, it := range of {
			if err := done(it); err != nil {
				return err
			}
		}
	}
	return nil
}

// judged asks for feedback on the reports that there are.
func (b *Refine) judged(ctx context.Context, items []*Item, reports []*audit.Reported) error {
	var asked []*audit.Reported
	var of []*Item
	for i, r := range reports {
		if r != nil {
			asked, of = append(asked, r), append(of, items[i])
		}
	}
	verdicts, err := b.Feedback.On(ctx, asked)
	if err != nil {
		return err
	}
	for i, v := range verdicts {
		switch {
		case v == nil: // looking ahead
		case v.Status != Judged:
			of[i].leave(RuleFeedback, strings.TrimSpace(v.Status+" "+v.Detail))
		default:
			of[i].Alignment = v.Alignment
		}
	}
	if b.Feedback.Teacher.LookAhead {
		return b.unknown(items, len(items)-len(asked))
	}
	return nil
}

// unknown counts the feedback on reports that are not known yet.
func (b *Refine) unknown(items []*Item, n int) error {
	if n == 0 {
		return nil
	}
	stand := &audit.Reported{
		Texts:  analysis.Texts{Hypothesis: items[0].Hypothesis, Reference: items[0].Reference},
		Report: analysis.Report{Errors: []analysis.Error{{Location: "some words", Aspect: "a type", Explanation: strings.Repeat("an explanation ", 10)}}},
	}
	prompt, err := b.Feedback.Recipe.Prompt(stepErrors, nil, questioned(stand))
	if err == nil {
		b.Feedback.Teacher.Unknown(stepErrors, n, b.Feedback.Recipe.Steps[stepErrors].Sampling, &Dialogue{Prompts: []string{prompt}})
	}
	return err
}

// keep keeps the best samples of an output: those of the highest alignment that
// differ, as the paper's numbers say of ties. Two samples of unequal alignment
// make a pair.
func (b *Refine) keep(of []*Item) {
	best := -1.0
	seen := map[string]bool{}
	for _, it := range of {
		if it.Rule == "" && seen[it.Completion] {
			it.leave(RuleRepeat, "an earlier sample is the same")
		}
		seen[it.Completion] = true
		if it.Rule == "" && it.Alignment != nil {
			best = max(best, *it.Alignment)
		}
	}
	var ranked []*Item
	for _, it := range of {
		if it.Rule != "" || it.Alignment == nil {
			continue
		}
		ranked = append(ranked, it)
		switch {
		case *it.Alignment < best:
			it.leave(RuleNotBest, fmt.Sprintf("its alignment is %.4f, and that of another sample %.4f", *it.Alignment, best))
		case best < b.Least:
			it.leave(RuleLow, fmt.Sprintf("its alignment is %.4f, below %v", best, b.Least))
		}
	}
	for _, chosen := range ranked {
		for _, rejected := range ranked {
			if *chosen.Alignment > *rejected.Alignment {
				b.Pairs = append(b.Pairs, Pair{Group: chosen.Group, Prompt: chosen.Prompt, Chosen: chosen.Completion, Rejected: rejected.Completion})
			}
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
