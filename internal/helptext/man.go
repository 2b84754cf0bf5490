package helptext

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// ManName is the name of a command's man page.
func ManName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-")
}

// Man returns the help of a command as a man page of section 1, set as Of sets
// it. source is what the page belongs to, such as "refract 1.2.3".
func (p *Page) Man(cmd *cobra.Command, source string) string {
	var b strings.Builder
	name := roff(ManName(cmd))
	fmt.Fprintf(&b, ".TH \"%s\" 1 \"\" \"%s\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), roff(source), name, roff(cmd.Short))
	section := func(head, body string) {
		fmt.Fprintf(&b, ".SH \"%s\"\n.nf\n%s\n.fi\n", strings.ToUpper(roff(head)), roff(strings.TrimRight(body, "\n")))
	}
	parts, _ := p.parts(cmd)
	section("Synopsis", parts[0].body) // the usage
	section("Description", Reflow(cmp.Or(cmd.Long, cmd.Short), p.Width))
	for _, part := range parts[1:] {
		section(part.head, part.body)
	}
	if len(p.See) > 0 {
		section("See also", Reflow(strings.Join(p.See, ", "), p.Width))
	}
	return b.String()
}

// roff is a text in a man page, where a backslash, a dash, and a dot or an
// apostrophe at the beginning of a line have a meaning.
func roff(s string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`).Replace(s), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
