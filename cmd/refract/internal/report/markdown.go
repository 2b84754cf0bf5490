package report

import "github.com/refract-eval/refract/internal/text"

// markdownRenderer writes a table of GitHub Flavored Markdown (section 4.10
// of its specification).
type markdownRenderer struct{}

func (markdownRenderer) escape(s string) string { return text.Markdown(s) }
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
