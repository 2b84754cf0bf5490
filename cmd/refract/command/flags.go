package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract/internal/english"
)

// section is a part of a command's help, which shows some of its flags.
type section string

// The sections.
const (
	inputFlags     section = "Input"
	metricFlags    section = "Metrics and aggregation"
	taskFlags      section = "This command"
	statisticFlags section = "Statistics"
	modelFlags     section = "Models and servers"
	budgetFlags    section = "Budgets"
	resultFlags    section = "Output"
	commonFlags    section = "All commands"
)

// sections is their order.
var sections = []section{inputFlags, metricFlags, taskFlags, statisticFlags, modelFlags, budgetFlags, resultFlags, commonFlags}

// known is the value of a flag with everything else that the program knows of it.
type known struct {
	pflag.Value
	section    section
	shown      bool   // by --help; --help all shows all
	fromConfig bool   // refract.yaml and the environment may set it
	neutral    bool   // it changes no result, or names the input, which its content identifies
	wholly     bool   // it needs the whole input, and not a shard of it
	withMatrix bool   // it says what becomes of scores, those of a stored matrix too
	notByHuman bool   // it does nothing where people's scores are estimated
	missing    string // what to do where it is not set; "" for a flag that need not be
	checks     []func(set string) error
	files      func(value string) []usedPath // that a value names; nil for none
	words      cobra.CompletionFunc          // that the shell offers; nil for files
}

// fact is one thing that is known of a flag.
type fact func(*known)

func shown(k *known)      { k.shown = true }
func fromConfig(k *known) { k.fromConfig = true }
func neutral(k *known)    { k.neutral = true }
func wholly(k *known)     { k.wholly = true }
func withMatrix(k *known) { k.withMatrix = true }
func notByHuman(k *known) { k.notByHuman = true }

// required refuses to run without the flag, and says what to do.
func required(remedy string) fact { return func(k *known) { k.missing = remedy } }

// names says which files a value names.
func names(files func(value string) []usedPath) fact { return func(k *known) { k.files = files } }

// offers lists values for the shell.
func offers(words ...string) fact {
	return offersBy(cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

func offersBy(words cobra.CompletionFunc) fact { return func(k *known) { k.words = words } }

// of returns what registers flags of a command, or all commands, in the section: by a name such
// as "format" or "format,f".
func (s section) of(cmd *cobra.Command) func(name string, v pflag.Value, usage string, facts ...fact) {
	flags := cmd.Flags()
	if s == commonFlags {
		flags = cmd.PersistentFlags()
	}
	return func(name string, v pflag.Value, usage string, facts ...fact) {
		k := &known{Value: v, section: s, neutral: slices.Contains([]section{budgetFlags, resultFlags, commonFlags}, s)}
		for _, add := range facts {
			add(k)
		}
		if k.missing != "" {
			usage += " (required)"
		}
		name, short, _ := strings.Cut(name, ",")
		f := flags.VarPF(k, name, short, usage)
		if v.Type() == "bool" {
			f.NoOptDefVal = "true"
		}
		if k.words == nil {
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(name, k.words); err != nil {
			panic(err) // a bug: the flag is there twice
		}
	}
}

// knownOf returns what is known of a flag: of cobra's own, that every help shows them.
func knownOf(f *pflag.Flag) *known {
	if k, ok := f.Value.(*known); ok {
		return k
	}
	return &known{Value: f.Value, section: commonFlags}
}

// refuse refuses a flag that is set and unfit. The message begins with the flag.
func (e *env) refuse(why string, unfit func(*known) bool) (err error) {
	e.command.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && unfit(knownOf(f)) {
			err = usagef("--%s %s", f.Name, why)
		}
	})
	return err
}

// complete refuses to run without a flag that is required.
func complete(cmd *cobra.Command) (err error) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand
		}
		if k := knownOf(f); err == nil && k.missing != "" && k.String() == "" {
			err = usagef("%s is missing: %s", name, k.missing)
		}
	})
	return err
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
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name, short := unknown.GetSpecifiedName(), unknown.GetSpecifiedShortnames()
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if here := equivalentFlag(cmp.Or(short, name)); here != "" {
			return usagef("%w; here it is %s", err, here)
		} else if nearest := english.Nearest(name, names); nearest != "" && short == "" {
			return usagef("%w; did you mean %q?", err, "--"+nearest)
		}
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
