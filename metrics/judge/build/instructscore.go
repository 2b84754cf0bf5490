package build

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// Steps of InstructScore's recipe.
const (
	stepDomains   = "domains"
	stepTopics    = "topics"
	stepSentences = "sentences"
	stepErrors    = "errors"
)

// InstructScore makes examples for InstructScore: a correct text becomes a
// paraphrase of it, which is the reference, and an output with errors that were
// designated, each with its explanation (section 4.1).
type InstructScore struct {
	Recipe  *Recipe
	Task    *Task
	Teacher *Teacher
	Seed    uint64
	// Domains, Topics (of each domain) and Sentences (of each topic, of which
	// one is drawn) are how many texts are made of which kind.
	Domains, Topics, Sentences int
	Most                       int            // raw texts, drawn by the seed; 0 for all
	Language                   *check.Checker // makes the language check; nil for none

	Lists   []ListCount // of the answers to the first steps
	Served  Prompted    // what the metric asks
	NotMade int         // errors that the teacher says it could not make, which no example has

	parser answer.Parser
}

// ListCount counts the lists of a step.
type ListCount struct {
	Step  string `json:"step"`
	Asked int    `json:"asked"` // entries that were asked for
	Got   int    `json:"got"`   // different ones
	Lost  int    `json:"lost"`  // lists without an answer, cut, or without an entry
	Again int    `json:"again"` // entries that an earlier list has
	Extra int    `json:"extra"` // entries beyond those that were asked for
	// Foreign are sentences in another language than the task's.
	Foreign int `json:"wrong_language"`
	Refused int `json:"refusals"` // lists and sentences that are refusals
}

// Raw is a correct text.
type Raw struct {
	ID, Text, Source string
	From             map[string]string
}

// Texts asks the teacher for raw texts: domains, topics of each, and sentences of
// each topic, of which the seed draws one (appendix A). It returns how many are
// still unknown, to a teacher that looks ahead.
func (b *InstructScore) Texts(ctx context.Context) (texts []Raw, unknown int, err error) {
	domains, lacking, err := b.names(ctx, stepDomains, []Raw{{}}, 0, b.Domains, func(Raw, string) map[string]string { return map[string]string{} })
	if err != nil {
		return nil, 0, err
	}
	topics, lacking, err := b.names(ctx, stepTopics, domains, lacking, b.Topics, func(d Raw, _ string) map[string]string {
		return map[string]string{"domain": d.Text}
	})
	if err != nil {
		return nil, 0, err
	}
	if known := some(b.Seed, "texts", topics, b.Most); len(known) < len(topics) {
		topics, lacking = known, 0
	} else if b.Most > 0 {
		lacking = min(lacking, b.Most-len(topics))
	}
	count := ListCount{Step: stepSentences}
	err = b.ask(ctx, stepSentences, topics, lacking, b.Sentences, func(topic Raw, d *Dialogue) error {
		count.Asked += b.Sentences
		var found []string
		if d.Rule == "" {
			found = count.read(d.Last(), readSentences)
		}
		if len(found) == 0 {
			count.Lost++
			return nil
		}
		count.Extra += max(0, len(found)-b.Sentences)
		found, err := b.inLanguage(found[:min(len(found), b.Sentences)], &count)
		if err != nil || len(found) == 0 {
			return err
		}
		count.Got += len(found)
		text := found[drawOf(b.Seed, "sentence", topic.Text).IntN(len(found))]
		texts = append(texts, Raw{ID: strconv.Itoa(len(texts) + 1), Text: text, From: map[string]string{"domain": topic.From["domain"], "topic": topic.Text}})
		return nil
	})
	b.Lists = append(b.Lists, count)
	if b.Teacher.LookAhead {
		unknown = len(topics) + lacking - len(texts)
	}
	return texts, unknown, err
}

// read reads a list that is no refusal.
func (c *ListCount) read(text string, names func(string) []string) []string {
	if refusal(text) != "" {
		c.Refused++
		return nil
	}
	return names(text)
}

// inLanguage are the sentences that are in the language of the task, and no refusals.
func (b *InstructScore) inLanguage(sentences []string, count *ListCount) (kept []string, err error) {
	for _, s := range sentences {
		if refusal(s) != "" {
			count.Refused++
			continue
		}
		why, err := otherLanguage(b.Language, b.Task.Sample, s)
		if err != nil {
			return nil, err
		}
		if why != "" {
			count.Foreign++
			continue
		}
		kept = append(kept, s)
	}
	return kept, nil
}

// names asks for a list of names for each of the given ones. unknown of these
// are not known yet, and lacking are the names that are not.
func (b *InstructScore) names(ctx context.Context, step string, of []Raw, unknown, number int, from func(Raw, string) map[string]string) (names []Raw, lacking int, err error) {
	count := ListCount{Step: step}
	seen := map[string]bool{}
	answered := 0
	err = b.ask(ctx, step, of, unknown, number, func(r Raw, d *Dialogue) error {
		answered++
		count.Asked += number
		var found []string
		if d.Rule == "" {
			found = count.read(d.Last(), readNames)
		}
		if len(found) == 0 {
			count.Lost++
		}
		count.Extra += max(0, len(found)-number)
		for _, name := range found[:min(len(found), number)] {
			if key := folded(name); seen[key] {
				count.Again++
				continue
			} else {
				seen[key] = true
			}
			count.Got++
			names = append(names, Raw{Text: name, From: from(r, name)})
		}
		return nil
	})
	b.Lists = append(b.Lists, count)
	if b.Teacher.LookAhead {
		lacking = (len(of) + unknown - answered) * number
	}
	return names, lacking, err
}

// ask asks for a list for each of the given texts.
func (b *InstructScore) ask(ctx context.Context, step string, of []Raw, unknown, number int, done func(Raw, *Dialogue) error) error {
	var prompts []string
	for _, r := range of {
		p, err := b.prompt(step, r, number)
		if err != nil {
			return err
		}
		prompts = append(prompts, p)
	}
	err := b.Teacher.All(ctx, step, b.Recipe.Steps[step].Sampling, dialoguesOf(prompts, func(i int) string { return strconv.Quote(of[i].Text) }), func(d *Dialogue) error {
		return done(of[d.At], d)
	})
	if err == nil && unknown > 0 {
		p, err := b.prompt(step, Raw{Text: "Software development"}, number)
		if err != nil {
			return err
		}
		b.Teacher.Unknown(step, unknown, b.Recipe.Steps[step].Sampling, &Dialogue{Prompts: []string{p}})
	}
	return err
}

func (b *InstructScore) prompt(step string, r Raw, number int) (string, error) {
	return b.Recipe.Prompt(step, b.Task, map[string]any{
		"Number": number, "Domain": r.Text, "Topic": r.Text, "Language": b.Task.Words["language"], "Words": b.Task.Words,
	})
}

// dialoguesOf are dialogues of one turn.
func dialoguesOf(prompts []string, about func(int) string) iter.Seq[*Dialogue] {
	return func(yield func(*Dialogue) bool) {
		for i, p := range prompts {
			if !yield(&Dialogue{At: i, About: about(i), Prompts: []string{p}}) {
				return
			}
		}
	}
}

// Items asks for the errors of raw texts, and calls done with what each became,
// in order. unknown texts are still to come.
func (b *InstructScore) Items(ctx context.Context, texts []Raw, unknown int, done func(*Item) error) error {
	served, err := servedMetric(b.Recipe, b.Task)
	if err != nil {
		return err
	}
	b.Served = PromptedBy(served)
	if b.parser, err = answer.New(answer.Spec{Kind: answer.InstructScore}); err != nil {
		return err
	}
	var prompts []string
	var items []*Item
	for _, r := range texts {
		it := &Item{ID: r.ID, Task: b.Task.Name, Group: r.Text, Source: r.Source, From: r.From, Asked: designate(b.Seed, b.Task, r.Text)}
		if r.Source != "" {
			it.Group = r.Source
		}
		p, err := b.Recipe.Prompt(stepErrors, b.Task, designed(b.Task, r, it.Asked))
		if err != nil {
			return err
		}
		prompts, items = append(prompts, p), append(items, it)
	}
	seen := map[string]bool{}
	err = b.Teacher.All(ctx, stepErrors, b.Recipe.Steps[stepErrors].Sampling, dialoguesOf(prompts, func(i int) string { return "text " + texts[i].ID }), func(d *Dialogue) error {
		it, raw := items[d.At], texts[d.At].Text
		if it.take(d) {
			if err := b.judge(it, raw, d.Last(), seen); err != nil {
				return err
			}
		}
		if it.Rule == "" {
			it.prompted(served)
			it.Completion = instructScoreAnswer(b.Task.Name, it.Errors)
		}
		return done(it)
	})
	if err == nil && unknown > 0 {
		text := strings.Repeat("a sentence of twenty-five words ", 5)
		p, err := b.Recipe.Prompt(stepErrors, b.Task, designed(b.Task, Raw{Text: text}, designate(b.Seed, b.Task, text)))
		if err != nil {
			return err
		}
		b.Teacher.Unknown(stepErrors, unknown, b.Recipe.Steps[stepErrors].Sampling, &Dialogue{Prompts: []string{p}})
	}
	return err
}

// servedMetric is the metric that is trained, for a task.
func servedMetric(r *Recipe, t *Task) (*judge.Resolved, error) {
	d, err := judge.Find(r.Metric)
	if err != nil {
		return nil, err
	}
	return d.Resolve(t.Options)
}

// judge reads an answer, and says by which rule it is left out.
func (b *InstructScore) judge(it *Item, raw, text string, seen map[string]bool) error {
	paraphrase, output, list, why := readDesigned(text)
	if why != "" {
		it.leave(RuleMalformed, why)
		return nil
	}
	it.Reference, it.Hypothesis = paraphrase, output
	it.refused(raw, paraphrase)
	it.refused(raw, output)
	report := b.parser.Parse(list)
	report.Locate(analysis.Texts{Hypothesis: output, Reference: paraphrase})
	listed := len(report.Errors)
	it.Errors = slices.DeleteFunc(report.Errors, func(e analysis.Error) bool { return e.Location == "" && e.Explanation == "" })
	b.NotMade += listed - len(it.Errors)
	switch {
	case !report.Outcome.HasScore() && listed > 0:
		it.leave(RuleMalformed, report.Detail)
	case listed != len(it.Asked):
		it.leave(RuleMalformed, fmt.Sprintf("%d errors were asked for, %d are listed", len(it.Asked), listed))
	case len(it.Errors) == 0:
		it.leave(RuleNotDesignated, "none of the errors could be made")
	}
	if i := slices.IndexFunc(it.Errors, func(e analysis.Error) bool { return e.Explanation == "" }); i >= 0 {
		it.leave(RuleMalformed, fmt.Sprintf("the error at %q lacks an explanation", it.Errors[i].Location))
	}
	for _, rule := range b.Recipe.Rules {
		if it.Rule != "" {
			break
		}
		switch rule {
		case RuleNotDesignated:
			if why := notDesignated(it.Asked, it.Errors); why != "" {
				it.leave(rule, why)
			}
		case RuleUnchanged:
			if f := folded(output); f == folded(raw) || f == folded(paraphrase) {
				it.leave(rule, "the output with errors is the correct text")
			}
		case RuleLanguage:
			for _, text := range []string{paraphrase, output} {
				why, err := otherLanguage(b.Language, raw, text)
				if err != nil {
					return err
				}
				if why != "" {
					it.leave(rule, why)
				}
			}
		case RuleTalk:
			if why := it.talk(); why != "" {
				it.leave(rule, why)
			}
		case RuleRepeat:
			it.repeats(seen)
		}
	}
	return nil
}

// repeats leaves an item out whose texts an earlier one has.
func (it *Item) repeats(seen map[string]bool) {
	key := strings.Join([]string{it.Task, folded(it.Source), folded(it.Reference), folded(it.Hypothesis)}, "\x00")
	if seen[key] {
		it.leave(RuleRepeat, "an earlier item has the same texts")
	}
	seen[key] = true
}

// TextsOf are the first references of segments, most of them drawn by the seed,
// and how many segments lack a text that the task needs.
func TextsOf(segments []*refract.Segment, t *Task, seed uint64, most int) (texts []Raw, lacking int) {
	for _, s := range segments {
		i := slices.IndexFunc(s.References, func(r refract.Text) bool { return r.Valid && strings.TrimSpace(r.Value) != "" })
		if i < 0 || t.NeedsSource && strings.TrimSpace(s.Source.Value) == "" {
			lacking++
			continue
		}
		r := Raw{ID: s.ID, Text: s.References[i].Value}
		if s.Source.Valid {
			r.Source = s.Source.Value
		}
		texts = append(texts, r)
	}
	return some(seed, "texts", texts, most), lacking
}
