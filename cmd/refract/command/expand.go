package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/meaning"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/llm/budget"
)

// expander is one run of refract expand.
type expander struct {
	input
	output
	callFlags
	checkFlags
	batchFlags
	auditFlags
	decisionFlag
	formFlags
	shardFlag
	embeds embeddingFlags
	diversify.Config
	staged  bool // so that what --complete cannot fill is no failure, which would come again
	prompts string
	from    string // fromReference or fromSource
	task    string
	pilot   int // segments to expand before the whole is estimated; 0 for a whole run
	keep    int // of the variants of a segment; 0 for all
	keepBy  selection.Method

	patterns diversify.Patterns // of a pilot
}

// pilotAudit is the --audit of a --pilot, where none is given.
const pilotAudit = 50

// What a model is shown to make a reference of.
const (
	fromReference = "reference"
	fromSource    = "source"
)

// defaultResample is how often a rejected answer is asked for again.
const defaultResample = 2

func (e *env) expandCommand() *cobra.Command { return (&expander{}).command(e) }

func (x *expander) command(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "expand [DATASET]",
		Short: "Expand references with a language model",
		Long: `A model rewrites every reference, once for each prompt. The output is the
dataset as JSON Lines, in the order of the input, with the answers as variants
of their reference.

Answers are cleaned and checked (--checks; see 'refract check'). A rejected
answer is asked for again, up to --resample times; one that --max-tokens cut,
with twice the room, up to --enlarge times. --complete N then asks for further
samples where a segment has fewer than N; exit code 1 says that some still have,
or, without it, that no answer has a text.
The output keeps all answers: accepted ones under "variants", the others with
their verdict under "rejected".

--judge asks another model whether doubtful answers (by their words, and with
--embeddings by vectors too) mean what their references do; --audit 50 draws variants at random, and says how many keep the meaning.
With --complete, what the audit or people (--decisions) reject is replaced. A
DATASET that was expanded before is asked for what it lacks alone.

--pilot 20 expands the first 20 segments, shows what is rejected and why, and
estimates what the whole takes. --from source asks for another reference of the
source, such as a translation (--task), in place of a rewriting.`,
		Example: `  export OPENAI_API_KEY=…
  refract expand --source src.txt --ref ref.txt --model gpt-4o-mini -o expanded.jsonl
  refract expand jsonl:data.jsonl --model gpt-4o-mini --prices prices.yaml --dry-run
  refract expand jsonl:data.jsonl --model gpt-4o-mini --prices prices.yaml --max-cost 25 -o expanded.jsonl
  refract expand mtme:data/wmt22/zh-en --model my-model --base-url http://a:8000/v1 --base-url http://b:8000/v1 --concurrency 128 --endpoint completions -o expanded.jsonl`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return x.run(cmd.Context(), e, args) },
	}
	x.input.register(cmd)
	x.output.registerFormat(cmd, "of --dry-run and --pilot: ", "")
	x.output.registerLines(cmd)
	f := cmd.Flags()
	f.StringVar(&x.Model, "model", "", "`MODEL` to ask (required)")
	f.StringVar(&x.Revision, "revision", "", "revision of the model's weights, recorded with every answer")
	f.StringVar((*string)(&x.Endpoint), "endpoint", string(llm.Chat), "chat, or completions for models without a chat template")
	oneOf(cmd, "endpoint", string(llm.Chat), string(llm.Completions))
	grouped(cmd, modelFlags, "model")
	f.StringVar(&x.prompts, "prompts", "ten", "prompts separated by commas: ten, plain*10, ten@de, file:FILE, … ('refract prompts' lists them)")
	complete(cmd, "prompts", diversify.PromptWords()...)
	f.StringVar(&x.from, "from", fromReference, "reference, to rewrite it, or source, to make another reference of it (--prompts source)")
	oneOf(cmd, "from", fromReference, fromSource)
	f.StringVar(&x.task, "task", "", "what the prompt source asks for: "+strings.Join(diversify.Tasks(), ", "))
	oneOf(cmd, "task", diversify.Tasks()...)
	f.IntVar(&x.Samples, "samples", diversify.DefaultSamples, "variants per prompt")
	f.Float64Var(&x.Temperature, "temperature", diversify.PaperTemperature, "sampling temperature")
	f.Float64Var(&x.TopP, "top-p", diversify.PaperTopP, "nucleus sampling")
	f.IntVar(&x.MaxTokens, "max-tokens", diversify.DefaultMaxTokens, "longest answer")
	parsedFlag(cmd, &x.Extra, "extra", "", llm.ParseExtra, "`JSON`: object of further fields of every request, such as '{\"seed\":1}'")
	f.IntVar(&x.Resample, "resample", defaultResample, "how often a rejected answer is asked for again")
	f.IntVar(&x.Enlarge, "enlarge", 1, "how often an answer that --max-tokens cut is asked for again, with twice the room")
	f.IntVar(&x.Complete, "complete", 0, "go on until every segment has `N` accepted variants; 0 asks each prompt for --samples")
	f.IntVar(&x.Rounds, "rounds", diversify.DefaultRounds, "how often --complete asks for what a segment lacks")
	f.IntVar(&x.keep, "select", 0, "variants of a segment to keep, those that cover most; 0 keeps all ('refract select' has more)")
	parsedFlag(cmd, &x.keepBy, "select-by", selection.ByFacility.String(), selection.ParseMethod, "order, random, farthest or facility, over n-grams", selection.MethodNames()...)
	atLeast(cmd, 1, "samples", "max-tokens", "rounds")
	within(cmd, 0, 2, "temperature")
	atLeast(cmd, 0, "resample", "enlarge", "complete", "select")
	grouped(cmd, taskFlags, "prompts", "complete")
	x.callFlags.register(cmd, "answer")
	x.callFlags.registerDryRun(cmd, "make no call")
	f.IntVar(&x.pilot, "pilot", 0, "expand the first `N` segments, show what was rejected, and estimate the whole by them; its --audit is 50 by default")
	atLeast(cmd, 1, "pilot")
	grouped(cmd, budgetFlags)
	x.checkFlags.register(cmd)
	x.batchFlags.register(cmd)
	x.auditFlags.register(cmd)
	x.decisionFlag.register(cmd)
	x.formFlags.register(cmd)
	x.shardFlag.register(cmd)
	x.embeds.registerBeside(cmd, "embeddings-revision")
	return cmd
}

func (x *expander) run(ctx context.Context, e *env, args []string) (err error) {
	e.collectAt(200)
	if err := x.configure(e, args); err != nil {
		return err
	}
	priced := x.models()
	if x.embeds.model != "" {
		priced = append(priced, x.embeds.model)
	}
	prices, err := x.readPrices(priced...)
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
		if err := x.reachJudge(e); err != nil {
			return err
		}
	}
	ds, err := x.dataset(e, args, true)
	if err == nil {
		ds, err = x.decided(ds)
	}
	if err != nil {
		return err
	}
	if x.Complete > 0 && x.keep > 0 { // of which those that --select took are some
		ds = dataset.Map(ds, func(_ context.Context, s *refract.Segment) (*refract.Segment, error) {
			return selection.Unselected(s), nil
		})
	}
	whole := ds
	if x.shard != "" {
		if ds, err = x.part(ctx, e, args, ds); ds == nil || err != nil {
			return err
		}
	}
	store, err := x.openStore(ctx, e, x.dryRun)
	if err != nil {
		return err
	}
	defer store.Close()
	x.Store = store
	if x.dryRun {
		return x.foresee(ctx, e, ds, prices)
	}
	defer x.embeds.close()
	if err := x.embed(ctx, e, spend); err != nil {
		return err
	}
	x.learn(ctx, whole)
	if x.read != nil && dataset.Rereadable(ds) { // before anything is paid for
		if _, err := selection.Count(ctx, ds); err != nil {
			return err
		}
	}
	if x.pilot > 0 {
		if !dataset.Rereadable(ds) {
			return usagef("--pilot reads the dataset twice, and a pipe can be read once: write it to a file")
		}
		ds = beginning{ds, x.pilot}
		defer func() {
			if err == nil {
				err = x.estimate(ctx, e, whole, prices)
			}
		}()
	}
	out := io.Discard // of a pilot, whose output is what it tells
	if x.writer != nil {
		out = x.writer
	} else if x.pilot == 0 || x.path != "" {
		if out, err = e.create(x.path); err != nil {
			return err
		}
	}
	if x.batch {
		x.server, x.Probe = client, client
		x.Client, err = x.inBatches(ctx, e, func(ctx context.Context, exp *diversify.Expander, need func(ask.Question) error) error {
			_, err := exp.Plan(ctx, ds, need)
			return err
		}, spend)
		if err != nil {
			return err
		}
	} else if client != nil {
		x.Client, x.Budget = e.awaiting(client, x.wait), spend
	}
	return x.expand(ctx, e, ds, out, spend, prices, client)
}

// part returns the part of a dataset that --shard names, and nil where its shard
// is there already.
func (x *expander) part(ctx context.Context, e *env, args []string, whole refract.Dataset) (refract.Dataset, error) {
	if err := x.wholly("pilot", "audit", "batch", "decisions"); err != nil {
		return nil, err
	}
	ds, err := x.cut(ctx, e, args, x.path, whole)
	if err != nil || x.dryRun {
		return ds, err
	}
	if done, err := x.begin(ctx, e); done || err != nil {
		return nil, err
	}
	return ds, nil
}

// embed has the doubt go by vectors too, where a model of them is named. Their
// calls count for the budget.
func (x *expander) embed(ctx context.Context, e *env, spend *budget.Budget) error {
	x.embeds.beside(x.callFlags.serverFlags)
	vectors, err := x.embeds.embedder(ctx, e)
	if err != nil || vectors == nil {
		return err
	}
	x.Vectors = vectors
	x.embeds.within(spend)
	return nil
}

// estimate shows what a pilot found, and what the whole dataset would take.
func (x *expander) estimate(ctx context.Context, e *env, whole refract.Dataset, prices budget.Prices) error {
	out := x.onScreen()
	if err := out.show(e, x.patterns.Table()); err != nil {
		return err
	}
	x.Observe, x.FormFound, x.Client, x.Only, x.So = nil, nil, nil, nil, diversify.Progress{}
	return x.foresee(ctx, e, whole, prices)
}

// expand runs the expansion, and writes what it gives. The client is nil where
// no call waits for one.
func (x *expander) expand(ctx context.Context, e *env, ds refract.Dataset, out io.Writer, spend *budget.Budget, prices budget.Prices, client *llm.Client) error {
	watch := &watcher{spend: spend, client: client}
	watch.segments, _ = dataset.Len(ds)
	x.Observe = watch.observe
	exp, err := diversify.New(x.Config)
	if err != nil {
		return usagef("%w", err)
	}
	if x.pilot > 0 || dataset.Rereadable(ds) {
		if err := x.tellQuestions(ctx, e, exp, ds, prices); err != nil {
			return err
		}
	}
	chosen := &selection.Selector{Method: x.keepBy, Similarity: selection.NGrams(), Seed: defaultSeed}
	choose := func(s *refract.Segment) error {
		if x.keep == 0 {
			return nil
		}
		if err := chosen.Select(ctx, []*refract.Segment{s}, x.keep); err != nil {
			return fmt.Errorf("segment %q: %w", s.ID, err)
		}
		return nil
	}
	enc := dataset.NewEncoder(out)
	verdicts, yields, kept := map[string]int{}, &selection.Yields{}, &meaning.Tally{}
	write := func(s *refract.Segment) error {
		found := s
		if x.keep > 0 { // what it left out was found too
			found = selection.Unselected(s)
		}
		yields.Add(s.ID, selection.Usable(found))
		if x.pilot > 0 {
			x.patterns.Add(found)
		}
		for _, v := range s.Rejected {
			verdicts[v.Verdict]++
		}
		kept.Add(s)
		if err := x.index(s.ID, nil); err != nil {
			return err
		}
		return enc.Encode(s)
	}
	audit, err := x.newAudit()
	if err != nil {
		return err
	}
	defer audit.close()
	watch.p = e.progress("expand", "variants")
	stop := watch.tick()
	early := earlyLook{}
	sum, err := exp.Expand(ctx, ds, func(s *refract.Segment) error {
		early.look(e, s)
		if err := choose(s); err != nil {
			return err
		}
		if audit != nil {
			return audit.add(s)
		}
		return write(s)
	})
	if err == nil && audit != nil {
		watch.last.Summary = sum
		sum, err = audit.finish(ctx, e, x, watch, choose, write)
	}
	stop()
	if x.Form == diversify.FormJSON && errors.Is(err, llm.ErrInvalidRequest) && strings.Contains(err.Error(), "response_format") {
		err = fmt.Errorf("%w; --form text asks for plain text", err)
	}
	short, named := yields.Below(x.Complete)
	switch {
	case err == nil && x.writer != nil && sum.Unanswered > 0: // a shard is done or is not there
		err = fmt.Errorf("%s without an answer, so that %s is not written; the same command asks again", english.Thousands(sum.Unanswered, "request"), x.file)
	case err == nil:
		if x.writer != nil {
			x.writer.Lacks(short, yields.Lack(x.Complete))
		}
		err = x.end(e, nil)
	}
	var lacking error
	if err == nil || sum.Calls+sum.Cached > 0 {
		if x.Complete > 0 {
			sum.Lacking = 0 // which the yields tell, of what the audit leaves
		}
		summarize(e, sum, verdicts, yields, spend.Spent(), x.Check != nil)
		done := cmp.Or(x.file, x.path, "the output") + " is written"
		_, most := yields.Range()
		switch {
		case short > 0:
			lacking = below(strconv.Itoa(x.Complete), short, named, yields.Lack(x.Complete), done)
		case most == 0 && sum.References > 0 && textless(sum, verdicts):
			lacking = fmt.Errorf("no answer has a text: %d withheld, %d empty; %s; look at an answer, or take another model", sum.Blocked, sum.Empty, done)
		}
		// A shard without a variant is no failure, as others may have some.
		if lacking != nil && (err != nil || x.pilot > 0 || x.staged || short == 0 && x.writer != nil || sum.Unanswered > 0) {
			e.warn("%v", lacking)
			lacking = nil
		}
		audit.tell(e, x)
		x.tellDecided(e)
		e.tellMeaning(kept.Findings(), leastKept, e.note)
	}
	switch {
	case err == nil && sum.Unanswered > 0:
		return &incompleteError{failed: sum.Unanswered, output: cmp.Or(x.path, "the output")}
	case err != nil && !errors.Is(err, diversify.ErrNotStored) && (sum.Calls > 0 || ctx.Err() != nil):
		x.tellResume(e, sum.Calls)
	}
	return cmp.Or(err, lacking)
}

// below says that segments have fewer variants than --complete is to give them,
// and what has become of them. named are some of them, if that is known.
func below(complete string, segments int, named string, lack int, done string) error {
	if named != "" {
		named = ", " + named
	}
	return fmt.Errorf("segments with fewer than %s accepted variants: %d%s; they lack %s; %s; more --rounds or other --prompts may find them",
		complete, segments, named, english.Count(lack, "variant"), done)
}
