package build

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/yamlfile"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// Channels of MetricInstruct, which are steps too.
const (
	ChannelReal      = "real"
	ChannelSynthetic = "synthetic"
)

// Mix describes a build: which items of which datasets are asked for.
type Mix struct {
	Rows []*MixRow `yaml:"mix"`
}

// MixRow are the items of a dataset and a task.
type MixRow struct {
	Dataset string `yaml:"dataset"` // as commands take it
	Task    string `yaml:"task"`
	// Options are those of the metric and of the analysis beside the task, such
	// as sl and tl, or instruction.
	Options map[string]string `yaml:"options"`
	// Real is how many outputs of systems are analysed. Metric scores all of
	// them, and Shares says how many are of the best, the middle and the worst
	// third; equal shares where it is empty.
	Real   int       `yaml:"real"`
	Metric string    `yaml:"metric"`
	Shares []float64 `yaml:"shares"`
	// Synthetic is how many references are made into outputs with errors.
	Synthetic int `yaml:"synthetic"`
}

// ReadMix reads a description. name is the file's in errors.
func ReadMix(name string, in io.Reader) (*Mix, error) {
	f, err := yamlfile.Read(name, in)
	if err != nil {
		return nil, err
	}
	m := &Mix{}
	if err := f.Decode(m, "describe a build"); err != nil {
		return nil, err
	}
	if len(m.Rows) == 0 {
		return nil, f.At(yamlfile.Wrong("mix", "there is no row; each has a dataset, a task, and numbers for real and synthetic"))
	}
	for i, r := range m.Rows {
		field := fmt.Sprintf("mix[%d]", i)
		var err error
		switch {
		case r.Dataset == "" || r.Task == "":
			err = yamlfile.Wrong(field, "dataset and task are needed")
		case r.Real < 0 || r.Synthetic < 0 || r.Real+r.Synthetic == 0:
			err = yamlfile.Wrong(field, "real and synthetic are %d and %d; one of them must be above 0", r.Real, r.Synthetic)
		case r.Real > 0 && r.Metric == "":
			err = yamlfile.Wrong(field, "metric is missing: outputs of systems are drawn by the thirds of their scores")
		case len(r.Shares) > 0 && (len(r.Shares) != thirds || slices.Min(r.Shares) < 0 || slices.Max(r.Shares) <= 0):
			err = yamlfile.Wrong(field, "shares are %v; want three numbers, of the best, the middle and the worst third", r.Shares)
		}
		if err != nil {
			return nil, f.At(err)
		}
	}
	return m, nil
}

const thirds = 3

// Output is an output of a system with its score; higher is better.
type Output struct {
	Segment *refract.Segment
	System  string
	Text    string
	Score   float64
	Third   int // 0 for the best
}

// Thirds draws outputs: those of each third of the scores by its share.
// Where a third has too few, the others do not stand in for it.
func Thirds(seed uint64, row *MixRow, outputs []Output) []Output {
	order := slices.Clone(outputs)
	slices.SortStableFunc(order, func(a, b Output) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	shares := row.Shares
	if len(shares) == 0 {
		shares = []float64{1, 1, 1}
	}
	total := shares[0] + shares[1] + shares[2]
	var out []Output
	sum, taken := 0.0, 0
	for third, share := range shares {
		from, to := len(order)*third/thirds, len(order)*(third+1)/thirds
		group := slices.Clone(order[from:to])
		for i := range group {
			group[i].Third = third
		}
		sum += share
		n := int(math.Round(sum/total*float64(row.Real))) - taken // so that all add up
		taken += n
		if n > 0 {
			out = append(out, some(seed, "real "+row.Dataset+" "+strconv.Itoa(third), group, n)...)
		}
	}
	return out
}

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
	served := Prompted{Task: row.Task, Spec: m.served.Spec(), Hash: m.served.Hash()[:12]}
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

// filter applies the rules of the recipe (section 3.3).
func (b *MetricInstruct) filter(it *Item) {
	if b.seen == nil {
		b.seen = map[string]bool{}
	}
	for _, rule := range b.Recipe.Rules {
		if it.Rule != "" {
			return
		}
		why := ""
		switch rule {
		case RuleNotDesignated:
			why = it.otherAspects()
		case RuleUnchanged:
			if it.Channel == ChannelSynthetic && folded(it.Hypothesis) == folded(it.Reference) {
				why = "the output is the reference"
			}
		case RulePenalty:
			why = implausiblePenalty(it.Errors)
		case RuleReference:
			why = speaksOfReference(it)
		case RuleLocation:
			why = locationNotInText(it)
		case RuleRepeat:
			it.repeats(b.seen)
		}
		if why != "" {
			it.leave(rule, why)
		}
	}
}

// otherAspects says whether the errors of a synthetic output are of aspects that
// were not asked for.
func (it *Item) otherAspects() string {
	if it.Channel != ChannelSynthetic {
		return ""
	}
	for _, e := range it.Errors {
		if !slices.ContainsFunc(it.Asked, func(a analysis.Error) bool { return sameWords(a.Aspect, e.Aspect) }) {
			return fmt.Sprintf("no error of %q was asked for", e.Aspect)
		}
	}
	if len(it.Errors) == 0 {
		return "there is no error"
	}
	return ""
}

// The bounds of penalties: those of the prompt, and for a minor error that of
// section 3.3.
const (
	leastPenalty     = 0.5
	mostPenalty      = 5
	mostMinorPenalty = 2.5
)

func implausiblePenalty(errors []analysis.Error) string {
	for i, e := range errors {
		switch p := *e.Penalty; {
		case p < leastPenalty || p > mostPenalty:
			return fmt.Sprintf("error %d costs %v, which is not within %v and %v", i+1, p, leastPenalty, mostPenalty)
		case e.Severity == analysis.Minor && p > mostMinorPenalty:
			return fmt.Sprintf("error %d is minor and costs %v, more than %v", i+1, p, mostMinorPenalty)
		}
	}
	return ""
}

var ofReference = regexp.MustCompile(`(?i)\b(?:reference|ground[- ]truth|gold(?:en)?[- ](?:standard|answer|output|translation|summary))\b`)

// speaksOfReference looks for a reference in explanations. Where the output or the
// source has the word itself, an explanation may well quote it.
func speaksOfReference(it *Item) string {
	if ofReference.MatchString(it.Source) || ofReference.MatchString(it.Hypothesis) {
		return ""
	}
	for i, e := range it.Errors {
		if word := ofReference.FindString(e.Explanation); word != "" {
			return fmt.Sprintf("the explanation of error %d says %q", i+1, word)
		}
	}
	return ""
}

// mostStrange is the share of a location's words that may stand neither in the
// output nor in the source. The paper says "too many".
const mostStrange = 0.5

// locationNotInText parts locations by spaces, as section 3.3 does. Marks around
// words do not count.
func locationNotInText(it *Item) string {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" \t\r\n.,;:!?\"'“”‘’()[]…", r) })
	}
	known := map[string]bool{}
	for _, w := range append(words(it.Hypothesis), words(it.Source)...) {
		known[w] = true
	}
	for i, e := range it.Errors {
		if e.Place.HasSpan() || e.Place == analysis.InSource {
			continue
		}
		strange, all := 0, words(e.Location)
		for _, w := range all {
			if !known[w] {
				strange++
			}
		}
		if float64(strange) > mostStrange*float64(len(all)) {
			return fmt.Sprintf("of the words at error %d, %d of %d stand neither in the output nor in the source", i+1, strange, len(all))
		}
	}
	return ""
}
