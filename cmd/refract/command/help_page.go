package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/english"
)

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
