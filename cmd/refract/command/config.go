package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract/internal/config"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/helptext"
	"github.com/refract-eval/refract/internal/yamlfile"
)

const environmentPrefix = "REFRACT_"

// environmentName is the variable that stands for a flag.
func environmentName(key string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

// isConfigured reports whether a flag may be stated by a configuration file. A
// flag of the same name with another meaning, such as a filter, may not.
func isConfigured(f *pflag.Flag) bool {
	in := helptext.SectionOf(f)
	return slices.Contains(config.Keys, f.Name) && (in == modelFlags || in == budgetFlags)
}

// configure sets the flags of a command that are not on the command line by the
// environment, or else by the configuration file.
func (e *env) configure(cmd *cobra.Command) error {
	var open []*pflag.Flag
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if isConfigured(f) {
			open = append(open, f)
		}
	})
	if len(open) == 0 && e.configPath == "" {
		return nil
	}
	e.checkEnvironment()
	file, err := config.Read(e.configPath)
	if err != nil {
		return usagef("%w", err)
	}
	var used []string
	for _, f := range open {
		if f.Changed {
			continue
		}
		values, stated := file.Values[f.Name]
		at := func(err error) error { return file.At(yamlfile.Wrong(f.Name, "%w", err)) }
		name := environmentName(f.Name)
		switch v := e.getenv(name); {
		case v != "":
			at = func(err error) error { return fmt.Errorf("%s: %s", name, unshown(err, f.Name)) }
			if values = []string{v}; f.Value.Type() == "stringArray" {
				values = strings.Fields(strings.ReplaceAll(v, ",", " "))
			}
		case stated && f.Name == "base-url" && e.getenv("OPENAI_BASE_URL") != "":
			e.note("%s: base-url is not used, as OPENAI_BASE_URL is set", file.Path)
			continue
		case stated:
			used = append(used, f.Name)
		}
		for _, one := range values {
			if err := f.Value.Set(one); err != nil {
				return usagef("%w", at(unfit(err)))
			}
		}
	}
	if len(used) > 0 {
		e.note("configuration: %s (%s)", file.Path, strings.Join(used, ", "))
	}
	return nil
}

// unshown says what is wrong with a value of the environment, which may be a
// secret in the wrong place, without it.
func unshown(err error, flag string) string {
	unwanted := (*unwantedError)(nil)
	switch {
	case errors.As(err, &unwanted):
		return "want " + unwanted.want
	case errors.Is(err, errNoNumber):
		return "the value is no number that fits"
	}
	return "the value is not one that --" + flag + " takes ('refract help all' has them)"
}

// checkEnvironment warns of variables that are probably misspelt.
func (e *env) checkEnvironment() {
	for _, variable := range e.environ {
		name, _, _ := strings.Cut(variable, "=")
		word, ours := strings.CutPrefix(name, environmentPrefix)
		key := strings.ToLower(strings.ReplaceAll(word, "_", "-"))
		if !ours || slices.Contains(config.Keys, key) {
			continue
		}
		if near := english.Nearest(key, config.Keys); near != "" {
			e.warn("the environment variable %s means nothing; did you mean %s?", name, environmentName(near))
		}
	}
}
