package report

import "strings"

// markdownRenderer writes a table of GitHub Flavored Markdown (section 4.10
// of its specification).
type markdownRenderer struct{}

// markdownEscaper escapes characters that have a meaning inside a table cell, and those
// that GitHub would turn into a link.
var markdownEscaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", `|`, `\|`, `*`, `\*`, `_`, `\_`, `~`, `\~`, `[`, `\[`, `]`, `\]`,
	`#`, `\#`, `!`, `\!`, `$`, `\$`, `@`, `\@`, `&`, `&amp;`, `<`, `&lt;`, `>`, `&gt;`,
	`://`, `\://`, `www.`, `www\.`,
)

// EscapeMarkdown makes text of any origin harmless in a line of Markdown.
func EscapeMarkdown(s string) string { return markdownEscaper.Replace(Visible(s)) }

func (markdownRenderer) escape(s string) string { return EscapeMarkdown(s) }
func (markdownRenderer) number(s string) string { return s }
func (markdownRenderer) missing() string        { return "–" }

func (markdownRenderer) render(s *sheet) []byte {
	var b []byte
	if s.title != "" {
		b = append(append(append(b, "**"...), s.title...), "**\n\n"...)
	}
	b = appendMarkdownRow(b, s.headers)
	rule := make([]string, len(s.headers))
	for i, kind := range s.kinds {
		rule[i] = "---"
		if kind.numeric {
			rule[i] = "---:"
		}
	}
	b = appendMarkdownRow(b, rule)
	for _, cells := range s.rows {
		b = appendMarkdownRow(b, cells)
	}
	for _, note := range s.notes {
		b = append(append(append(b, '\n'), note...), '\n')
	}
	return b
}

func appendMarkdownRow(dst []byte, cells []string) []byte {
	for _, c := range cells {
		dst = append(append(append(dst, "| "...), c...), ' ')
	}
	return append(dst, "|\n"...)
}
