package conclusions

import (
	"fmt"
	"io"
	"strings"

	"github.com/refract-eval/refract/internal/report"
)

// WriteMarkdown writes a result as a document: its claim, verdicts, tables, and how the
// numbers were computed.
func (r *Result) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", report.EscapeMarkdown(r.Name))
	claim := r.Claim()
	fmt.Fprintf(&b, "**%s.**\n\n", report.EscapeMarkdown(claim.Text))
	if len(claim.Rules) > MostSpoken {
		t, err := r.Table("rules")
		if err == nil {
			err = t.Write(&b, report.Markdown, true)
		}
		if err != nil {
			return err
		}
		b.WriteString("\n")
	}
	for _, text := range append(append(claim.Evidence, claim.Cautions...), claim.Method) {
		if text != "" {
			fmt.Fprintf(&b, "%s\n\n", report.EscapeMarkdown(text))
		}
	}
	b.WriteString("## Verdicts\n\n")
	for _, v := range r.Verdicts {
		fmt.Fprintf(&b, "- %s.\n", report.EscapeMarkdown(v.Text))
	}
	for _, t := range r.Tables() {
		if t.Name == "rules" {
			continue // it leads
		}
		fmt.Fprintf(&b, "\n## %s\n\n", t.Title)
		if err := t.Write(&b, report.Markdown, true); err != nil {
			return err
		}
	}
	b.WriteString("\n## Notes\n\n")
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "- %s\n", report.EscapeMarkdown(n))
	}
	fmt.Fprintf(&b, "- refract %s\n", report.EscapeMarkdown(r.Version))
	_, err := io.WriteString(w, b.String())
	return err
}
