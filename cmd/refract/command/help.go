package command

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/refract-eval/refract/internal/english"
)

// everything is the word after --help, or at the end of refract help, that asks for all
// flags.
const everything = "all"

// showHelp writes the help of a command, short or whole.
func (e *env) showHelp(cmd *cobra.Command, args []string) {
	i := slices.IndexFunc(args, func(a string) bool { return a == "-h" || a == "--help" })
	fmt.Fprint(e.stdout, helpPage(cmd, e.helpWidth(), i >= 0 && slices.Contains(args[i:], everything)))
}

// helpWidth is the width of the terminal, but at least 40 and at most 110.
func (e *env) helpWidth() int {
	width := 0
	if f, ok := e.stdout.(interface{ Fd() uintptr }); ok {
		width, _, _ = term.GetSize(int(f.Fd()))
	}
	if width <= 0 {
		width, _ = strconv.Atoi(e.getenv("COLUMNS"))
	}
	if width <= 0 {
		width = 80
	}
	return min(max(width, 40), 110)
}

// helpCommand is refract help.
func (e *env) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND [all] | TOPIC]",
		Short: "Show the help of a command or a topic",
		Example: `  refract help score
  refract help score all
  refract help datasets`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			all := len(args) > 0 && args[len(args)-1] == everything
			if all {
				args = args[:len(args)-1]
			}
			topic, rest, err := cmd.Root().Find(args)
			switch {
			case err != nil:
				return err
			case len(rest) > 0 && !topic.HasParent():
				return usagef("%s", english.Unknown("command or topic", rest[0], append(commandNames(topic), topicNames(topic)...)))
			case len(rest) > 0 && topic.HasSubCommands():
				return unknownCommand(topic, rest[0])
			case len(rest) > 0:
				return usagef("help takes a command or a topic, and then only the word all: 'refract help %s' has no %q", topic.Name(), rest[0])
			}
			fmt.Fprint(e.stdout, helpPage(topic, e.helpWidth(), all))
			return nil
		},
	}
}

// namesBelow are the names of some commands below one.
func namesBelow(cmd *cobra.Command, which func(*cobra.Command) bool) (names []string) {
	for _, c := range cmd.Commands() {
		if which(c) {
			names = append(names, c.Name())
		}
	}
	return names
}

func topicNames(root *cobra.Command) []string {
	return namesBelow(root, (*cobra.Command).IsAdditionalHelpTopicCommand)
}

func commandNames(cmd *cobra.Command) []string {
	return namesBelow(cmd, func(c *cobra.Command) bool { return c.IsAvailableCommand() || c.Name() == "help" })
}

func unknownCommand(cmd *cobra.Command, name string) error {
	return usagef("%s", english.Unknown("command", name, commandNames(cmd)))
}
