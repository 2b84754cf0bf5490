package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/diversify/language"
)

// checkFlags say how answers are checked.
type checkFlags struct {
	languageFlag
	checks []string

	learns *language.Detector // set by checker for learn; nil without the language check
}

const (
	listAll  = "all"
	listNone = "none"
)

func (f *checkFlags) register(cmd *cobra.Command) {
	words := append([]string{listAll, listNone}, check.Checks()...)
	taskFlags.of(cmd)("checks", valueOf(&f.checks, listAll, checkNames), "`CHECKS` to make, separated by commas: all of them, or none, which also cleans nothing", shown, offers(words...))
	f.languageFlag.register(cmd, taskFlags, "; none leaves out that check", "recognised", listNone)
}

// checkNames reads a list of names; check.New refuses unknown ones.
func checkNames(s string) ([]string, error) {
	names := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("the list is empty; for no name at all write %s", listNone)
	case s == listAll:
		return check.Checks(), nil
	case s == listNone:
		return []string{}, nil
	}
	return names, nil
}

// checker makes the Checker that the flags ask for, nil with --checks none. args name
// the dataset, and the answers are to prompts.
func (f *checkFlags) checker(e *env, args []string, prompts []diversify.Prompt) (*check.Checker, error) {
	if len(f.checks) == 0 {
		return nil, nil
	}
	source, target := f.languages(args)
	cfg := check.Config{Checks: f.checks, Language: target}
	for _, p := range prompts {
		// What a template puts around the reference is not known here.
		if !p.Template() {
			cfg.Prompts = append(cfg.Prompts, p.Text)
		}
	}
	switch named := slices.Contains(cfg.Checks, check.ReasonLanguage); {
	case named && f.language == listNone && len(f.checks) < len(check.Checks()):
		return nil, usagef("--language none leaves out the language check, but --checks names it: leave one out")
	case named && f.language == listNone:
		cfg.Checks = slices.DeleteFunc(slices.Clone(cfg.Checks), func(s string) bool { return s == check.ReasonLanguage })
	case named:
		target, _, _ = strings.Cut(target, "_") // as in en-pt_BR
		f.learns = language.New(language.Config{Language: target, Source: source, Models: e.models})
		cfg.Detector = f.learns
	}
	c, err := check.New(cfg)
	if err != nil {
		return nil, usagef("--checks: %w", err)
	}
	return c, nil
}

// learn lets the language check recognise the language of the first references, if it
// is not known and the dataset can be read again. It warns where most of them, or of the sources,
// are in another language than the one that is stated or the prompts are in, and returns an error
// where nearly all are. Errors of the dataset are reported by the reading that follows.
func (f *checkFlags) learn(ctx context.Context, e *env, args []string, ds refract.Dataset, prompts []diversify.Prompt) error {
	const enough = 50
	if f.learns == nil || !dataset.Rereadable(ds) {
		return nil
	}
	var references, sources []string
	for s, err := range ds.Segments(ctx) {
		if err != nil || len(references) >= enough {
			break
		}
		sources = append(sources, s.Source.Value)
		for _, r := range s.References {
			references = append(references, r.Value) // "" where it is missing
		}
	}
	f.learns.Learn(references)
	from, to := f.languages(args)
	said, surely, remedy := "", true, ""
	hold := func(stated, what string, texts []string, of, remedied string) {
		found, nearly := f.learns.Contradicts(stated, what, texts)
		switch {
		case found == "":
		case said == "":
			said, surely, remedy = found+of, nearly, remedied
		default:
			said, surely, remedy = said+", and "+found, surely && nearly, "are sources and references swapped? -l SOURCE-TARGET names the languages"
		}
	}
	hold(from, "source", sources, "", "-l SOURCE-TARGET names the languages")
	hold(to, "reference", references, "", "-l names the language of the references")
	for _, p := range prompts {
		if said == "" && p.Language != "en" { // English prompts are for every language
			hold(p.Language, "reference", references, ", the language of the prompt "+p.Name, "name others with --prompts")
		}
	}
	switch remedy += fmt.Sprintf("; if all is right, -l %s leaves out the check of languages", listNone); {
	case said == "":
	case surely:
		return usagef("%s: %s", said, remedy)
	default:
		e.warn("%s: %s", said, remedy)
	}
	return nil
}
