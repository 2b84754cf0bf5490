package build

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// Channels of MetricInstruct, which are also steps.
const (
	ChannelReal      = "real"
	ChannelSynthetic = "synthetic"
)

// rowJudges are the judges of a row of the mix: the one to be trained, and the one that
// analyses outputs of systems.
type rowJudges struct {
	task             *Task
	trained, analyst *judge.Resolved
	parser           answer.Parser
}

// Resolve finds the judges of a row, or says what is wrong with it. It comes before Real and
// Synthetic.
func (s *Set) Resolve(row *MixRow) (err error) {
	j := &row.judges
	if j.task, err = s.Recipe.Task(row.Task); err != nil {
		return err
	}
	options := map[string]string{}
	maps.Copy(options, row.Options)
	options["task"] = row.Task
	if j.trained, err = s.Recipe.resolve(options); err != nil {
		return err
	}
	d, own, err := judge.FindSpec(s.Recipe.Analysis)
	if err != nil {
		return err
	}
	maps.Copy(options, own)
	if j.analyst, err = d.Resolve(options); err != nil {
		return err
	}
	j.parser, err = j.analyst.Parser()
	s.serve(j.trained)
	return err
}

// Real makes examples of outputs of systems, which the teacher analyses in the turns
// of the recipe's judge (TIGERScore, section 3).
func (s *Set) Real(ctx context.Context, row *MixRow, outputs []Output) error {
	var dialogues []*Dialogue
	for _, o := range outputs {
		it := newItem(row, ChannelReal, o.Segment)
		it.ID += "/" + o.System
		it.Hypothesis = o.Text
		it.From["system"] = o.System
		it.From["third"] = []string{"best", "middle", "worst"}[o.Third]
		d := &Dialogue{item: it}
		for turn := range row.judges.analyst.Turns() {
			_, prompt := row.judges.analyst.Render(turn, it.texts())
			d.prompts = append(d.prompts, prompt)
		}
		dialogues = append(dialogues, d)
	}
	return s.teach(ctx, ChannelReal, dialogues, row.judges.lesson())
}

// Synthetic makes examples of references: the teacher changes each into an output
// with errors of some aspects, and then lists the errors.
func (s *Set) Synthetic(ctx context.Context, row *MixRow, segments []*refract.Segment) error {
	j := &row.judges
	var dialogues []*Dialogue
	for _, segment := range some(s.Seed, "synthetic "+row.Dataset, segments, row.Synthetic) {
		it := newItem(row, ChannelSynthetic, segment)
		draw, all := newDraw(s.Seed, "aspects", row.Task, it.Group, it.Reference), j.task.Errors
		n := 1 + draw.IntN(len(all))
		var aspects []ErrorType
		for _, k := range draw.Perm(len(all))[:n] {
			aspects = append(aspects, all[k])
			it.Asked = append(it.Asked, analysis.Error{Aspect: all[k].Type})
		}
		d := &Dialogue{item: it, correct: it.Reference}
		data := map[string]any{"Instruction": j.trained.Option("instruction"), "Source": it.Source, "Reference": it.Reference, "Aspects": aspects}
		for _, step := range []string{ChannelSynthetic, stepErrors} {
			prompt, err := s.Recipe.Prompt(step, j.task, data)
			if err != nil {
				return err
			}
			d.prompts = append(d.prompts, prompt)
		}
		dialogues = append(dialogues, d)
	}
	return s.teach(ctx, ChannelSynthetic, dialogues, j.lesson())
}

func newItem(row *MixRow, channel string, s *refract.Segment) *Item {
	it := itemOf(s, channel+"/"+row.Dataset+"/"+s.ID, map[string]string{"dataset": row.Dataset, "segment": s.ID})
	it.Task, it.Channel = row.Task, channel
	return it
}

func (j *rowJudges) lesson() lesson { return lesson{j.trained, j.readAnalysis, tigerScoreAnswer} }

// readAnalysis parses the last answer, which lists the errors.
func (j *rowJudges) readAnalysis(d *Dialogue) {
	it := d.item
	report := j.parser.Parse(d.last())
	report.Locate(analysis.Texts{Hypothesis: it.Hypothesis, Source: it.Source})
	it.Errors = report.Errors
	if !report.Outcome.HasScore() {
		it.leave(RuleMalformed, report.Detail)
	}
	if i := slices.IndexFunc(it.Errors, func(e analysis.Error) bool { return e.Penalty == nil || e.Severity == "" || e.Explanation == "" }); i >= 0 {
		it.leave(RuleMalformed, fmt.Sprintf("error %d lacks a penalty, a severity or an explanation", i+1))
	}
}
