package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/llm/budget"
)

// expander is one run of refract expand.
type expander struct {
	input
	output
	serverFlags
	checkFlags
	spendFlags
	batchFlags
	model       string
	revision    string
	endpoint    string
	cache       string
	prompts     string
	samples     int
	temperature float64
	topP        float64
	maxTokens   int
	extra       string
	resample    int
	enlarge     int
	judge       string
	tolerate    int
	keep        int
	keepBy      string
	chosen      *selection.Selector // nil keeps all
	offline     bool
	dryRun      bool
}

// defaultResample is how often a rejected answer is asked for again.
const defaultResample = 2

func (e *env) expandCommand() *cobra.Command {
	x := &expander{}
	cmd := &cobra.Command{
		Use:   "expand [DATASET]",
		Short: "Expand references with a language model",
		Long: `Ask a model to rewrite every reference, once for each prompt, and write the
dataset as JSON Lines with the answers as variants of their reference. The
order is that of the input.

Answers are cleaned and checked (--checks; 'refract check' tells how). One that
is rejected is asked for again, up to --resample times; one that --max-tokens
cut, with twice the room, up to --enlarge times. The output holds all of them:
references under "variants", the rest with its verdict under "rejected".`,
		Example: `  export OPENAI_API_KEY=…
  refract expand --source src.txt --ref ref.txt --model gpt-4o-mini -o expanded.jsonl
  refract expand jsonl:data.jsonl --model gpt-4o-mini --prices prices.yaml --dry-run
  refract expand jsonl:data.jsonl --model gpt-4o-mini --prices prices.yaml --max-cost 25 -o expanded.jsonl
  refract expand mtme:data/wmt22/zh-en --model my-model --base-url http://a:8000/v1 --base-url http://b:8000/v1 --concurrency 128 --endpoint completions -o expanded.jsonl`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return x.run(cmd.Context(), e, args) },
	}
	x.input.register(cmd)
	x.output.register(cmd)
	cmd.Flags().Lookup("format").Usage = "of --dry-run: table, json, jsonl, csv, tsv, markdown or latex"
	f := cmd.Flags()
	f.StringVar(&x.model, "model", "", "model to ask (required)")
	f.StringVar(&x.cache, "cache", "refract-cache.sqlite", "`FILE`, or postgres:// address, that stores every answer")
	f.StringVar(&x.revision, "revision", "", "revision of the model's weights, recorded with every answer")
	f.StringVar(&x.endpoint, "endpoint", "chat", "chat, or completions for models without a chat template")
	f.BoolVar(&x.offline, "offline", false, "make no call: every answer must be in the cache")
	grouped(cmd, modelFlags, "model", "cache")
	f.StringVar(&x.prompts, "prompts", "ten", "prompts separated by commas: ten, plain*10, ten@de, file:FILE, … ('refract prompts' lists them)")
	f.IntVar(&x.samples, "samples", diversify.DefaultSamples, "variants per prompt")
	f.Float64Var(&x.temperature, "temperature", diversify.PaperTemperature, "sampling temperature")
	f.Float64Var(&x.topP, "top-p", diversify.PaperTopP, "nucleus sampling")
	f.IntVar(&x.maxTokens, "max-tokens", diversify.DefaultMaxTokens, "longest answer")
	f.StringVar(&x.extra, "extra", "", `further fields of every request, as a JSON object such as '{"seed":1}'`)
	f.IntVar(&x.resample, "resample", defaultResample, "how often a rejected answer is asked for again")
	f.IntVar(&x.enlarge, "enlarge", 1, "how often an answer that --max-tokens cut is asked for again with twice the room")
	f.StringVar(&x.judge, "judge", "", "model that is asked whether each accepted answer means what its reference does")
	f.IntVar(&x.tolerate, "tolerate", 100, "requests that may fail on their own account, such as too long prompts, before the run stops")
	f.IntVar(&x.keep, "select", 0, "of a segment's variants keep so many that cover most; 0 keeps all ('refract select' has more)")
	f.StringVar(&x.keepBy, "select-by", selection.ByFacility.String(), "order, random, farthest or facility, over n-grams")
	complete(cmd, "select-by", selection.MethodNames()...)
	complete(cmd, "endpoint", string(llm.Chat), string(llm.Completions))
	complete(cmd, "prompts", promptWords()...)
	grouped(cmd, taskFlags, "prompts", "samples", "judge", "select")
	f.BoolVar(&x.dryRun, "dry-run", false, "print the calls, tokens and cost that are still to come, and make no call")
	grouped(cmd, budgetFlags, "dry-run")
	x.serverFlags.register(cmd)
	x.checkFlags.register(cmd)
	x.spendFlags.register(cmd)
	x.batchFlags.register(cmd)
	return cmd
}

func (x *expander) run(ctx context.Context, e *env, args []string) error {
	e.collectAt(200)
	cfg, err := x.config(e, args)
	if err != nil {
		return err
	}
	prices, err := x.readPrices(x.models()...)
	if err != nil {
		return err
	}
	if x.batch {
		prices = prices.Batched()
	}
	spend := budget.New(x.limits(), prices)
	var client *llm.Client
	if !x.offline && !x.dryRun {
		if client, err = x.client(e, x.endpoint); err != nil {
			return err
		}
	}
	ds, err := x.dataset(e, args, true)
	if err != nil {
		return err
	}
	var mode []cache.Option
	if x.offline || x.dryRun {
		mode = append(mode, cache.ReadOnly())
	}
	store, err := openStore(ctx, x.cache, x.dryRun, mode)
	if err != nil {
		return err
	}
	defer store.Close()
	cfg.Store = store
	if x.dryRun {
		return x.foresee(ctx, e, cfg, ds, prices)
	}
	out, err := e.create(x.path)
	if err != nil {
		return err
	}
	if x.batch {
		if cfg.Client, err = x.inBatches(ctx, e, cfg, ds, client, spend); err != nil {
			return err
		}
	} else if client != nil {
		cfg.Client, cfg.Budget = e.awaiting(client, x.wait), spend
	}
	total, err := x.total(ctx, ds, args, cfg)
	if err != nil {
		return err
	}
	return x.expand(ctx, e, cfg, ds, out, total, spend)
}

// expand runs the expansion, and writes what it gives.
func (x *expander) expand(ctx context.Context, e *env, cfg diversify.Config, ds refract.Dataset, out *atomicfile.File, total int, spend *budget.Budget) error {
	progress := e.progress("expand", total, "answers")
	cfg.Observe = observer(progress, spend)
	exp, err := diversify.New(cfg)
	if err != nil {
		return usagef("%w", err)
	}
	enc := dataset.NewEncoder(out)
	verdicts := map[string]int{}
	sum, err := exp.Expand(ctx, ds, func(s *refract.Segment) error {
		if x.chosen != nil {
			if err := x.chosen.Select(ctx, []*refract.Segment{s}, x.keep); err != nil {
				return fmt.Errorf("segment %q: %w", s.ID, err)
			}
		}
		for _, v := range s.Rejected {
			verdicts[v.Verdict]++
		}
		return enc.Encode(s)
	})
	progress.Finish()
	if err == nil {
		err = e.commit()
	}
	if err == nil || sum.Calls+sum.Cached > 0 {
		summarize(e, sum, verdicts, spend.Spent())
	}
	switch {
	case err == nil && verdicts[diversify.Failed] > 0:
		return &incompleteError{failed: verdicts[diversify.Failed], output: cmp.Or(x.path, "the output")}
	case err != nil && !errors.Is(err, diversify.ErrNotStored) && (sum.Calls > 0 || ctx.Err() != nil):
		e.note("%d answers of this run are stored in %s; this goes on from there:", sum.Calls, cache.Shown(x.cache))
		e.note("  %s", e.commandLine())
	}
	return err
}

// selector is what --select asks for, or nil.
func (x *expander) selector() (*selection.Selector, error) {
	if x.keep == 0 {
		return nil, nil
	}
	method, err := selection.ParseMethod(x.keepBy)
	if err != nil {
		return nil, usagef("--select-by: %w", err)
	}
	return &selection.Selector{Method: method, Similarity: selection.NGrams(), Seed: defaultSeed}, nil
}

// config is what the flags say of the expansion, without store and client.
func (x *expander) config(e *env, args []string) (diversify.Config, error) {
	var none diversify.Config
	if x.model == "" {
		return none, usagef("--model is missing: name the model to ask")
	}
	prompts, err := diversify.ParsePrompts(x.prompts)
	if err != nil {
		return none, usagef("--prompts: %w", err)
	}
	for _, n := range []struct {
		flag         string
		value, least int
	}{
		{"samples", x.samples, 1}, {"max-tokens", x.maxTokens, 1}, {"concurrency", x.concurrency, 1},
		{"resample", x.resample, 0}, {"enlarge", x.enlarge, 0}, {"tolerate", x.tolerate, 0}, {"select", x.keep, 0},
	} {
		if n.value < n.least {
			return none, usagef("--%s %d: want %d or more", n.flag, n.value, n.least)
		}
	}
	if err := x.exclusive(); err != nil {
		return none, err
	}
	if x.chosen, err = x.selector(); err != nil {
		return none, err
	}
	cfg := diversify.Config{
		Prompts: prompts, Samples: x.samples, Model: x.model, Revision: x.revision, Endpoint: llm.Endpoint(x.endpoint),
		Temperature: x.temperature, TopP: x.topP, MaxTokens: x.maxTokens,
		Resample: x.resample, Enlarge: x.enlarge,
		Config: ask.Config{Concurrency: x.calls(e), Tolerate: x.tolerate},
	}
	if cfg.Extra, err = parseExtra(x.extra); err != nil {
		return none, err
	}
	if cfg.Check, err = x.checkerFor(args, prompts); err != nil {
		return none, err
	}
	if x.judge != "" {
		if cfg.Check == nil {
			return none, usagef("--judge comes after the checks: leave out --checks none")
		}
		cfg.Equivalence = &diversify.Equivalence{Model: x.judge, Endpoint: llm.Endpoint(x.endpoint)}
	}
	return cfg, nil
}

func (x *expander) exclusive() error {
	if x.offline && x.batch {
		return usagef("--offline makes no call, and --batch is a way to make them: leave one out")
	}
	if x.formatGiven() && !x.dryRun {
		return usagef("--format is that of --dry-run; the dataset is always JSON Lines")
	}
	if x.batch && len(x.baseURLs) > 1 {
		return usagef("--batch sends all calls to one server: name one --base-url")
	}
	return nil
}

// models are those that are asked.
func (x *expander) models() []string {
	if x.judge != "" && x.judge != x.model {
		return []string{x.model, x.judge}
	}
	return []string{x.model}
}

// total is how many first answers there will be, or 0 where that is not known
// without reading a stream. Segments of JSON Lines have another number of
// references each, so they are counted; a fault in the file then shows before
// the first call.
func (x *expander) total(ctx context.Context, ds refract.Dataset, args []string, cfg diversify.Config) (int, error) {
	sized, ok := ds.(dataset.Sized)
	if !ok {
		return 0, nil
	}
	n, known := sized.Len()
	if !known {
		return 0, nil
	}
	references := n * max(1, len(x.refs), len(x.reference))
	if len(args) > 0 && strings.HasPrefix(args[0], "jsonl:") {
		if len(x.references) > 0 {
			return 0, nil // of which one may be a stream
		}
		references = 0
		for s, err := range ds.Segments(ctx) {
			if err != nil {
				return 0, err
			}
			for _, r := range s.References {
				if strings.TrimSpace(r.Value) != "" {
					references++
				}
			}
		}
	}
	perReference := 0
	for _, p := range cfg.Prompts {
		perReference += cmp.Or(p.Samples, cfg.Samples)
	}
	return references * perReference, nil
}
