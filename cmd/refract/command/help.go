package command

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/refract-eval/refract/internal/suggest"
)

// everything is the word after --help, or the last one of refract help, that
// asks for all flags.
const everything = "all"

// showHelp writes the help of a command: its essential flags, or all of them
// where the arguments ask for that.
func (e *env) showHelp(cmd *cobra.Command, args []string) {
	i := slices.IndexFunc(args, func(a string) bool { return a == "-h" || a == "--help" })
	fmt.Fprint(e.stdout, e.helpOf(cmd, i >= 0 && slices.Contains(args[i:], everything)))
}

// helpOf returns the help of a command.
func (e *env) helpOf(cmd *cobra.Command, all bool) string {
	width := e.helpWidth()
	var b strings.Builder
	b.WriteString(reflow(cmp.Or(cmd.Long, cmd.Short), width) + "\n\nUsage:\n  " + cmd.UseLine() + "\n")
	if cmd.Example != "" {
		b.WriteString("\nExamples:\n" + cmd.Example + "\n")
	}
	for _, group := range cmd.Groups() {
		var lines [][2]string
		for _, sub := range cmd.Commands() {
			if sub.GroupID == group.ID {
				lines = append(lines, [2]string{sub.Name(), sub.Short})
			}
		}
		definitions(&b, group.Title, lines, width)
	}
	if !cmd.HasParent() {
		var lines [][2]string
		for _, t := range topics() {
			lines = append(lines, [2]string{t.name, t.short})
		}
		definitions(&b, "Topics, shown by refract help TOPIC", lines, width)
	} else if len(cmd.Groups()) == 0 {
		var lines [][2]string
		for _, sub := range cmd.Commands() {
			lines = append(lines, [2]string{sub.Name(), sub.Short})
		}
		definitions(&b, "Commands", lines, width)
	}
	left := 0
	for _, in := range sections {
		var lines [][2]string
		visit(cmd, func(f *pflag.Flag) {
			switch {
			case sectionOf(f) != in || f.Hidden:
			case all || isEssential(f):
				lines = append(lines, flagLine(f))
			default:
				left++
			}
		})
		definitions(&b, string(in), lines, width)
	}
	var hints []string
	if left > 0 {
		hints = append(hints, fmt.Sprintf("%d more flags: %s --help all", left, cmd.CommandPath()))
	}
	if see := topicsOf(cmd); len(see) > 0 {
		hints = append(hints, "See also: refract help "+strings.Join(see, ", refract help "))
	}
	if len(hints) > 0 {
		b.WriteString("\n" + reflow(strings.Join(hints, "\n\n"), width) + "\n")
	}
	return b.String()
}

// visit goes through the flags of a command in the order in which they were
// registered, those of all commands last.
func visit(cmd *cobra.Command, do func(*pflag.Flag)) {
	cmd.InitDefaultHelpFlag()
	cmd.LocalNonPersistentFlags().SortFlags = false
	local := cmd.Flags()
	local.SortFlags = false
	local.VisitAll(func(f *pflag.Flag) {
		if cmd.Root().PersistentFlags().Lookup(f.Name) == nil {
			do(f)
		}
	})
	cmd.Root().PersistentFlags().VisitAll(do)
}

// definitions writes a head and, below it, names with what they mean.
func definitions(b *strings.Builder, head string, lines [][2]string, width int) {
	if len(lines) == 0 {
		return
	}
	const most = 26 // columns for names; a longer one has a line of its own
	indent := 0
	for _, l := range lines {
		if n := text.StringWidthWithoutEscSequences(l[0]); n <= most {
			indent = max(indent, n)
		}
	}
	indent += 4
	b.WriteString("\n" + head + ":\n")
	for _, l := range lines {
		wrapped := strings.Split(text.WrapSoft(l[1], max(20, width-indent)), "\n")
		name := "  " + l[0]
		if text.StringWidthWithoutEscSequences(name)+2 > indent {
			b.WriteString(name + "\n")
			name = ""
		}
		for _, line := range wrapped {
			b.WriteString(text.Pad(name, indent, ' ') + strings.TrimRight(line, " ") + "\n")
			name = ""
		}
	}
}

// flagLine is a flag's name with the kind of its value, and what it does.
func flagLine(f *pflag.Flag) [2]string {
	value, usage := pflag.UnquoteUsage(f)
	if words := map[string]string{"string": "NAME", "strings": "NAME,…", "stringArray": "NAME", "int": "N", "ints": "N,…", "uint": "N", "float": "X", "duration": "TIME"}; words[value] != "" {
		value = words[value]
	}
	usage = strings.TrimPrefix(usage, value+": ")
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if f.NoOptDefVal != "" && f.Value.Type() != "bool" {
		name += "[=" + value + "]"
	} else if value != "" {
		name += " " + value
	}
	switch f.DefValue {
	case "", "0", "0s", "[]", "false":
	default:
		def := strings.Trim(f.DefValue, "[]")
		if f.Value.Type() == "duration" {
			def = strings.TrimSuffix(strings.TrimSuffix(def, "0s"), "0m")
		}
		usage += " (default " + def + ")"
	}
	return [2]string{name, usage}
}

// reflow fits paragraphs to a width. Those with an indented line, such as
// lists, stay as they are.
func reflow(s string, width int) string {
	paragraphs := strings.Split(strings.TrimSpace(s), "\n\n")
	for i, p := range paragraphs {
		if !strings.Contains(p, "\n  ") && !strings.HasPrefix(p, "  ") {
			p = strings.Join(strings.Fields(p), " ")
			lines := strings.Split(text.WrapSoft(p, width), "\n")
			for k := range lines {
				lines[k] = strings.TrimRight(lines[k], " ")
			}
			paragraphs[i] = strings.Join(lines, "\n")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// helpWidth is the width of the terminal, within what is pleasant to read.
func (e *env) helpWidth() int {
	width := 0
	if f, ok := e.stdout.(*os.File); ok {
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
			if len(args) == 1 {
				for _, t := range topics() {
					if t.name == args[0] {
						fmt.Fprintln(e.stdout, reflow(t.text, e.helpWidth()))
						return nil
					}
				}
			}
			topic, rest, err := cmd.Root().Find(args)
			switch {
			case err == nil && len(rest) > 0 && topic == cmd.Root():
				err = usagef("%s", suggest.Unknown("command or topic", rest[0], helpNames(topic)))
			case err == nil && len(rest) > 0:
				err = unknownCommand(topic, rest[0])
			}
			if err != nil {
				return err
			}
			fmt.Fprint(e.stdout, e.helpOf(topic, all))
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return []string{everything}, cobra.ShellCompDirectiveNoFileComp
			}
			return helpNames(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// helpNames are what refract help knows.
func helpNames(root *cobra.Command) []string {
	names := commandNames(root)
	for _, t := range topics() {
		names = append(names, t.name)
	}
	return names
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			names = append(names, c.Name())
		}
	}
	return names
}

func unknownCommand(cmd *cobra.Command, name string) error {
	return usagef("%s", suggest.Unknown("command", name, commandNames(cmd)))
}
