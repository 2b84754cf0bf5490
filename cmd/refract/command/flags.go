package command

import (
	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/internal/helptext"
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

// grouped puts the flags of a command that have no section yet into one, and
// names those of them that help shows at once. The others are shown by
// --help all.
func grouped(cmd *cobra.Command, section string, essential ...string) {
	helptext.Group(cmd.Flags(), section, essential...)
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
