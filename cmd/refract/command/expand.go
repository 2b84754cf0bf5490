package command

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/llm"
)

// expandFlags are the flags of refract expand.
type expandFlags struct {
	data  input
	out   output
	calls callFlags
	check checkFlags
	shard shardFlag

	target  string // the language of the references, where it is known
	prompts string // their names
	form    string
	judge   string // model; "" for none
	plant   int
	given   func(flag string) bool
	// The sampling parameters; nil for none.
	temperature, topP *float64
	batch             bool
	config            diversify.Config
}

const (
	// defaultResample is how often a rejected answer is asked for again.
	defaultResample = 2
	// defaultPlant is how many changes of meaning are planted to measure a judge.
	defaultPlant = 50
	// expandEnlarge is how often an answer that --max-tokens cut gets twice the room.
	expandEnlarge = 1
)

func (e *env) expandCommand() *cobra.Command {
	ef := &expandFlags{}
	cmd := e.newCommand(&cobra.Command{
		Use:   "expand [DATASET]",
		Short: "Expand references with a language model",
		Long: `A language model rewrites every reference, once for each prompt.

Answers are cleaned and checked ('refract check'). A rejected answer is asked
for again, and one that --max-tokens cut gets twice the room. The output keeps
all answers: accepted ones under "variants", the others with their verdict under
"rejected". A DATASET that was expanded before is asked only for what it lacks.
The exit code is 1 where --complete N was not reached or no answer has a text.`,
		Example: `  refract expand jsonl:sample.jsonl --model gpt-4o-mini --dry-run
  refract expand jsonl:sample.jsonl --model gpt-4o-mini -o expanded.jsonl`,
	}, cobra.MaximumNArgs(1), ef.run)
	c := &ef.config
	ef.data.register(cmd)
	ef.out.registerFormat(cmd, "of --dry-run: ", "")
	ef.out.registerLines(cmd)
	flag := modelFlags.of(cmd)
	flag("model", plain(&c.Model, ""), "`MODEL` to ask", required("name the model to ask"), shown, fromConfig)
	flag("revision", plain(&c.Revision, ""), "revision of the model's weights, recorded with every answer")
	flag("endpoint", plain((*string)(&c.Endpoint), string(llm.Chat)), "chat, completions for models without a chat template, or messages for Anthropic's API",
		oneOf(string(llm.Chat), string(llm.Completions), string(llm.Messages)))
	flag("form", plain(&ef.form, string(diversify.FormAuto)), "form of answers: json, text (as in the paper), or auto: stored ones of both, and json where the server gives it",
		fromConfig, oneOf(string(diversify.FormAuto), string(diversify.FormText), string(diversify.FormJSON)))
	flag("batch", plain(&ef.batch, false), "send the calls through the server's Batch API", shown, neutral, wholly)
	flag = taskFlags.of(cmd)
	flag("prompts", plain(&ef.prompts, "ten"), "prompts separated by commas: ten, plain, ten@de, file:FILE, … ('refract prompts' lists them)", shown, names(readsPrompts), offersBy(promptWords))
	flag("samples", plain(&c.Samples, diversify.DefaultSamples), "variants per prompt", atLeast(1))
	flag("temperature", valueOf(&ef.temperature, strconv.Itoa(diversify.PaperTemperature), parameterUpTo(2)), "sampling temperature `T`; none does not send one")
	flag("top-p", valueOf(&ef.topP, fmt.Sprint(diversify.PaperTopP), parameterUpTo(1)), "nucleus sampling `P`; none does not send it")
	ef.given = cmd.Flags().Changed
	flag("max-tokens", plain(&c.MaxTokens, diversify.DefaultMaxTokens), "longest answer", atLeast(1))
	flag("extra", valueOf(&c.Extra, "", llm.ParseExtra), "`JSON`: object of further fields of every request, such as '{\"seed\":1}' or '{\"reasoning_effort\":\"low\"}'")
	flag("resample", plain(&c.Resample, defaultResample), "how often a rejected answer is asked for again", atLeast(0))
	flag("complete", plain(&c.Complete, 0), "ask until every segment has `N` accepted variants", shown, atLeast(0))
	flag("judge", valueOf(&ef.judge, "", ef.parseJudge), fmt.Sprintf("`MODEL[,plant=N]` that judges whether variants mean what their reference does, and is measured by a changed answer in N segments, by default %d", defaultPlant), shown)
	ef.calls.register(cmd, "answer", shown)
	ef.calls.registerDryRun(cmd, "make no call")
	ef.check.register(cmd)
	ef.shard.register(cmd)
	return cmd
}

// plan makes the configuration of a run, without store and client, and refuses flags
// that exclude each other.
func (ef *expandFlags) plan(e *env, args []string) (cfg diversify.Config, err error) {
	cfg = ef.config
	switch {
	case ef.calls.offline && ef.batch:
		return cfg, usagef("--offline makes no call, but --batch does: leave one out")
	case ef.out.formatGiven && !ef.calls.dryRun:
		return cfg, usagef("--format is for --dry-run; the dataset is always JSON Lines")
	case ef.batch && cfg.Endpoint == llm.Messages:
		return cfg, usagef("--batch speaks OpenAI's Batch API, which --endpoint messages has not: leave one out")
	case ef.batch && len(ef.calls.baseURLs) > 1:
		return cfg, usagef("--batch sends all calls to one server: name one --base-url")
	}
	cfg.LeftOut = e.leftOut
	for _, p := range []struct {
		name, flag string
		set        *float64
		to         *float64
	}{{llm.ParamTemperature, "temperature", ef.temperature, &cfg.Temperature}, {llm.ParamTopP, "top-p", ef.topP, &cfg.TopP}} {
		switch {
		case p.set == nil: // the server's default, which is 1
			*p.to, cfg.Omit = 1, append(cfg.Omit, p.name)
		case ef.given(p.flag):
			cfg.Chosen = append(cfg.Chosen, p.name)
			fallthrough
		default:
			*p.to = *p.set
		}
	}
	if err := redact.CheckStored(cfg.Extra); err != nil {
		return cfg, usagef("--extra: %w", err)
	}
	if err := redact.CheckStored(map[string]any{"model": cfg.Model, "revision": cfg.Revision, "judge": ef.judge}); err != nil {
		return cfg, usagef("%w", err)
	}
	_, ef.target = ef.check.languages(args)
	if cfg.Prompts, err = ef.readPrompts(); err != nil {
		return cfg, err
	}
	e.sourceless = func() bool {
		return !slices.ContainsFunc(cfg.Prompts, func(p diversify.Prompt) bool { return strings.Contains(p.Text, "{source}") })
	}
	if cfg.Check, err = ef.check.checker(e, args, cfg.Prompts); err != nil {
		return cfg, err
	}
	if ef.judge != "" {
		if cfg.Check == nil {
			return cfg, usagef("--judge needs the checks: leave out --checks none")
		}
		cfg.Equivalence = &diversify.Equivalence{Model: ef.judge, Endpoint: cfg.Endpoint}
		cfg.Plant = ef.plant
	}
	cfg.Enlarge, cfg.Form = expandEnlarge, diversify.Form(ef.form)
	cfg.Concurrency, cfg.Tolerate = ef.calls.atOnce(e), ef.calls.tolerate
	return cfg, nil
}

// parameterUpTo reads a sampling parameter: a number from 0 on, or none.
func parameterUpTo(most float64) func(string) (*float64, error) {
	return func(s string) (*float64, error) {
		if s == listNone {
			return nil, nil
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !(v >= 0 && v <= most) {
			return nil, &unwantedError{s, fmt.Sprintf("0 to %v, or %s", most, listNone)}
		}
		return &v, nil
	}
}

// parseJudge reads the model of --judge and how many changes are planted.
func (ef *expandFlags) parseJudge(s string) (string, error) {
	model, n, given := strings.Cut(s, ",plant=")
	var err error
	if ef.plant = defaultPlant; given {
		ef.plant, err = strconv.Atoi(n)
	}
	if err != nil || ef.plant < 0 || model == "" || strings.Contains(model, ",") {
		return "", &unwantedError{strconv.Quote(s), "MODEL, or MODEL,plant=N with N from 0"}
	}
	return model, nil
}

// readPrompts reads --prompts, with the language that some need.
func (ef *expandFlags) readPrompts() ([]diversify.Prompt, error) {
	prompts, err := diversify.ParsePrompts(ef.prompts)
	if err != nil {
		return nil, usagef("--prompts: %w", err)
	}
	for i, p := range prompts {
		if !p.NeedsLanguage() {
			continue
		}
		if ef.target == "" {
			return nil, usagef("prompt %q asks for a language: name that of the references with --language, such as --language de", p.Name)
		}
		if prompts[i], err = p.In(ef.target); err != nil {
			return nil, usagef("--language: %w", err)
		}
	}
	return prompts, nil
}

// models are all models that are asked.
func (ef *expandFlags) models() []string {
	return slices.Compact([]string{ef.config.Model, cmp.Or(ef.judge, ef.config.Model)})
}
