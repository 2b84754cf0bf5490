package command

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/report"
)

// The annotations of a flag.
const (
	sectionNote   = "section"
	essentialNote = "essential"
)

// groupFlags puts the flags of a set that have no section yet into one, and names
// those that help shows at once. The others are shown where all are asked for.
func groupFlags(flags *pflag.FlagSet, section string, essential ...string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[sectionNote] == nil {
			mark(f, sectionNote, section)
		}
	})
	for _, name := range essential {
		mark(flags.Lookup(name), essentialNote)
	}
}

func mark(f *pflag.Flag, note string, values ...string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[note] = append([]string{}, values...)
}

// sectionOf is where help shows a flag, "" where nothing was said.
func sectionOf(f *pflag.Flag) string {
	if in := f.Annotations[sectionNote]; in != nil {
		return in[0]
	}
	return ""
}

// isEssential reports whether help shows a flag at once. A flag in no section
// is one of a few.
func isEssential(f *pflag.Flag) bool {
	return f.Annotations[sectionNote] == nil || f.Annotations[essentialNote] != nil
}

// helpOf is the help of a command, with all of its flags or the essential ones.
func (e *env) helpOf(cmd *cobra.Command, all bool) string {
	return helpPage(cmd, e.helpWidth(), all)
}

func helpPage(cmd *cobra.Command, width int, all bool) string {
	about := reflow(cmp.Or(cmd.Long, cmd.Short), width) + "\n"
	if cmd.IsAdditionalHelpTopicCommand() {
		return about
	}
	var b strings.Builder
	b.WriteString(about)
	parts, left := helpParts(cmd, width, all)
	for _, part := range parts {
		b.WriteString("\n" + part.head + ":\n" + part.body)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n%s: %s --help all\n", english.Count(left, "more flag"), cmd.CommandPath())
	}
	if topics := topicsOf(cmd); len(topics) > 0 {
		b.WriteString("\n" + reflow("See also: refract help "+strings.Join(topics, ", refract help "), width) + "\n")
	}
	return b.String()
}

// part is some lines of a page under a head.
type part struct{ head, body string }

// helpParts are what follows the description of a command, and the number of flags
// that they leave out.
func helpParts(cmd *cobra.Command, width int, all bool) (parts []part, left int) {
	parts = append(parts, part{"Usage", "  " + cmd.UseLine() + "\n"})
	if cmd.Example != "" {
		parts = append(parts, part{"Examples", examples(cmd.Example, width) + "\n"})
	}
	add := func(head string, lines [][2]string) {
		if len(lines) > 0 {
			parts = append(parts, part{head, definitions(lines, width)})
		}
	}
	commands := func(group string, topics bool) (lines [][2]string) {
		for _, sub := range cmd.Commands() {
			if sub.GroupID == group && sub.IsAdditionalHelpTopicCommand() == topics {
				lines = append(lines, [2]string{sub.Name(), sub.Short})
			}
		}
		return lines
	}
	for _, group := range cmd.Groups() {
		add(group.Title, commands(group.ID, false))
	}
	add("Commands", commands("", false))
	add("Topics, shown by "+cmd.Name()+" help TOPIC", commands("", true))
	for _, section := range sections {
		shown := pflag.NewFlagSet("", pflag.ContinueOnError)
		shown.SortFlags = false
		visit(cmd, func(f *pflag.Flag) {
			in := cmp.Or(sectionOf(f), taskFlags)
			if f.Name == "help" || f.Name == "version" {
				in = commonFlags
			}
			switch {
			case in != section || f.Hidden:
			case all || isEssential(f):
				shown.AddFlag(f)
			default:
				left++
			}
		})
		if body := shown.FlagUsagesWrapped(width); body != "" {
			parts = append(parts, part{section, body})
		}
	}
	return parts, left
}

// examples continues command lines that are longer than a width, with a
// backslash before a flag.
func examples(lines string, width int) string {
	const kept = "\u2423" // stands for a space that no line ends at
	var out []string
	for line := range strings.SplitSeq(lines, "\n") {
		if text.StringWidthWithoutEscSequences(line) > width {
			parts := strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(line), " ", kept), kept+"-", " -")
			line = "  " + strings.Join(report.Wrap(parts, width-len("       \\")), " \\\n      ")
		}
		out = append(out, strings.ReplaceAll(line, kept, " "))
	}
	return strings.Join(out, "\n")
}

// visit goes through the flags of a command in the order in which they were
// registered, those of the root last.
func visit(cmd *cobra.Command, do func(*pflag.Flag)) {
	cmd.InitDefaultHelpFlag()
	root := cmd.Root().PersistentFlags()
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VisitAll(func(f *pflag.Flag) {
		if root.Lookup(f.Name) == nil {
			do(f)
		}
	})
	root.VisitAll(do)
}

// definitions lists names with what they mean, in two columns.
func definitions(lines [][2]string, width int) string {
	const most = 26 // columns for names; a longer one has a line of its own
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
