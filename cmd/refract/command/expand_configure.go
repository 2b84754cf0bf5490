package command

import (
	"slices"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/internal/config"
)

// configure completes the Config by what the flags say together, without
// store and client.
func (x *expander) configure(e *env, args []string) (err error) {
	if x.pilot > 0 && !x.given("audit") && (x.judge == "" || x.judge != x.Model && x.judgeOn != listAll) {
		x.audit = pilotAudit
	}
	switch {
	case x.Model == "":
		return usagef("--model is missing: name the model to ask")
	case x.offline && x.batch:
		return usagef("--offline makes no call, and --batch is a way to make them: leave one out")
	case x.pilot > 0 && (x.dryRun || x.offline):
		return usagef("--pilot makes calls, and --dry-run and --offline make none: leave one out")
	case x.formatGiven && !x.dryRun && x.pilot == 0:
		return usagef("--format is that of --dry-run and --pilot; the dataset is always JSON Lines")
	case x.batch && len(x.baseURLs) > 1:
		return usagef("--batch sends all calls to one server: name one --base-url")
	}
	if field := config.SecretField(x.Extra); field != "" {
		return usagef("--extra: the field %q holds a secret, which would be stored with every answer: set OPENAI_API_KEY in its place, which goes with every call and is stored nowhere", field)
	}
	if err := x.readPrompts(args); err != nil {
		return err
	}
	if x.Check, err = x.checkerFor(e, args, x.Prompts); err != nil {
		return err
	}
	if x.Equivalence, err = x.equivalence(); err != nil {
		return err
	}
	x.Concurrency, x.Tolerate = x.calls(e), x.tolerate
	return x.configureForm(e)
}

// readPrompts reads --prompts, with what --from, --task and --language say of
// prompts that make references of the source.
func (x *expander) readPrompts(args []string) (err error) {
	if x.from == fromSource && !x.given("prompts") {
		x.prompts = fromSource
	}
	words, err := diversify.ForTask(x.prompts, x.task)
	if err != nil {
		return usagef("--task: %w", err)
	}
	if x.Prompts, err = diversify.ParsePrompts(words); err != nil {
		return usagef("--prompts: %w", err)
	}
	if x.from == fromSource && !slices.ContainsFunc(x.Prompts, diversify.Prompt.FromSource) {
		return usagef("--from source: none of --prompts %s makes a reference of the source; add source, or leave --prompts out", x.prompts)
	}
	target := x.language
	if target == "" && len(args) > 0 {
		_, target = dataset.LanguagePair(args[0])
	}
	for i, p := range x.Prompts {
		if !p.NeedsLanguage() {
			continue
		}
		if target == "" || target == listNone {
			return usagef("prompt %q asks for a language: name that of the references with --language, such as --language de", p.Name)
		}
		if x.Prompts[i], err = p.In(target); err != nil {
			return usagef("--language: %w", err)
		}
	}
	return nil
}

// models are those that are asked.
func (x *expander) models() []string {
	if x.judge != "" && x.judge != x.Model {
		return []string{x.Model, x.judge}
	}
	return []string{x.Model}
}
