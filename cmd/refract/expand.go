package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/report"
)

// expander is one run of refract expand.
type expander struct {
	input
	output
	model       string
	baseURL     string
	endpoint    string
	cache       string
	prompts     string
	samples     int
	temperature float64
	topP        float64
	maxTokens   int
	concurrency int
	timeout     time.Duration
	retries     int
	maxWait     time.Duration
	offline     bool
}

// lruEntries is how many answers stay in memory above the cache file: enough
// for equal references that stand near each other.
const lruEntries = 4096

func (e *env) expandCommand() *cobra.Command {
	x := &expander{}
	cmd := &cobra.Command{
		Use:   "expand [DATASET]",
		Short: "Expand references with a language model",
		Long: `Ask a model to rewrite every reference, once for each prompt, and write the
dataset as JSON Lines with the answers as variants of their reference. The
order is that of the input.
` + datasetHelp + `

The server is any that speaks OpenAI's protocol: --base-url or OPENAI_BASE_URL
names it, OPENAI_API_KEY holds the key. Every answer is stored in --cache
before it is used. A second run makes no call, and a run that was stopped in
any way goes on where it was when it is started again.`,
		Example: `  export OPENAI_API_KEY=…
  refract expand --source src.txt --ref ref.txt --model gpt-4o-mini -o expanded.jsonl
  refract expand mtme:data/wmt22/zh-en --model my-model --base-url http://localhost:8000/v1 --endpoint completions -o expanded.jsonl`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return x.run(cmd.Context(), e, args) },
	}
	x.input.register(cmd)
	x.registerPath(cmd)
	f := cmd.Flags()
	f.StringVar(&x.model, "model", "", "model to ask (required)")
	f.StringVar(&x.baseURL, "base-url", "", "server, up to and including /v1 (default OPENAI_BASE_URL, or OpenAI)")
	f.StringVar(&x.endpoint, "endpoint", "chat", "chat, or completions for models without a chat template")
	f.StringVar(&x.cache, "cache", "refract-cache.sqlite", "file that stores every answer")
	f.StringVar(&x.prompts, "prompts", "ten", "ten, plain, or names of prompts separated by commas ('refract prompts' lists them)")
	f.IntVar(&x.samples, "samples", diversify.DefaultSamples, "answers per prompt")
	f.Float64Var(&x.temperature, "temperature", diversify.PaperTemperature, "sampling temperature")
	f.Float64Var(&x.topP, "top-p", diversify.PaperTopP, "nucleus sampling")
	f.IntVar(&x.maxTokens, "max-tokens", diversify.DefaultMaxTokens, "longest answer")
	f.IntVar(&x.concurrency, "concurrency", diversify.DefaultConcurrency, "calls at a time")
	f.DurationVar(&x.timeout, "timeout", llm.DefaultTimeout, "time limit of one attempt")
	f.IntVar(&x.retries, "retries", llm.DefaultMaxRetries, "attempts after the first; 0 for none")
	f.DurationVar(&x.maxWait, "max-wait", llm.DefaultMaxRetryWait, "longest wait before an attempt that a server may ask for")
	complete(cmd, "endpoint", string(llm.Chat), string(llm.Completions))
	f.BoolVar(&x.offline, "offline", false, "make no call: every answer must be in the cache")
	return cmd
}

func (x *expander) run(ctx context.Context, e *env, args []string) error {
	if x.model == "" {
		return usagef("--model is missing: name the model to ask")
	}
	prompts, err := diversify.ParsePrompts(x.prompts)
	if err != nil {
		return usagef("--prompts: %w", err)
	}
	cfg := diversify.Config{
		Prompts: prompts, Samples: x.samples, Model: x.model, Endpoint: llm.Endpoint(x.endpoint),
		Temperature: x.temperature, TopP: x.topP, MaxTokens: x.maxTokens, Concurrency: x.concurrency,
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"samples", x.samples}, {"max-tokens", x.maxTokens}, {"concurrency", x.concurrency}} {
		if n.value < 1 {
			return usagef("--%s %d: want 1 or more", n.flag, n.value)
		}
	}
	if !x.offline {
		if cfg.Client, err = x.client(e); err != nil {
			return usagef("%w", err)
		}
	}
	ds, err := x.dataset(e, args, true)
	if err != nil {
		return err
	}
	out, err := x.output.open(e)
	if err != nil {
		return err
	}
	defer out.Abort()
	var mode []cache.Option
	if x.offline {
		mode = append(mode, cache.ReadOnly())
	}
	store, err := cache.OpenSQLite(ctx, x.cache, mode...)
	if err != nil {
		return err
	}
	defer store.Close()
	cfg.Store = cache.NewLRU(store, lruEntries)
	total, err := x.total(ctx, ds, args, len(prompts))
	if err != nil {
		return err
	}
	progress := report.NewProgress(e.stderr, e.stderrTerminal, "expand", total, report.WithUnit("answers"))
	cfg.Observe = observer(progress)
	exp, err := diversify.New(cfg)
	if err != nil {
		return usagef("%w", err)
	}
	enc := dataset.NewEncoder(out)
	sum, err := exp.Expand(ctx, ds, enc.Encode)
	progress.Finish()
	if err == nil {
		err = out.Commit()
	}
	if err == nil || sum.Calls+sum.Cached > 0 {
		x.summarize(e, sum)
	}
	if err != nil {
		if !errors.Is(err, diversify.ErrNotStored) && sum.Calls > 0 {
			e.note("%d answers of this run are stored in %s; the same command goes on from there", sum.Calls, x.cache)
		}
		return err
	}
	return nil
}

func (x *expander) client(e *env) (*llm.Client, error) {
	url := x.baseURL
	if url == "" {
		url = e.getenv("OPENAI_BASE_URL")
	}
	retries := x.retries
	if retries == 0 {
		retries = -1 // the client's word for none
	}
	return llm.New(llm.Config{
		BaseURL: url, APIKey: e.getenv("OPENAI_API_KEY"), Endpoint: llm.Endpoint(x.endpoint),
		Timeout: x.timeout, MaxRetries: retries, MaxRetryWait: x.maxWait,
		UserAgent: "refract/" + refract.Version,
	})
}

// total is how many answers there will be, or 0 where that is not known
// without reading a stream. Segments of JSON Lines have another number of
// references each, so they are counted; a fault in the file then shows before
// the first call.
func (x *expander) total(ctx context.Context, ds refract.Dataset, args []string, prompts int) (int, error) {
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
	return references * prompts * x.samples, nil
}

// observer shows what is new in each snapshot.
func observer(p *report.Progress) func(diversify.Progress) {
	var last diversify.Progress
	return func(now diversify.Progress) {
		p.Add(now.Calls - last.Calls)
		p.AddCached(now.Cached - last.Cached)
		p.Count("failed", now.Failed-last.Failed)
		p.Count("cut", now.Cut-last.Cut)
		p.Count("without text", now.Blocked+now.Empty-last.Blocked-last.Empty)
		last = now
	}
}

func (x *expander) summarize(e *env, s diversify.Summary) {
	e.note("%d segments, %d references, %d variants: %d by calls, %d from the cache; %d prompt and %d completion tokens",
		s.Segments, s.References, s.Variants, s.Calls, s.Cached, s.PromptTokens, s.CompletionTokens)
	for _, c := range []struct {
		n    int
		what string
	}{
		{s.Cut, "answers cut by --max-tokens, kept and marked with the finish reason \"length\""},
		{s.Blocked, "answers withheld, which are missing texts"},
		{s.Empty, "empty answers, which are missing texts"},
		{s.MissingReferences, "missing references, not expanded"},
		{s.EmptyReferences, "empty references, not expanded"},
	} {
		if c.n > 0 {
			e.warn("%s: %d", c.what, c.n)
		}
	}
}
