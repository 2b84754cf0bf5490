package command

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// section is a part of a command's help: flags of one kind.
type section string

// The sections, in the order of the help.
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

var sections = []section{inputFlags, metricFlags, taskFlags, statisticFlags, modelFlags, budgetFlags, resultFlags, commonFlags}

// The annotations of a flag.
const (
	sectionNote   = "section"
	essentialNote = "essential"
)

// grouped puts the flags of a command that have no section yet into one, and
// names those of them that help shows at once. The others are shown by
// --help all.
func grouped(cmd *cobra.Command, in section, essential ...string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Annotations[sectionNote] == nil {
			mark(f, sectionNote, string(in))
		}
	})
	for _, name := range essential {
		mark(cmd.Flags().Lookup(name), essentialNote)
	}
}

func mark(f *pflag.Flag, note string, values ...string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[note] = append([]string{}, values...)
}

// sectionOf is where help shows a flag.
func sectionOf(f *pflag.Flag) section {
	if in := f.Annotations[sectionNote]; in != nil {
		return section(in[0])
	}
	if f.Name == "help" || f.Name == "version" {
		return commonFlags
	}
	return taskFlags
}

// isEssential reports whether help shows a flag at once. A flag in no section
// is one of a few.
func isEssential(f *pflag.Flag) bool {
	return f.Annotations[sectionNote] == nil || f.Annotations[essentialNote] != nil
}

// complete offers the values of a flag to the shell.
func complete(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag is not there: a fault of the program
	}
}

// given reports whether a flag stands on the command line.
func given(cmd *cobra.Command, flag string) bool { return cmd.Flags().Changed(flag) }
