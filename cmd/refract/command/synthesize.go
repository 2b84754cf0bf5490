package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/diversify/language"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/llm/budget"
	"github.com/refract-eval/refract/metrics/judge/build"
	"github.com/refract-eval/refract/report"
)

// synthesizeCommand groups the recipes.
func (e *env) synthesizeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "synthesize",
		Short: "Make data that judges are trained on",
		Long: `Make data that judges are trained on, by the recipe of a published metric. The
prompt of every example is, byte for byte, what the metric sends when it is
served, and the completion is what its parser reads. docs/building.md tells more.`,
		Example: `  refract synthesize instructscore --task mt_zh-en --model gpt-4o --domains 5 --topics 5 -o data
  refract synthesize metricinstruct mix.yaml --model gpt-4o -o data`,
	}
	group(cmd)
	cmd.AddCommand((&instructing{}).command(e), (&mixing{}).command(e))
	return cmd
}

// buildFlags are those of commands that make training data with a model.
type buildFlags struct {
	callFlags
	model, revision string
	seed            uint64
	recipeDir       string
	writeRecipe     string
	dir             string
	set             build.Set
	formats         output // of tables on standard output
	includeHuman    bool

	recipe   *build.Recipe
	prices   budget.Prices
	spend    *budget.Budget
	store    store              // nil until there is a teacher
	to       *atomicfile.Folder // nil for a dry run
	progress *report.Progress

	answers answered
	written bool // so that the same command would come to the same
}

func (b *buildFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Uint64Var(&b.seed, "seed", defaultSeed, "seed of all that is drawn")
	f.Float64Var(&b.set.Validation, "validation", 0.05, "share of the source texts whose examples are for validation")
	inRange(cmd, "a share from 0 to 1", func(v float64) bool { return v >= 0 && v <= 1 }, "validation")
	grouped(cmd, taskFlags, "seed", "validation")
	b.registerRecipe(cmd)
	f.StringVarP(&b.dir, "output", "o", "", "`DIR` to write, which must be new or empty")
	f.StringVar(&b.set.Form, "form", "", "messages, completion (prompt and completion as they are), alpaca or sharegpt; default as the metric is served: completion, or messages for chat")
	oneOf(cmd, "form", build.Forms()...)
	f.StringVar(&b.set.Container, "to", build.JSONLines, "jsonl or parquet")
	oneOf(cmd, "to", build.Containers()...)
	f.StringVar(&b.set.Name, "name", "", "name of the data, for its card")
	f.StringVar(&b.set.License, "license", "", "license of the data, for its card, such as cc-by-4.0")
	b.formats.registerFormat(cmd, "how tables are printed: ", "")
	grouped(cmd, resultFlags, "output", "form", "to", "license")
	b.registerModel(cmd)
}

// registerRecipe adds the flags that change prompts.
func (b *buildFlags) registerRecipe(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&b.recipeDir, "recipe", "", "`DIR` with files of the recipe that stand in place of the built-in ones")
	f.StringVar(&b.writeRecipe, "write-recipe", "", "write the files of the recipe to `DIR`, to be changed, and do no more")
	grouped(cmd, taskFlags, "recipe", "write-recipe")
}

// registerModel adds the flags that say who is asked.
func (b *buildFlags) registerModel(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&b.model, "model", "", "`MODEL` to ask")
	f.StringVar(&b.revision, "revision", "", "revision of the model's weights, recorded with every answer")
	grouped(cmd, modelFlags, "model")
	b.callFlags.register(cmd, "answer")
	b.registerDryRun(cmd, "make none")
}

// load reads the recipe, and writes it where that is all that is asked for.
func (b *buildFlags) load(e *env, name string) (done bool, err error) {
	if b.recipe, err = build.LoadRecipe(name, b.recipeDir); err != nil {
		return false, usagef("%w", err)
	}
	if b.writeRecipe == "" {
		if b.model == "" {
			return false, usagef("--model is missing: name the model to ask")
		}
		return false, nil
	}
	to, err := e.createFolder(b.writeRecipe)
	if err == nil {
		err = b.recipe.Write(to.Write)
	}
	return true, err
}

// asking is a command that asks a model by run.
func (b *buildFlags) asking(e *env, run func(context.Context, *env, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd.Context(), e, args)
		b.told(cmd.Context(), e, err)
		if b.store != nil {
			b.store.Close()
		}
		return err
	}
}

// teacher is the model that is asked.
func (b *buildFlags) teacher(ctx context.Context, e *env) (*build.Teacher, error) {
	var err error
	if b.prices, err = b.readPrices(b.model); err != nil {
		return nil, err
	}
	if !b.dryRun { // a folder that is not empty is refused before anything is paid
		if b.to, err = e.createFolder(b.dir); err != nil {
			return nil, err
		}
	}
	b.spend = budget.New(b.limits(), b.prices)
	cfg := ask.Config{Concurrency: b.calls(e), Tolerate: b.tolerate, Budget: b.spend}
	if b.calling() {
		client, err := b.client(e, llm.Chat)
		if err != nil {
			return nil, err
		}
		cfg.Client = e.awaiting(client, b.wait)
	}
	if b.store, err = b.openStore(ctx, e, b.dryRun); err != nil {
		return nil, err
	}
	cfg.Store = b.store
	if !b.dryRun {
		b.progress = e.progress("ask", "answers")
	}
	return &build.Teacher{Model: b.model, Revision: b.revision, Asker: ask.New(cfg), LookAhead: b.dryRun, Observe: b.observe}, nil
}

func (b *buildFlags) observe(r ask.Result) {
	if r.Tolerated { // another error ends the run, and is told there
		b.answers.fails(build.Reason(r.Err))
	}
	b.answers.add(b.progress, b.spend, r.Called, r.Err != nil, r.Answer.PromptTokens+r.Answer.CompletionTokens)
}

// told ends the progress, and says what was asked for and how a run that failed
// goes on.
func (b *buildFlags) told(ctx context.Context, e *env, err error) {
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

// foreseen prints what the steps would ask for.
func (b *buildFlags) foreseen(e *env, steps []*build.Step) error {
	t := &report.NamedTable{Title: "what is to come", Columns: []report.Column{
		{Name: "step"}, {Name: "stored", Kind: report.KindInt}, {Name: "calls", Kind: report.KindInt}, {Name: "unknown", Kind: report.KindInt},
		{Name: "prompt tokens", Kind: report.KindInt}, {Name: "most completion tokens", Kind: report.KindInt}, {Name: "most cost"},
	}}
	var all ask.Outlook
	unknown, cost := 0, 0.0
	tokens, paid, like := 0, 0.0, false // if answers are as long as the stored ones
	var unpriced []string
	add := func(name string, o ask.Outlook, unknown int, cost float64, priced bool) {
		c := report.Null()
		if priced {
			c = fixed(cost)
		}
		t.Add(name, o.Stored, o.Needed, unknown, o.PromptTokens, o.MostCompletionTokens, c)
	}
	for _, s := range steps {
		o := s.Foreseen()
		price, priced := b.prices[s.Model]
		of := price.Cost(o.PromptTokens, o.MostCompletionTokens)
		add(s.Name, o, s.Unknown, of, priced)
		if !priced && !slices.Contains(unpriced, s.Model) {
			unpriced = append(unpriced, s.Model)
		}
		all.Stored += o.Stored
		all.Needed += o.Needed
		all.PromptTokens += o.PromptTokens
		all.MostCompletionTokens += o.MostCompletionTokens
		unknown += s.Unknown
		cost += of
		about := o.MostCompletionTokens
		if o.Measured {
			about, like = o.StoredCompletionTokens*(o.Needed+s.Unknown)/o.Stored, true
		}
		tokens += about
		paid += price.Cost(o.PromptTokens, about)
	}
	add("all", all, unknown, cost, unpriced == nil)
	if unknown > 0 {
		t.Note("unknown: calls that depend on answers not known yet, if each is as long as was asked for; they are among the tokens and the cost.")
	}
	if like {
		said := fmt.Sprintf("If answers are as long as the stored ones: about %s", english.Thousands(tokens, "completion token"))
		if unpriced == nil {
			said += ", at a cost of " + strconv.FormatFloat(paid, 'f', 4, 64)
		}
		t.Note("%s.", said)
	}
	out := b.formats.onScreen()
	err := out.show(e, t)
	if err == nil && unpriced != nil {
		e.note("the cost is not known: --prices has none of %s", strings.Join(unpriced, ", "))
	}
	return err
}

// write writes the folder, and shows the counts.
func (b *buildFlags) write(e *env, teacher *build.Teacher) error {
	b.set.Seed, b.set.Recipe, b.set.Model, b.set.Revision, b.set.Prices = b.seed, b.recipe, b.model, b.revision, b.prices
	b.set.Steps = teacher.Steps
	b.set.Form = cmp.Or(b.set.Form, build.FormOf(b.set.Served[0]))
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
		return fmt.Errorf("none of %s is an example; %s has the answers, with the rule that each is left out by", english.Count(sum.Items, "item"), filepath.Join(b.dir, "items.jsonl"))
	}
	return nil
}

// inLanguage checks that texts are in the language of the correct one.
func inLanguage(code string) (*check.Checker, error) {
	if code == "" {
		return nil, nil
	}
	d, err := language.New(language.Config{Language: code})
	if err != nil {
		return nil, err
	}
	return check.New(check.Config{Cleaning: []string{}, Checks: []string{check.ReasonLanguage}, Detector: d})
}

// segments reads a dataset, which is one more input of what is made.
func (b *buildFlags) segments(ctx context.Context, e *env, spec string) ([]*refract.Segment, error) {
	ds, err := (&input{}).dataset(e, []string{spec}, false)
	if err != nil {
		return nil, err
	}
	id := refract.NewIdentity()
	var all []*refract.Segment
	for s, err := range ds.Segments(ctx) {
		if err != nil {
			return nil, err
		}
		id.Add(s)
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, dataset.ErrEmpty
	}
	if in := (build.Input{Spec: spec, Set: id.Hash()}); !slices.Contains(b.set.Inputs, in) {
		b.set.Inputs = append(b.set.Inputs, in)
	}
	return all, ctx.Err()
}

// registerOutputs adds the flag of commands whose items are of outputs of systems.
func (b *buildFlags) registerOutputs(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&b.includeHuman, "include-references", false, "references scored as systems are outputs too, but the one that is shown")
}

// outputsOf leaves texts by people out of segments, which are references scored as
// systems: all of them, or with --include-references those that are shown as the
// reference. It says how many.
func (b *buildFlags) outputsOf(e *env, spec string, segments []*refract.Segment) []*refract.Segment {
	var out []*refract.Segment
	left := map[string]int{}
	for _, s := range segments {
		shown := slices.IndexFunc(s.References, func(r refract.Text) bool { return r.Valid })
		out = append(out, withoutPeople(s, func(h refract.Hypothesis) bool {
			drop := !b.includeHuman || shown >= 0 && h.Text == s.References[shown]
			if drop && h.Text.Valid {
				left[h.System]++
			}
			return drop
		}))
	}
	texts := 0
	for _, n := range left {
		texts += n
	}
	if texts == 0 {
		return out
	}
	said := fmt.Sprintf("%s: left out as references scored as systems: %s of %s", spec, english.Count(texts, "text"), strings.Join(slices.Sorted(maps.Keys(left)), ", "))
	if note := said + "."; !slices.Contains(b.set.Notes, note) {
		b.set.Notes = append(b.set.Notes, note)
		e.note("%s (--include-references adds those that are not shown as the reference)", said)
	}
	return out
}
