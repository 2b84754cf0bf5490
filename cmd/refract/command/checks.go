package command

import (
	"cmp"
	"context"
	"errors"
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

// checkFlags say how answers are cleaned and checked.
type checkFlags struct {
	checks         []string
	clean          []string
	language       string
	sourceLanguage string
	minRatio       float64
	maxRatio       float64
	slack          int
	exact          bool
	given          func(flag string) bool

	learns *language.Detector // waits for learn; nil where the language is known
}

const (
	listAll  = "all"
	listNone = "none"
)

func (f *checkFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	parsedFlag(cmd, &f.checks, "checks", listAll, among(check.Checks()), "`NAME,…`: checks to make, all, or none, which cleans nothing either",
		append([]string{listAll, listNone}, check.Checks()...)...)
	parsedFlag(cmd, &f.clean, "clean", listAll, among(check.Steps()), "`NAME,…`: cleaning steps, all or none",
		append([]string{listAll, listNone}, check.Steps()...)...)
	fl.StringVar(&f.language, "language", "", "language of the references, such as de; none leaves that check out (default that of an mtme: dataset, or what references tell)")
	fl.StringVar(&f.sourceLanguage, "source-language", "", "language of the sources, such as zh (default that of an mtme: dataset)")
	fl.Float64Var(&f.minRatio, "min-ratio", check.DefaultMinRatio, "shortest answer, as a share of its reference")
	fl.Float64Var(&f.maxRatio, "max-ratio", check.DefaultMaxRatio, "longest answer, as a multiple of its reference")
	fl.IntVar(&f.slack, "slack", check.DefaultSlack, "characters that an answer may always be shorter or longer")
	fl.BoolVar(&f.exact, "exact", false, "compare copies and duplicates byte by byte")
	inRange(cmd, "a number above 0 and at most 1", func(v float64) bool { return v > 0 && v <= 1 }, "min-ratio")
	atLeast(cmd, 1, "max-ratio")
	atLeast(cmd, 0, "slack")
	grouped(cmd, taskFlags, "checks", "language")
	complete(cmd, "language", append([]string{listNone}, language.Codes()...)...)
	complete(cmd, "source-language", language.Codes()...)
	f.given = cmd.Flags().Changed
}

// checker makes the Checker that the flags ask for; args name the dataset. It
// is nil where nothing is to be cleaned or checked.
func (f *checkFlags) checker(e *env, args []string) (*check.Checker, error) {
	return f.checkerFor(e, args, diversify.Prompts())
}

// checkerFor is checker for answers to other prompts than the built-in ones.
func (f *checkFlags) checkerFor(e *env, args []string, prompts []diversify.Prompt) (*check.Checker, error) {
	if len(f.checks) == 0 && (len(f.clean) == 0 || !f.given("clean")) {
		return nil, nil
	}
	cfg := check.Config{Checks: f.checks, Cleaning: f.clean, Exact: f.exact, MinRatio: f.minRatio, MaxRatio: f.maxRatio, Slack: f.slack}
	if f.slack == 0 {
		cfg.Slack = -1 // none, where 0 is the default
	}
	for _, p := range prompts {
		// What a template puts around the reference is not known here.
		if !p.Template() {
			cfg.Prompts = append(cfg.Prompts, p.Text)
		}
	}
	if err := f.detector(e, &cfg, args); err != nil {
		return nil, err
	}
	c, err := check.New(cfg)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return c, nil
}

// detector sets up the language check.
func (f *checkFlags) detector(e *env, cfg *check.Config, args []string) error {
	if !slices.Contains(cfg.Checks, check.ReasonLanguage) {
		return nil
	}
	if f.language == listNone {
		if len(f.checks) < len(check.Checks()) { // it was named
			return usagef("--language none leaves out the language check, which --checks names")
		}
		cfg.Checks = slices.DeleteFunc(slices.Clone(cfg.Checks), func(s string) bool { return s == check.ReasonLanguage })
		return nil
	}
	for flag, code := range map[string]string{"language": f.language, "source-language": f.sourceLanguage} {
		if code != "" && !slices.Contains(language.Codes(), strings.ToLower(code)) {
			return usagef("--%s: unknown language %q; known are the ISO 639-1 codes %s", flag, code, strings.Join(language.Codes(), ", "))
		}
	}
	var source, target string
	if len(args) > 0 {
		source, target = dataset.LanguagePair(args[0])
		target, _, _ = strings.Cut(target, "_") // as in en-pt_BR
	}
	known := cmp.Or(f.language, target)
	d := language.New(language.Config{Language: known, Source: cmp.Or(f.sourceLanguage, source), Models: e.models})
	if cfg.Detector = d; known == "" {
		f.learns = d
	}
	return nil
}

// learn has the language check learn from the first references in which
// language they are, where that is not known and the dataset can be read again.
// What is wrong with it is told when it is read for good.
func (f *checkFlags) learn(ctx context.Context, ds refract.Dataset) {
	const enough = 50
	if f.learns == nil || !dataset.Rereadable(ds) {
		return
	}
	var references []string
	for s, err := range ds.Segments(ctx) {
		if err != nil || len(references) >= enough {
			break
		}
		for _, r := range s.References {
			references = append(references, r.Value) // "" where it is missing
		}
	}
	f.learns.Learn(references)
}

// among reads a list of names, of which "all" and "none" stand alone. Unknown
// names are left to the caller's constructor.
func among(all []string) func(string) ([]string, error) {
	return func(s string) ([]string, error) {
		names := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
		switch {
		case len(names) == 0:
			return nil, errors.New("the list is empty; for no name at all write none")
		case len(names) > 1 && (slices.Contains(names, listAll) || slices.Contains(names, listNone)):
			return nil, fmt.Errorf("%s and %s stand alone", listAll, listNone)
		case names[0] == listAll:
			return all, nil
		case names[0] == listNone:
			return []string{}, nil
		}
		return names, nil
	}
}
