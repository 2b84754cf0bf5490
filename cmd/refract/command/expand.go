package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/budget"
	"github.com/refract-eval/refract/report"
)

// expander is one run of refract expand.
type expander struct {
	input
	output
	callFlags
	checkFlags
	batchFlags
	diversify.Config
	prompts string
	judge   string
	keep    int // of the variants of a segment; 0 for all
	keepBy  selection.Method
}

// defaultResample is how often a rejected answer is asked for again.
const defaultResample = 2

func (e *env) expandCommand() *cobra.Command {
	x := &expander{}
	cmd := &cobra.Command{
		Use:   "expand [DATASET]",
		Short: "Expand references with a language model",
		Long: `A model rewrites every reference, once for each prompt. The output is the
dataset as JSON Lines, in the order of the input, with the answers as variants
of their reference.

Answers are cleaned and checked (--checks; see 'refract check'). A rejected
answer is asked for again, up to --resample times; one that --max-tokens cut,
with twice the room, up to --enlarge times. The output keeps them all: accepted
ones under "variants", the others with their verdict under "rejected".`,
		Example: `  export OPENAI_API_KEY=…
  refract expand --source src.txt --ref ref.txt --model gpt-4o-mini -o expanded.jsonl
  refract expand jsonl:data.jsonl --model gpt-4o-mini --prices prices.yaml --dry-run
  refract expand jsonl:data.jsonl --model gpt-4o-mini --prices prices.yaml --max-cost 25 -o expanded.jsonl
  refract expand mtme:data/wmt22/zh-en --model my-model --base-url http://a:8000/v1 --base-url http://b:8000/v1 --concurrency 128 --endpoint completions -o expanded.jsonl`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return x.run(cmd.Context(), e, args) },
	}
	x.input.register(cmd)
	x.output.registerFormat(cmd, "of --dry-run: ", "")
	x.output.registerPath(cmd)
	f := cmd.Flags()
	f.StringVar(&x.Model, "model", "", "`MODEL` to ask (required)")
	f.StringVar(&x.Revision, "revision", "", "revision of the model's weights, recorded with every answer")
	f.StringVar((*string)(&x.Endpoint), "endpoint", string(llm.Chat), "chat, or completions for models without a chat template")
	oneOf(cmd, "endpoint", string(llm.Chat), string(llm.Completions))
	grouped(cmd, modelFlags, "model")
	f.StringVar(&x.prompts, "prompts", "ten", "prompts separated by commas: ten, plain*10, ten@de, file:FILE, … ('refract prompts' lists them)")
	complete(cmd, "prompts", diversify.PromptWords()...)
	f.IntVar(&x.Samples, "samples", diversify.DefaultSamples, "variants per prompt")
	f.Float64Var(&x.Temperature, "temperature", diversify.PaperTemperature, "sampling temperature")
	f.Float64Var(&x.TopP, "top-p", diversify.PaperTopP, "nucleus sampling")
	f.IntVar(&x.MaxTokens, "max-tokens", diversify.DefaultMaxTokens, "longest answer")
	parsedFlag(cmd, &x.Extra, "extra", "", llm.ParseExtra, "`JSON`: object of further fields of every request, such as '{\"seed\":1}'")
	f.IntVar(&x.Resample, "resample", defaultResample, "how often a rejected answer is asked for again")
	f.IntVar(&x.Enlarge, "enlarge", 1, "how often an answer that --max-tokens cut is asked for again, with twice the room")
	f.StringVar(&x.judge, "judge", "", "`MODEL` that tells whether each accepted answer means what its reference does")
	f.IntVar(&x.keep, "select", 0, "variants of a segment to keep, those that cover most; 0 keeps all ('refract select' has more)")
	parsedFlag(cmd, &x.keepBy, "select-by", selection.ByFacility.String(), selection.ParseMethod, "order, random, farthest or facility, over n-grams", selection.MethodNames()...)
	atLeast(cmd, 1, "samples", "max-tokens")
	atLeast(cmd, 0, "resample", "enlarge", "select")
	grouped(cmd, taskFlags, "prompts", "samples", "judge", "select")
	x.callFlags.register(cmd, "answer")
	x.callFlags.registerDryRun(cmd)
	x.checkFlags.register(cmd)
	x.batchFlags.register(cmd)
	return cmd
}

func (x *expander) run(ctx context.Context, e *env, args []string) error {
	e.collectAt(200)
	if err := x.configure(e, args); err != nil {
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
	if x.calling() {
		if client, err = x.client(e, x.Endpoint); err != nil {
			return err
		}
	}
	ds, err := x.dataset(e, args, true)
	if err != nil {
		return err
	}
	store, err := x.openStore(ctx, x.dryRun)
	if err != nil {
		return err
	}
	defer store.Close()
	x.Store = store
	if x.dryRun {
		return x.foresee(ctx, e, ds, prices)
	}
	out, err := e.create(x.path)
	if err != nil {
		return err
	}
	if x.batch {
		if x.Client, err = x.inBatches(ctx, e, ds, client, spend); err != nil {
			return err
		}
	} else if client != nil {
		x.Client, x.Budget = e.awaiting(client, x.wait), spend
	}
	return x.expand(ctx, e, ds, out, spend)
}

// expand runs the expansion, and writes what it gives.
func (x *expander) expand(ctx context.Context, e *env, ds refract.Dataset, out io.Writer, spend *budget.Budget) error {
	var progress *report.Progress
	var last diversify.Progress
	x.Observe = func(now diversify.Progress) { observe(progress, &last, now, spend) }
	exp, err := diversify.New(x.Config)
	if err != nil {
		return usagef("%w", err)
	}
	total := 0 // where that is not known
	if dataset.Rereadable(ds) {
		if total, err = exp.Total(ctx, ds); err != nil {
			return err
		}
	}
	progress = e.progress("expand", total, "answers")
	var chosen *selection.Selector
	if x.keep > 0 {
		chosen = &selection.Selector{Method: x.keepBy, Similarity: selection.NGrams(), Seed: defaultSeed}
	}
	enc := dataset.NewEncoder(out)
	verdicts := map[string]int{}
	sum, err := exp.Expand(ctx, ds, func(s *refract.Segment) error {
		if chosen != nil {
			if err := chosen.Select(ctx, []*refract.Segment{s}, x.keep); err != nil {
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
		x.tellResume(e, sum.Calls)
	}
	return err
}

// configure completes the Config by what the flags say together, without
// store and client.
func (x *expander) configure(e *env, args []string) (err error) {
	switch {
	case x.Model == "":
		return usagef("--model is missing: name the model to ask")
	case x.offline && x.batch:
		return usagef("--offline makes no call, and --batch is a way to make them: leave one out")
	case x.formatGiven && !x.dryRun:
		return usagef("--format is that of --dry-run; the dataset is always JSON Lines")
	case x.batch && len(x.baseURLs) > 1:
		return usagef("--batch sends all calls to one server: name one --base-url")
	}
	if x.Prompts, err = diversify.ParsePrompts(x.prompts); err != nil {
		return usagef("--prompts: %w", err)
	}
	if x.Check, err = x.checkerFor(args, x.Prompts); err != nil {
		return err
	}
	if x.judge != "" {
		if x.Check == nil {
			return usagef("--judge comes after the checks: leave out --checks none")
		}
		x.Equivalence = &diversify.Equivalence{Model: x.judge, Endpoint: x.Endpoint}
	}
	x.Concurrency, x.Tolerate = x.calls(e), x.tolerate
	return nil
}

// models are those that are asked.
func (x *expander) models() []string {
	if x.judge != "" && x.judge != x.Model {
		return []string{x.Model, x.judge}
	}
	return []string{x.Model}
}
