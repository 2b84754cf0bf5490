package conclusions

import (
	"fmt"
	"io"
	"strings"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/text"
)

// WriteMarkdown writes a result as a document: its claim, verdicts, tables, and how the
// numbers were computed.
func (r *Result) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", text.Markdown(r.Name))
	claim := r.Claim()
	fmt.Fprintf(&b, "**%s.**\n\n", text.Markdown(claim.Text))
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
	for _, sentence := range append(append(claim.Evidence, claim.Cautions...), claim.Method) {
		if sentence != "" {
			fmt.Fprintf(&b, "%s\n\n", text.Markdown(sentence))
		}
	}
	b.WriteString("## Verdicts\n\n")
	for _, v := range r.Verdicts {
		fmt.Fprintf(&b, "- %s.\n", text.Markdown(v.Text))
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
		fmt.Fprintf(&b, "- %s\n", text.Markdown(n))
	}
	fmt.Fprintf(&b, "- refract %s\n", text.Markdown(r.Version))
	_, err := io.WriteString(w, b.String())
	return err
}
