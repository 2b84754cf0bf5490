package build

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// Channels of MetricInstruct, which are steps too.
const (
	ChannelReal      = "real"
	ChannelSynthetic = "synthetic"
)

// MetricInstruct makes examples for TIGERScore (section 3).
type MetricInstruct struct {
	Recipe  *Recipe
	Teacher *Teacher
	Seed    uint64
	Served  []Prompted // what the metric asks, by row

	seen map[string]bool
}

// row is a row of the mix with what its tasks need.
type mixed struct {
	*MixRow
	task     *Task
	served   *judge.Resolved
	analysis *judge.Resolved
	parser   answer.Parser
	done     func(*Item) error
}

func (b *MetricInstruct) of(row *MixRow, done func(*Item) error) (*mixed, error) {
	m := &mixed{MixRow: row, done: done}
	var err error
	if m.task, err = b.Recipe.Task(row.Task); err != nil {
		return nil, err
	}
	options := maps.Clone(row.Options)
	if options == nil {
		options = map[string]string{}
	}
	options["task"] = row.Task
	if m.served, err = servedMetric(b.Recipe, &Task{Options: options}); err != nil {
		return nil, err
	}
	d, own, err := judge.FindSpec(b.Recipe.Analysis)
	if err != nil {
		return nil, err
	}
	for name, value := range own {
		options[name] = value
	}
	if m.analysis, err = d.Resolve(options); err != nil {
		return nil, err
	}
	if m.parser, err = m.analysis.Parser(); err != nil {
		return nil, err
	}
	served := PromptedBy(m.served)
	if !slices.Contains(b.Served, served) {
		b.Served = append(b.Served, served)
	}
	return m, nil
}

// Check says what is wrong with a row, before anything is asked.
func (b *MetricInstruct) Check(row *MixRow) error {
	_, err := b.of(row, nil)
	return err
}

// Real asks for analyses of outputs of systems, in two turns.
func (b *MetricInstruct) Real(ctx context.Context, row *MixRow, outputs []Output, done func(*Item) error) error {
	m, err := b.of(row, done)
	if err != nil {
		return err
	}
	var items []*Item
	var dialogues []*Dialogue
	for i, o := range outputs {
		it := b.item(m, ChannelReal, o.Segment)
		it.ID += "/" + o.System
		it.Hypothesis = o.Text
		it.From["system"] = o.System
		it.From["third"] = []string{"best", "middle", "worst"}[o.Third]
		fields := judge.Fields{Source: it.Source, Reference: it.Reference, Hypothesis: it.Hypothesis}
		d := &Dialogue{At: i, About: "item " + strconv.Quote(it.ID)}
		for turn := range m.analysis.Turns() {
			_, prompt := m.analysis.Render(turn, fields)
			d.Prompts = append(d.Prompts, prompt)
		}
		items, dialogues = append(items, it), append(dialogues, d)
	}
	return b.Teacher.All(ctx, ChannelReal, b.Recipe.Steps[ChannelReal].Sampling, slices.Values(dialogues), func(d *Dialogue) error {
		return b.finish(m, items[d.At], d)
	})
}

// Synthetic asks for outputs with errors of some aspects, made of references, and
// for what the errors are.
func (b *MetricInstruct) Synthetic(ctx context.Context, row *MixRow, segments []*refract.Segment, done func(*Item) error) error {
	m, err := b.of(row, done)
	if err != nil {
		return err
	}
	var items []*Item
	var dialogues []*Dialogue
	for i, s := range some(b.Seed, "synthetic "+row.Dataset, segments, row.Synthetic) {
		it := b.item(m, ChannelSynthetic, s)
		d := &Dialogue{At: i, About: "item " + strconv.Quote(it.ID)}
		data := map[string]any{"Instruction": m.served.Option("instruction"), "Source": it.Source, "Reference": it.Reference, "Aspects": b.aspects(m, it)}
		for _, step := range []string{ChannelSynthetic, stepErrors} {
			prompt, err := b.Recipe.Prompt(step, m.task, data)
			if err != nil {
				return err
			}
			d.Prompts = append(d.Prompts, prompt)
		}
		items, dialogues = append(items, it), append(dialogues, d)
	}
	return b.Teacher.All(ctx, ChannelSynthetic, b.Recipe.Steps[ChannelSynthetic].Sampling, slices.Values(dialogues), func(d *Dialogue) error {
		it := items[d.At]
		if len(d.Answers) > 0 {
			it.Hypothesis = strings.TrimSpace(d.Answers[0])
		}
		return b.finish(m, it, d)
	})
}

func (b *MetricInstruct) item(m *mixed, channel string, s *refract.Segment) *Item {
	it := &Item{
		ID: channel + "/" + m.Dataset + "/" + s.ID, Task: m.task.Name, Channel: channel,
		Source: s.Source.Value, From: map[string]string{"dataset": m.Dataset, "segment": s.ID},
	}
	for _, r := range s.References {
		if r.Valid {
			it.Reference = r.Value
			break
		}
	}
	if it.Group = it.Source; it.Group == "" {
		it.Group = it.Reference
	}
	return it
}

// aspects draws the aspects of the errors of a synthetic output.
func (b *MetricInstruct) aspects(m *mixed, it *Item) []ErrorType {
	draw := drawOf(b.Seed, "aspects", m.task.Name, it.Group, it.Reference)
	all := m.task.Errors
	n := 1 + draw.IntN(len(all))
	var out []ErrorType
	for _, i := range draw.Perm(len(all))[:n] {
		out = append(out, all[i])
		it.Asked = append(it.Asked, analysis.Error{Aspect: all[i].Type})
	}
	return out
}

// finish reads the last answer, and says by which rule the item is left out.
func (b *MetricInstruct) finish(m *mixed, it *Item, d *Dialogue) error {
	if it.take(d) {
		report := m.parser.Parse(d.Last())
		report.Locate(analysis.Texts{Hypothesis: it.Hypothesis, Source: it.Source})
		it.Errors = report.Errors
		if !report.Outcome.HasScore() {
			it.leave(RuleMalformed, report.Detail)
		}
		if i := slices.IndexFunc(it.Errors, func(e analysis.Error) bool { return e.Penalty == nil || e.Severity == "" || e.Explanation == "" }); i >= 0 {
			it.leave(RuleMalformed, fmt.Sprintf("error %d lacks a penalty, a severity or an explanation", i+1))
		}
		b.filter(it)
	}
	if it.Rule == "" {
		it.prompted(m.served)
		it.Completion = tigerScoreAnswer(it.Errors)
	}
	return m.done(it)
}
