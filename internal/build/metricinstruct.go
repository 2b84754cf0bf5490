package build

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/answer"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge"
)

// Channels of MetricInstruct, which are steps too.
const (
	ChannelReal      = "real"
	ChannelSynthetic = "synthetic"
)

// rowJudges are the judges of a row of the mix: the one that is trained, and the
// one that analyses outputs of systems.
type rowJudges struct {
	task             *Task
	trained, analyst *judge.Resolved
	parser           answer.Parser
}

// judges resolves the judges of a row.
func (s *Set) judges(row *MixRow) (*rowJudges, error) {
	j := &rowJudges{}
	var err error
	if j.task, err = s.Recipe.Task(row.Task); err != nil {
		return nil, err
	}
	options := map[string]string{}
	maps.Copy(options, row.Options)
	options["task"] = row.Task
	if j.trained, err = s.Recipe.resolve(options); err != nil {
		return nil, err
	}
	d, own, err := judge.FindSpec(s.Recipe.Analysis)
	if err != nil {
		return nil, err
	}
	maps.Copy(options, own)
	if j.analyst, err = d.Resolve(options); err != nil {
		return nil, err
	}
	if j.parser, err = j.analyst.Parser(); err != nil {
		return nil, err
	}
	s.serve(j.trained)
	return j, nil
}

// Check says what is wrong with a row, before anything is asked.
func (s *Set) Check(row *MixRow) error {
	_, err := s.judges(row)
	return err
}

// Real makes examples of outputs of systems, which the teacher analyses in the turns
// of the recipe's judge (TIGERScore, section 3).
func (s *Set) Real(ctx context.Context, row *MixRow, outputs []Output) error {
	j, err := s.judges(row)
	if err != nil {
		return err
	}
	var items []*Item
	var dialogues []*Dialogue
	for i, o := range outputs {
		it := newItem(row, ChannelReal, o.Segment)
		it.ID += "/" + o.System
		it.Hypothesis = o.Text
		it.From["system"] = o.System
		it.From["third"] = []string{"best", "middle", "worst"}[o.Third]
		d := &Dialogue{index: i, about: "item " + strconv.Quote(it.ID)}
		for turn := range j.analyst.Turns() {
			_, prompt := j.analyst.Render(turn, judge.Fields{Source: it.Source, Reference: it.Reference, Hypothesis: it.Hypothesis})
			d.prompts = append(d.prompts, prompt)
		}
		items, dialogues = append(items, it), append(dialogues, d)
	}
	_, err = s.ask(ctx, s.Teacher, ChannelReal, dialogues, func(d *Dialogue) error { return s.analysed(j, items[d.index], "", d) })
	return err
}

// Synthetic makes examples of references: the teacher changes each into an output
// with errors of some aspects, and then lists the errors.
func (s *Set) Synthetic(ctx context.Context, row *MixRow, segments []*refract.Segment) error {
	j, err := s.judges(row)
	if err != nil {
		return err
	}
	var items []*Item
	var dialogues []*Dialogue
	for i, segment := range some(s.Seed, "synthetic "+row.Dataset, segments, row.Synthetic) {
		it := newItem(row, ChannelSynthetic, segment)
		draw := newDraw(s.Seed, "aspects", row.Task, it.Group, it.Reference)
		all := j.task.Errors
		n := 1 + draw.IntN(len(all))
		var aspects []ErrorType
		for _, k := range draw.Perm(len(all))[:n] {
			aspects = append(aspects, all[k])
			it.Asked = append(it.Asked, analysis.Error{Aspect: all[k].Type})
		}
		d := &Dialogue{index: i, about: "item " + strconv.Quote(it.ID)}
		data := map[string]any{"Instruction": j.trained.Option("instruction"), "Source": it.Source, "Reference": it.Reference, "Aspects": aspects}
		for _, step := range []string{ChannelSynthetic, stepErrors} {
			prompt, err := s.Recipe.Prompt(step, j.task, data)
			if err != nil {
				return err
			}
			d.prompts = append(d.prompts, prompt)
		}
		items, dialogues = append(items, it), append(dialogues, d)
	}
	_, err = s.ask(ctx, s.Teacher, ChannelSynthetic, dialogues, func(d *Dialogue) error {
		it := items[d.index]
		if len(d.Answers) > 0 {
			it.Hypothesis = strings.TrimSpace(d.Answers[0])
		}
		return s.analysed(j, it, it.Reference, d)
	})
	return err
}

func newItem(row *MixRow, channel string, s *refract.Segment) *Item {
	it := &Item{
		ID: channel + "/" + row.Dataset + "/" + s.ID, Task: row.Task, Channel: channel,
		Source: s.Source.Value, Reference: firstReference(s), From: map[string]string{"dataset": row.Dataset, "segment": s.ID},
	}
	if it.Group = it.Source; it.Group == "" {
		it.Group = it.Reference
	}
	return it
}

func firstReference(s *refract.Segment) string {
	if i := slices.IndexFunc(s.References, func(r refract.Text) bool { return r.Valid }); i >= 0 {
		return s.References[i].Value
	}
	return ""
}

// analysed reads the last answer, which lists the errors, and applies the rules.
func (s *Set) analysed(j *rowJudges, it *Item, original string, d *Dialogue) error {
	if it.take(d) {
		report := j.parser.Parse(d.last())
		report.Locate(analysis.Texts{Hypothesis: it.Hypothesis, Source: it.Source})
		it.Errors = report.Errors
		if !report.Outcome.HasScore() {
			it.leave(RuleMalformed, report.Detail)
		}
		if i := slices.IndexFunc(it.Errors, func(e analysis.Error) bool { return e.Penalty == nil || e.Severity == "" || e.Explanation == "" }); i >= 0 {
			it.leave(RuleMalformed, fmt.Sprintf("error %d lacks a penalty, a severity or an explanation", i+1))
		}
		if err := s.filter(it, original); err != nil {
			return err
		}
	}
	if it.Rule == "" {
		it.complete(j.trained, tigerScoreAnswer(it.Errors))
	}
	s.Items = append(s.Items, it)
	return nil
}
