package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract/internal/english"
)

// The sections of flags in a command's help.
const (
	inputFlags     = "Input"
	metricFlags    = "Metrics and aggregation"
	taskFlags      = "This command"
	statisticFlags = "Statistics"
	modelFlags     = "Models and servers"
	budgetFlags    = "Budgets"
	resultFlags    = "Output"
	commonFlags    = "All commands"
)

// sections is their order.
var sections = []string{inputFlags, metricFlags, taskFlags, statisticFlags, modelFlags, budgetFlags, resultFlags, commonFlags}

// configured lets refract.yaml and the environment set flags.
func configured(cmd *cobra.Command, flags ...string) { markAll(cmd, configNote, flags) }

// neutral marks flags that change no result, and flags that name the input, which its
// content identifies. Those of some sections are neutral without a mark.
func neutral(cmd *cobra.Command, flags ...string) { markAll(cmd, neutralNote, flags) }

func markAll(cmd *cobra.Command, note string, flags []string) {
	for _, name := range flags {
		mark(cmd.Flags().Lookup(name), note)
	}
}

func isNeutral(f *pflag.Flag) bool {
	return f.Annotations[neutralNote] != nil || slices.Contains([]string{budgetFlags, resultFlags, commonFlags}, sectionOf(f))
}

// grouped puts the flags of a command that have no section yet into one, and marks
// those that --help shows; --help all shows all.
func grouped(cmd *cobra.Command, section string, essential ...string) {
	groupFlags(cmd.Flags(), section, essential...)
}

// refuse refuses a flag that is set and unfit. The message begins with the flag.
func (e *env) refuse(why string, unfit func(*pflag.Flag) bool) (err error) {
	e.command.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && unfit(f) {
			err = usagef("--%s %s", f.Name, why)
		}
	})
	return err
}

func only(names ...string) func(*pflag.Flag) bool {
	return func(f *pflag.Flag) bool { return slices.Contains(names, f.Name) }
}

func except(names ...string) func(*pflag.Flag) bool {
	return func(f *pflag.Flag) bool { return !slices.Contains(names, f.Name) }
}

// complete offers the values of a flag to the shell.
func complete(cmd *cobra.Command, flag string, values ...string) {
	completeBy(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func completeBy(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	err := cmd.RegisterFlagCompletionFunc(flag, values)
	if err != nil {
		panic(err) // a bug: no such flag
	}
}

// flagError rewords errors about flags. It adds the nearest name to an unknown flag;
// after an unknown command, the command is the error.
func flagError(cmd *cobra.Command, err error) error {
	if words := cmd.Flags().Args(); len(words) > 0 && cmd.HasSubCommands() {
		return unknownCommand(cmd, words[0])
	}
	if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) {
		name, cause := "--"+invalid.GetFlag().Name, numberError(errors.Unwrap(invalid))
		if short := invalid.GetFlag().Shorthand; short != "" {
			name = "-" + short + ", " + name
		}
		if unwanted := (*unwantedError)(nil); errors.As(cause, &unwanted) {
			return usagef("%s %w", name, cause)
		}
		return usagef("%s: %w", name, cause)
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usagef("%w", err)
	}
	if here := equivalentFlag(cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName())); here != "" {
		return usagef("%w; here it is %s", err, here)
	}
	if unknown.GetSpecifiedShortnames() != "" {
		return usagef("%w", err)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if nearest := english.Nearest(unknown.GetSpecifiedName(), names); nearest != "" {
		return usagef("%w; did you mean %q?", err, "--"+nearest)
	}
	return usagef("%w", err)
}

// numberError words what is wrong with a number.
func numberError(err error) error {
	if number := (*strconv.NumError)(nil); errors.As(err, &number) {
		return fmt.Errorf("%q is not a number, or out of range", number.Num)
	}
	return err
}
