package report

import "strings"

// latexRenderer writes a tabular for the package booktabs, inside a table
// environment if there is a title or a note.
type latexRenderer struct{}

// latexEscaper also prevents ligatures of hyphens, and stops TeX from reading a [ or * as
// an argument of the \\ that ends the row above.
var latexEscaper = strings.NewReplacer(
	`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `$`, `\$`, `&`, `\&`, `#`, `\#`, `%`, `\%`, `_`, `\_`,
	`^`, `\textasciicircum{}`, `~`, `\textasciitilde{}`, `<`, `\textless{}`, `>`, `\textgreater{}`,
	`|`, `\textbar{}`,
	"`", `\textasciigrave{}`, `-`, `-{}`, `[`, `{[}`, `*`, `{*}`,
)

func (latexRenderer) escape(s string) string { return latexEscaper.Replace(Visible(s)) }

// number sets a number in math mode, where a hyphen is a minus sign.
func (latexRenderer) number(s string) string {
	return "$" + strings.ReplaceAll(s, "inf", `\infty`) + "$"
}

func (latexRenderer) missing() string { return "--" }

func (latexRenderer) render(s *sheet) []byte {
	float := s.title != "" || len(s.notes) > 0
	var b strings.Builder
	if float {
		b.WriteString("\\begin{table}\n\\centering\n")
	}
	if s.title != "" {
		b.WriteString("\\caption{" + s.title + "}\n")
	}
	b.WriteString(`\begin{tabular}{`)
	for _, kind := range s.kinds {
		if kind.numeric {
			b.WriteByte('r')
		} else {
			b.WriteByte('l')
		}
	}
	b.WriteString("}\n\\toprule\n")
	writeLaTeXRow(&b, s.headers)
	b.WriteString("\\midrule\n")
	for _, cells := range s.rows {
		writeLaTeXRow(&b, cells)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	for _, note := range s.notes {
		b.WriteString("\\par\\smallskip{\\footnotesize " + note + "\\par}\n")
	}
	if float {
		b.WriteString("\\end{table}\n")
	}
	return []byte(b.String())
}

func writeLaTeXRow(b *strings.Builder, cells []string) {
	b.WriteString(strings.Join(cells, " & "))
	b.WriteString(" \\\\\n")
}
