package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/internal/build"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
)

// buildCommand groups the recipes.
func (e *env) buildCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Make data that judges are trained on",
		Long: `Make data that judges are trained on, by the recipe of a published metric. The
prompt of every example is, byte for byte, what the metric sends when it is
served, and the completion is what its parser reads (docs/building.md).

-o is a folder: train and validation, items.jsonl with all items and the rule
that left some out, a card, and the recipe. Answers are stored, so that the same
command continues where a run stopped. --write-recipe DIR writes the prompts for
you to change, and --recipe DIR uses them.`,
		Example: `  refract build instructscore jsonl:data.jsonl --task mt_zh-en --model gpt-4o -o data
  refract build metricinstruct mix.yaml --model gpt-4o -o data
  refract build refine jsonl:data.jsonl -m instructscore:task=mt_zh-en --model gpt-4o -o refined`,
	}
	group(cmd)
	cmd.AddCommand((&designing{}).command(e), (&mixing{}).command(e), (&refining{}).command(e))
	return cmd
}

// builder is what the recipes share.
type builder struct {
	callFlags
	recipeDir, writeRecipe, dir string
	items                       int
	set                         build.Set
	formats                     output // of tables on standard output

	rates    ask.Prices
	spend    *ask.Budget
	store    store              // nil until a model is asked
	to       *atomicfile.Folder // nil for a dry run
	progress *report.Progress
	answers  answered
	written  bool // running the same command again would change nothing
}

// register adds the flags of a recipe, and has the command run it: check says what
// is missing on the command line, and run adds items to the set.
func (b *builder) register(cmd *cobra.Command, e *env, recipe string, check func(args []string) error, run func(context.Context, *env, []string) error) {
	f := cmd.Flags()
	f.IntVar(&b.items, "items", 0, "most items, drawn by the seed; 0 for all")
	f.Uint64Var(&b.set.Seed, "seed", defaultSeed, "seed of all that is drawn")
	f.Float64Var(&b.set.Validation, "validation", 0.05, "share of the source texts whose examples are for validation")
	f.StringVar(&b.recipeDir, "recipe", "", "`DIR` with files that replace the recipe's built-in ones")
	f.StringVar(&b.writeRecipe, "write-recipe", "", "write the recipe's files to `DIR`, and do no more")
	atLeast(cmd, 0, "items")
	inRange(cmd, "a share from 0 to 1", func(v float64) bool { return v >= 0 && v <= 1 }, "validation")
	grouped(cmd, taskFlags, "items", "seed", "validation", "recipe", "write-recipe")
	f.StringVarP(&b.dir, "output", "o", "", "`DIR` to write, which must be new or empty")
	f.StringVar(&b.set.Name, "name", "", "name of the data, for its card")
	f.StringVar(&b.set.License, "license", "", "license of the data, for its card, such as cc-by-4.0")
	b.formats.registerFormat(cmd, "how tables are printed: ", "")
	grouped(cmd, resultFlags, "output", "license")
	f.StringVar(&b.set.Teacher.Name, "model", "", "`MODEL` to ask")
	f.StringVar(&b.set.Teacher.Revision, "revision", "", "revision of the model's weights, recorded with every answer")
	grouped(cmd, modelFlags, "model")
	b.callFlags.register(cmd, "answer")
	b.registerDryRun(cmd, "make none")
	cmd.Args = usageArgs(cobra.MaximumNArgs(1))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		err := b.start(e, recipe, func() error { return check(args) })
		if err != nil || b.writeRecipe != "" {
			return err
		}
		if err = b.open(ctx, e); err == nil {
			err = run(ctx, e, args)
		}
		if err == nil {
			err = b.finish(e)
		}
		b.tell(ctx, e, err)
		if b.store != nil {
			b.store.Close()
		}
		return err
	}
}

// start loads the recipe, writes it if that is all, and checks the command line.
func (b *builder) start(e *env, recipe string, check func() error) (err error) {
	if b.set.Recipe, err = build.LoadRecipe(recipe, b.recipeDir); err != nil {
		return usagef("%w", err)
	}
	if b.writeRecipe != "" {
		to, err := e.createFolder(b.writeRecipe)
		if err == nil {
			err = b.set.Recipe.Write(to.Write)
		}
		return err
	}
	if b.set.Teacher.Name == "" {
		return usagef("--model is missing: name the model to ask")
	}
	if err := check(); err != nil {
		return err
	}
	if b.dir == "" && !b.dryRun {
		return usagef("-o is missing: name the folder to write")
	}
	return nil
}

// open prepares the folder, the cache and the client.
func (b *builder) open(ctx context.Context, e *env) (err error) {
	if b.rates, err = b.readPrices(b.set.Teacher.Name); err != nil {
		return err
	}
	if !b.dryRun { // a folder that is not empty is refused before anything is paid
		if b.to, err = e.createFolder(b.dir); err != nil {
			return err
		}
		b.progress = e.progress("ask", "answers")
	}
	b.spend = ask.NewBudget(b.limits(), b.rates)
	cfg := ask.Config{Concurrency: b.calls(e), Tolerate: b.tolerate, Budget: b.spend}
	if b.calling() {
		client, err := b.client(e, llm.Chat)
		if err != nil {
			return err
		}
		cfg.Client = client
	}
	if b.store, err = b.openStore(ctx, e, b.dryRun); err != nil {
		return err
	}
	cfg.Store = b.store
	b.set.Asker, b.set.DryRun = ask.New(cfg), b.dryRun
	b.set.Observe = func(r ask.Result) {
		if r.Tolerated { // another error ends the run, and is told there
			b.answers.fails(build.Reason(r.Err))
		}
		b.answers.add(b.progress, b.spend, r.Called, r.Err != nil, r.Answer.PromptTokens+r.Answer.CompletionTokens)
	}
	return nil
}

// finish writes the folder and shows the counts, or shows what is to come.
func (b *builder) finish(e *env) error {
	if b.dryRun {
		return b.foresee(e)
	}
	sum, err := b.set.Write(b.to)
	if err != nil {
		return err
	}
	if b.set.License == "" {
		e.note("the card lacks a license: fill it in in %s, or give --license", filepath.Join(b.dir, "README.md"))
	}
	if sum.Examples > 0 && sum.Validation == 0 && b.set.Validation > 0 {
		e.warn("no source text fell to validation: there are few, and each is drawn for itself")
	}
	if err := b.formats.show(e, sum.Table()); err != nil {
		return err
	}
	b.written = true
	if sum.Examples == 0 {
		return fmt.Errorf("none of %s is an example; %s has the answers, with the rule that left each out", english.Count(sum.Items, "item"), filepath.Join(b.dir, "items.jsonl"))
	}
	return nil
}

// tell ends the progress, and says what was asked and how a run that failed
// continues.
func (b *builder) tell(ctx context.Context, e *env, err error) {
	if b.answers.all > 0 && !b.dryRun {
		b.progress.Finish()
		b.answers.tell(e, "")
	}
	if b.spend != nil {
		e.tellCost(b.spend.Spent())
	}
	if err != nil && !b.written && !errors.Is(err, ask.ErrNotStored) && (b.answers.called > 0 || ctx.Err() != nil) {
		b.tellResume(e, b.answers.called)
	}
}

// foresee prints what the steps would ask.
func (b *builder) foresee(e *env) error {
	t := &report.NamedTable{Title: "what is to come", Columns: []report.Column{
		{Name: "step"}, countColumn("stored"), countColumn("calls"), countColumn("unknown"),
		countColumn("prompt tokens"), countColumn("most completion tokens"), {Name: "most cost"},
	}}
	unknown, unpriced := 0, map[string]bool{}
	for _, s := range b.set.Steps {
		price, priced := b.rates[s.Model]
		cost := fixed(price.Cost(s.Ahead.PromptTokens, s.Ahead.MostCompletionTokens))
		if !priced {
			unpriced[s.Model], cost = true, report.Null()
		}
		t.Add(s.Name, s.Ahead.Stored, s.Ahead.Needed, s.Unknown, s.Ahead.PromptTokens, s.Ahead.MostCompletionTokens, cost)
		unknown += s.Unknown
	}
	if unknown > 0 {
		t.Note("unknown: conversations that depend on answers not known yet, at most; their tokens are not counted.")
	}
	out := b.formats.onScreen()
	err := out.show(e, t)
	if err == nil && len(unpriced) > 0 {
		e.note("the cost is not known: --prices has none of %s", strings.Join(slices.Sorted(maps.Keys(unpriced)), ", "))
	}
	return err
}

// segments reads a dataset, and records it as an input. It leaves out references
// scored as systems, and segments without a reference, which may be empty, or a source
// that is needed, and says so.
func (b *builder) segments(ctx context.Context, e *env, spec string, needsSource, mayBeEmpty bool) ([]*refract.Segment, error) {
	ds, err := (&input{}).dataset(e, []string{spec}, false)
	if err != nil {
		return nil, err
	}
	id := refract.NewIdentity()
	var kept []*refract.Segment
	people, texts, read, lacking := map[string]bool{}, 0, 0, 0
	for s, err := range ds.Segments(ctx) {
		if err != nil {
			return nil, err
		}
		id.Add(s)
		read++
		if !slices.ContainsFunc(s.References, func(t refract.Text) bool { return t.Valid && (mayBeEmpty || t.Value != "") }) || needsSource && strings.TrimSpace(s.Source.Value) == "" {
			lacking++
			continue
		}
		own := *s
		own.Hypotheses = nil
		for _, h := range s.Hypotheses {
			if !h.Human {
				own.Hypotheses = append(own.Hypotheses, h)
			} else if h.Text.Valid {
				people[h.System] = true
				texts++
			}
		}
		kept = append(kept, &own)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case read == 0:
		return nil, dataset.ErrEmpty
	case lacking > 0:
		e.warn("%s: segments without a reference, or a source that is needed: %d", spec, lacking)
	}
	if in := (build.Input{Spec: spec, Set: id.Hash()}); !slices.Contains(b.set.Inputs, in) {
		b.set.Inputs = append(b.set.Inputs, in)
	}
	if texts > 0 {
		said := fmt.Sprintf("%s: left out as references scored as systems: %s of %s", spec, english.Count(texts, "text"), strings.Join(slices.Sorted(maps.Keys(people)), ", "))
		if !slices.Contains(b.set.Notes, said+".") {
			b.set.Notes = append(b.set.Notes, said+".")
			e.note("%s", said)
		}
	}
	return kept, nil
}
