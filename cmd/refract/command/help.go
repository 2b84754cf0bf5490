package command

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
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

// helpPage is the help of a command: one sentence, two examples and the essential
// flags, or everything.
func helpPage(cmd *cobra.Command, width int, all bool) string {
	about := cmp.Or(cmd.Long, cmd.Short+".")
	if cmd.IsAdditionalHelpTopicCommand() {
		return reflow(about, width) + "\n"
	}
	if !all {
		about, _, _ = strings.Cut(about, "\n\n")
	}
	var b strings.Builder
	b.WriteString(reflow(about, width) + "\n")
	add := func(head, body string) {
		if body != "" {
			b.WriteString("\n" + head + ":\n" + body)
		}
	}
	if cmd.HasParent() {
		add("Usage", "  "+cmd.UseLine()+"\n")
	}
	add("Examples", cmd.Example+"\n")
	for _, group := range append(cmd.Groups(), &cobra.Group{Title: "Commands"}) {
		var lines [][2]string
		for _, sub := range cmd.Commands() {
			if sub.GroupID == group.ID && !sub.IsAdditionalHelpTopicCommand() && sub.Name() != "help" {
				lines = append(lines, [2]string{sub.Name(), sub.Short})
			}
		}
		add(group.Title, definitions(lines, width))
	}
	flags, left := flagsOf(cmd), 0
	for _, section := range sections {
		var lines [][2]string
		for _, f := range flags[section] {
			if all || knownOf(f).shown {
				lines = append(lines, flagLine(f))
			} else {
				left++
			}
		}
		add(string(section), definitions(lines, width))
	}
	if more := seeAlso(cmd, left); len(more) > 0 {
		b.WriteString("\n" + strings.Join(more, "\n") + "\n")
	}
	if all {
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				b.WriteString("\n" + helpPage(sub, width, all))
			}
		}
	}
	return b.String()
}

// seeAlso says where there is more help; left is the number of flags that are not shown.
func seeAlso(cmd *cobra.Command, left int) (more []string) {
	if !cmd.HasParent() {
		more = append(more, "Topics: "+strings.Join(topicNames(cmd), ", "), "refract help COMMAND or TOPIC shows more; all flags: refract --help all")
	} else if left > 0 {
		more = append(more, fmt.Sprintf("%s: %s --help all", english.Count(left, "more flag"), cmd.CommandPath()))
	}
	if topics := topicsOf(cmd); len(topics) > 0 {
		more = append(more, "See also (refract help): "+strings.Join(topics, ", "))
	}
	return more
}

// flagLine is a flag with the name of its value, and its description.
func flagLine(f *pflag.Flag) [2]string {
	value, usage := pflag.UnquoteUsage(f)
	name := "    --" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", --" + f.Name
	}
	name = strings.TrimRight(name+" "+value, " ")
	if f.NoOptDefVal != "" && value != "" {
		name += "[=" + f.NoOptDefVal + "]"
	}
	if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
		usage += " (default " + f.DefValue + ")"
	}
	return [2]string{name, usage}
}

// flagsOf are the flags of a command by section, in the order of registration, and the
// flags of the root.
func flagsOf(cmd *cobra.Command) map[section][]*pflag.Flag {
	cmd.InitDefaultHelpFlag()
	flags, root, all := cmd.Flags(), cmd.Root().PersistentFlags(), map[section][]*pflag.Flag{}
	add := func(f *pflag.Flag) { all[knownOf(f).section] = append(all[knownOf(f).section], f) }
	flags.SortFlags = false
	flags.VisitAll(func(f *pflag.Flag) {
		if root.Lookup(f.Name) == nil {
			add(f)
		}
	})
	root.VisitAll(add)
	return all
}

// definitions lists names with their descriptions in two columns.
func definitions(lines [][2]string, width int) string {
	const most = 26 // columns for names; a longer name has its own line
	indent := 0
	for _, l := range lines {
		if n := text.StringWidthWithoutEscSequences(l[0]); n <= most {
			indent = max(indent, n)
		}
	}
	indent += 4
	var b strings.Builder
	for _, l := range lines {
		name := "  " + l[0]
		if text.StringWidthWithoutEscSequences(name)+2 > indent {
			b.WriteString(name + "\n")
			name = ""
		}
		for _, line := range report.Wrap(l[1], max(20, width-indent)) {
			b.WriteString(text.Pad(name, indent, ' ') + line + "\n")
			name = ""
		}
	}
	return b.String()
}

// reflow fits paragraphs to a width. Those with an indented line, such as
// lists, stay as they are.
func reflow(s string, width int) string {
	paragraphs := strings.Split(strings.TrimSpace(s), "\n\n")
	for i, p := range paragraphs {
		if !strings.Contains(p, "\n  ") && !strings.HasPrefix(p, "  ") {
			paragraphs[i] = strings.Join(report.Wrap(p, width), "\n")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

//go:embed topics/*.txt
var topicFiles embed.FS

// topics are the help texts that belong to no command: cobra commands with only a help
// text.
func topics() []*cobra.Command {
	var aggregators [][2]string
	for _, d := range aggregate.Docs() {
		aggregators = append(aggregators, [2]string{d.Spec, d.Text})
	}
	filled := strings.NewReplacer(
		"STATISTICS", strings.Join(correlate.StatisticNames(), ", "),
		"AGGREGATORS", strings.TrimRight(definitions(aggregators, 80), "\n"),
	)
	var all []*cobra.Command
	for _, t := range [][2]string{
		{"datasets", "what DATASET, --ref, --hyp and --references name"},
		{"aggregators", "how scores against many references become one"},
		{"statistics", "agreement with judgements, intervals and tests"},
		{"selection", "ways to choose among variants"},
		{"servers", "how models are called, and what that may cost"},
		{"configuration", "refract.yaml and REFRACT_*"},
	} {
		text, err := topicFiles.ReadFile("topics/" + t[0] + ".txt")
		if err != nil {
			panic(err) // a bug: each topic has a file
		}
		all = append(all, &cobra.Command{Use: t[0], Short: t[1], Long: filled.Replace(string(text))})
	}
	return all
}

// topicsOf are the topics that explain the flags of a command.
func topicsOf(cmd *cobra.Command) []string {
	var out []string
	for _, t := range [][2]string{
		{"hyp", "datasets"}, {"aggregate", "aggregators"}, {"group", "statistics"}, {"by", "selection"},
		{"judge-model", "metrics"}, {"base-url", "servers"},
	} {
		if cmd.Flags().Lookup(t[0]) != nil {
			out = append(out, t[1])
		}
	}
	return out
}
